"""What recording costs, and how long sessions take to open and to export: ``specscope bench --suite
sessions``.

The long session is made up (``sessions.synthetic``). It is opened in processes of its own, so that
the memory told is that of opening.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import psutil

from engine.wire.codec import encode
from engine.wire.config import RunConfig
from engine.wire.events import Event, SpansMeasured
from sessions.export import EXPORTERS
from sessions.metrics.summary import summarise
from sessions.opening import open_session
from sessions.recorder import Recorder
from sessions.replay import StoredSource
from sessions.session_file import SessionFile
from sessions.synthetic import synthetic_events
from specscope.headless import run_sessions
from specscope.opened import collector_at_rest
from specscope.prompts import Prompt
from specscope.readers import RunReaders

N_DRAFT_TOKENS = 1_000_000
N_RANGES = 1_000_000
_N_RECORDED_TOKENS = 60_000  # drafted; their events are made before they are recorded
_BATCH = 5000
_POLL_LIMIT = 1000  # as the command that exports


@dataclass(frozen=True)
class Figure:
    """One measurement; ``limit`` is the most it may be, or the least where ``is_rate``."""

    name: str
    value: float
    unit: str
    limit: float
    about: str
    is_rate: bool = False

    @property
    def is_met(self) -> bool:
        return self.value >= self.limit if self.is_rate else self.value <= self.limit


def run_session_bench(
    config: RunConfig,
    prompts: Sequence[Prompt],
    *,
    n_rounds: int,
    n_draft_tokens: int = N_DRAFT_TOKENS,
    n_ranges: int = N_RANGES,
    progress: Callable[[str], None],
) -> dict[str, Any]:
    """All figures, each with its limit and whether it is met.

    Raises:
        RunFailed: the engine did not decode the prompts.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        progress("decoding, recorded and not")
        ratios = _recording_ratios(config, prompts, n_rounds, folder)
        progress("recording a stream as fast as it comes")
        figures = [
            Figure("recording_cost", 1 - statistics.median(ratios), "share", 0.02,
                   f"of tokens per second, median of {len(ratios)} pairs"),
            _recorder_speed(folder, min(_N_RECORDED_TOKENS, n_draft_tokens)),
        ]  # fmt: skip
        progress(f"making up a session of {n_draft_tokens:,} draft tokens")
        path = folder / "long.specscope"
        n_events = _make(path, n_draft_tokens)
        figures += _openings(path, folder, progress)
        for kind in ("nsys-sqlite", "chrome-trace"):
            progress(f"exporting it as {kind}")
            figures.append(_export(path, folder, kind, n_ranges))
        n_file_bytes = path.stat().st_size
    return {
        "n_draft_tokens": n_draft_tokens,
        "n_events": n_events,
        "n_file_bytes": n_file_bytes,
        "recorded_vs_not": ratios,
        "figures": [{**asdict(figure), "is_met": figure.is_met} for figure in figures],
        "is_met": all(figure.is_met for figure in figures),
    }


def _recording_ratios(
    config: RunConfig, prompts: Sequence[Prompt], n_rounds: int, folder: Path
) -> list[float]:
    """Tokens per second recorded / not recorded, one pair a round; which comes first alternates,
    and a first session warms the models up."""
    is_recorded = [False]
    for index in range(n_rounds):
        is_recorded += [index % 2 == 0, index % 2 == 1]
    readers = [
        RunReaders(
            show=lambda event: None,
            warn=lambda word: None,
            session_path=folder / f"run{index}.specscope" if is_on else None,
        )
        for index, is_on in enumerate(is_recorded)
    ]
    try:
        run_sessions([config] * len(readers), prompts, consumers=[each.consume for each in readers])
    finally:
        problems = [problem for each in readers for problem in each.close()]
    assert not problems, problems
    speeds: dict[bool, list[float]] = {True: [], False: []}
    for is_on, each in list(zip(is_recorded, readers, strict=True))[1:]:
        speeds[is_on].append(summarise(each.snapshot())["tokens_per_second"] or 0.0)
    return [on / off for on, off in zip(speeds[True], speeds[False], strict=True)]


def _recorder_speed(folder: Path, n_draft_tokens: int) -> Figure:
    events = list(synthetic_events(n_draft_tokens))
    start = time.perf_counter()
    recorder = Recorder(folder / "recorded.specscope")
    for first in range(0, len(events), _BATCH):
        recorder.consume(events[first : first + _BATCH])
    recorder.close()
    elapsed_s = time.perf_counter() - start
    assert not recorder.error, recorder.error
    return Figure(
        "recorder_events_per_s", len(events) / elapsed_s, "1/s", 100_000,
        f"{len(events):,} events, until all are saved and the file is closed", is_rate=True,
    )  # fmt: skip


