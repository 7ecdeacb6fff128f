"""Exports written and read back in one call, and what they are compared with."""

from pathlib import Path

from engine.wire.events import Event, SpansMeasured
from sessions.export.chrome_trace import write_chrome_trace
from sessions.export.nsys_sqlite import write_nsys_sqlite
from sessions.export.options import ExportOptions
from tests.support.nsys_rules import NsysTables, check_nsys
from tests.support.trace_reader import Trace, read_trace

Bounds = tuple[str, int, int]
"""Name, start and end in ns."""


def written_nsys(events: list[Event], folder: Path, **options: object) -> NsysTables:
    """The tables of an Nsight Systems file, after a check of its structure."""
    path = folder / "out.sqlite"
    write_nsys_sqlite(events, path, options=ExportOptions(**options))
    return check_nsys(path)


def written_trace(events: list[Event], folder: Path, **options: object) -> Trace:
    """A Chrome trace, read strictly."""
    path = folder / "out.json"
    write_chrome_trace(events, path, options=ExportOptions(**options))
    return read_trace(path)


def measured(events: list[Event]) -> list[Bounds]:
    """Every span that was measured, sorted."""
    return sorted(
        (name, start, start + host)
        for event in events
        if isinstance(event, SpansMeasured)
        for name, start, host in zip(event.names, event.start_ns, event.host_ns, strict=True)
    )


def nsys_ranges(tables: NsysTables) -> list[Bounds]:
    return sorted((row["text"], row["start"], row["end"]) for row in tables.ranges())


def trace_ranges(trace: Trace) -> list[Bounds]:
    return sorted((told.name, told.start_ns, told.end_ns) for told in trace.ranges)


def without_prefill(bounds: list[Bounds]) -> list[Bounds]:
    return [bound for bound in bounds if bound[0] != "prefill"]
