"""Sessions in the formats of other programs: the table of all exporters."""

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    Event,
    EventBase,
    HostSampled,
    KvAdvanced,
)
from sessions.export.chrome_trace import write_chrome_trace
from sessions.export.jsonl import write_jsonl
from sessions.export.nsys_sqlite import write_nsys_sqlite
from sessions.export.nvtxt import write_nvtxt
from sessions.export.options import WHOLE, ExportOptions
from sessions.export.progress import OnProgress, ShouldStop
from sessions.export.token_csv import write_token_csv
from sessions.export.token_parquet import write_token_parquet


class WriteExport(Protocol):
    """Write a session to ``path``. Raises ExportError, or ExportCancelled when ``should_stop`` said
    so; in both cases nothing is at ``path`` that was not there before."""

    def __call__(
        self,
        events: Iterable[Event],
        path: Path,
        *,
        options: ExportOptions = WHOLE,
        on_progress: OnProgress | None = None,
        should_stop: ShouldStop | None = None,
    ) -> None: ...


@dataclass(frozen=True)
class Exporter:
    """One format, as a list of formats shows it.

    Args:
        extension: what its file names end in, with the dot.
        needs: a package that has to be installed; "" for none.
        is_timeline: whether ``per_step`` means anything to it.
        ignores: kinds of events it says nothing of: a source need not read them.
    """

    write: WriteExport
    extension: str
    description: str
    needs: str = ""
    is_timeline: bool = False
    ignores: frozenset[type[EventBase]] = frozenset()

    @property
    def is_available(self) -> bool:
        """Whether what it needs is installed."""
        return not self.needs or importlib.util.find_spec(self.needs) is not None


EXPORTERS: dict[str, Exporter] = {
    "nsys-sqlite": Exporter(
        write_nsys_sqlite,
        ".sqlite",
        "Nsight Systems SQLite export: NVTX ranges, kernels and GPU readings.",
        is_timeline=True,
        ignores=frozenset((KvAdvanced, BlocksAllocated, BlocksFreed, HostSampled)),
    ),
    "nvtxt": Exporter(
        write_nvtxt,
        ".nvtxt",
        "NVTX as text, for Nsight Systems' importer (not yet tried in Nsight itself).",
        is_timeline=True,
    ),
    "chrome-trace": Exporter(
        write_chrome_trace,
        ".json",
        "Chrome trace for Perfetto: lanes, arrows, counters, tokens. A name in .gz packs it.",
        is_timeline=True,
        ignores=frozenset((KvAdvanced,)),
    ),
    "csv": Exporter(write_token_csv, ".csv", "One row per draft token, with all its numbers."),
    "parquet": Exporter(
        write_token_parquet, ".parquet", "The same rows as Parquet.", needs="pyarrow"
    ),
    "jsonl": Exporter(
        write_jsonl, ".jsonl", "Every event, one JSON object a line; can be read back."
    ),
}