def _make(path: Path, n_draft_tokens: int) -> int:
    n_events = 0
    events = synthetic_events(n_draft_tokens)
    with SessionFile.create(path) as file:
        while batch := list(islice(events, _BATCH)):
            file.append((event, encode(event)) for event in batch)
            n_events += len(batch)
        file.set_end({})
    return n_events


def _openings(path: Path, folder: Path, progress: Callable[[str], None]) -> list[Figure]:
    """Without kept columns (which keeps them), then with them."""
    progress("opening it, nothing kept of it yet")
    first = _open_apart(path, folder)
    progress("opening it again")
    again = [_open_apart(path, folder) for _ in range(3)]
    assert not first["is_from_cache"], "columns were there before the session"

    def best(name: str) -> float:
        return min(float(each[name]) for each in again)

    rows = (
        ("open_summary_s", best("summary_s"), "s", 0.3, "to its name, counts and figures"),
        ("open_complete_s", best("complete_s"), "s", 2.0, _kept(again)),
        ("open_first_s", first["complete_s"], "s", 6.0, "from its events; its columns are kept"),
        ("snapshot_us", best("snapshot_us"), "us", 100.0, "of any moment, mean of 1000"),
        ("open_memory_mb", best("peak_mb"), "MB", 400.0, "peak of the process, from columns"),
        ("open_first_memory_mb", first["peak_mb"], "MB", 400.0, "peak of the process, from events"),
    )
    return [Figure(*row) for row in rows]


def _kept(openings: Sequence[dict[str, Any]]) -> str:
    is_kept = all(each["is_from_cache"] for each in openings)
    return "from columns that were kept" if is_kept else "from its events: too short to be kept"


def _open_apart(path: Path, folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "specscope.session_bench", str(path)],
        env={**os.environ, "SPECSCOPE_DATA_DIR": str(folder / "data")},
        check=True,
        stdout=subprocess.PIPE,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def open_here(path: Path) -> dict[str, Any]:
    """Open the session and tell what it took; ``peak_mb`` is this whole process's."""
    start = time.perf_counter()
    session = open_session(path)
    summary_s = time.perf_counter() - start
    while not session.is_over:
        session.advance(50.0)
    complete_s = time.perf_counter() - start
    last_t_ns = session.model.last_t_ns
    start = time.perf_counter()
    for index in range(1000):
        session.snapshot(last_t_ns * index // 1000)
    snapshot_us = (time.perf_counter() - start) * 1e3
    session.read_all()
    session.close()
    return {
        "summary_s": summary_s,
        "complete_s": complete_s,
        "is_from_cache": session.is_from_cache,
        "snapshot_us": snapshot_us,
        "peak_mb": _peak_mb(),
    }


def _export(path: Path, folder: Path, kind: str, n_ranges: int) -> Figure:
    exporter = EXPORTERS[kind]
    source = StoredSource(SessionFile.open(path), without=exporter.ignores)
    start = time.perf_counter()
    with collector_at_rest():
        exporter.write(_up_to(source, n_ranges), folder / f"long{exporter.extension}")
    elapsed_s = time.perf_counter() - start
    source.close()
    return Figure(
        f"export_{kind.replace('-', '_')}_s", elapsed_s, "s", 10.0,
        f"of its first {n_ranges:,} ranges, reading included",
    )  # fmt: skip


def _up_to(source: StoredSource, n_ranges: int) -> Iterator[Event]:
    """Events until so many ranges were told."""
    n_told = 0
    while n_told < n_ranges and (events := source.poll(_POLL_LIMIT)):
        told = [len(event.names) if isinstance(event, SpansMeasured) else 0 for event in events]
        if n_told + sum(told) > n_ranges:
            last = bisect_left(list(accumulate(told)), n_ranges - n_told)
            events = events[: last + 1]
        n_told += sum(told)
        yield from events


def _peak_mb() -> float:
    """The most memory this process had resident, in 10^6 bytes."""
    if sys.platform == "linux":  # of this program alone, not of the one it was forked from
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    memory = psutil.Process().memory_info()
    return float(getattr(memory, "peak_wset", memory.rss)) / 1e6


if __name__ == "__main__":
    print(json.dumps(open_here(Path(sys.argv[1]))))
