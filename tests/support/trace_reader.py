"""Reads a Chrome trace the strict way: what a lenient viewer would forgive is an error here."""

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

NEEDED = {
    "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
    "i": {"name", "cat", "pid", "tid", "ts", "s", "args"},
    "C": {"name", "pid", "ts", "args"},
    "s": {"name", "cat", "pid", "tid", "ts", "id"},
    "f": {"name", "cat", "pid", "tid", "ts", "id", "bp"},
    "M": {"name", "pid", "tid", "args"},
}
LARGEST_EXACT = 2**53


@dataclass(frozen=True)
class TraceRange:
    """One ``X`` event, times in integer ns."""

    name: str
    lane: str
    start_ns: int
    end_ns: int
    args: dict[str, Any]


@dataclass
class Trace:
    """What a file holds, by kind."""

    process_id: int = 0
    lanes: dict[int, str] = field(default_factory=dict)
    ranges: list[TraceRange] = field(default_factory=list)
    instants: list[dict[str, Any]] = field(default_factory=list)
    counters: list[dict[str, Any]] = field(default_factory=list)
    flows: list[tuple[TraceRange, TraceRange]] = field(default_factory=list)
    about: dict[str, Any] = field(default_factory=dict)

    def named(self, name: str) -> list[TraceRange]:
        return [told for told in self.ranges if told.name == name]

    def on(self, lane: str) -> list[TraceRange]:
        return [told for told in self.ranges if told.lane == lane]


def nanoseconds(value: Any) -> int:
    """A JSON number of microseconds as the ns it means; anything but whole ns is an error."""
    assert isinstance(value, int | Decimal), f"{value!r} is no number"
    ns = Decimal(value) * 1000
    assert ns == int(ns), f"{value} is not a whole number of ns"
    assert round(float(value) * 1000) == int(ns), f"{value} is another ns as a double"
    return int(ns)


def read_trace(path: Path) -> Trace:
    """Parse and check a file.

    Raises:
        AssertionError: it breaks a rule of the format, or what this project adds to them.
    """
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    document = json.loads(
        data.decode("utf-8"),
        parse_float=Decimal,
        parse_constant=_refuse,
        object_pairs_hook=_unique,
    )
    assert set(document) == {"traceEvents", "displayTimeUnit", "otherData"}
    assert document["displayTimeUnit"] in ("ms", "ns")
    trace = Trace(about=document["otherData"])
    _small_numbers(document)
    events = document["traceEvents"]
    for event in events:
        missing = NEEDED[event["ph"]] - set(event)
        assert not missing, f"{event} lacks {missing}"
    (trace.process_id,) = {event["pid"] for event in events}
    names = [event for event in events if event["ph"] == "M"]
    trace.lanes = {e["tid"]: e["args"]["name"] for e in names if e["name"] == "thread_name"}
    assert len(set(trace.lanes.values())) == len(trace.lanes), "two lanes of one name"
    assert [e for e in names if e["name"] == "process_name"], "a process without a name"
    _read_events(trace, events)
    _check_nesting(trace)
    return trace


def _read_events(trace: Trace, events: list[dict[str, Any]]) -> None:
    sources: dict[int, dict[str, Any]] = {}
    for event in events:
        match event["ph"]:
            case "X":
                start, length = nanoseconds(event["ts"]), nanoseconds(event["dur"])
                assert length >= 0, f"{event} runs backwards"
                lane = trace.lanes[event["tid"]]
                told = TraceRange(event["name"], lane, start, start + length, event["args"])
                trace.ranges.append(told)
            case "i":
                assert event["s"] == "t"
                assert event["tid"] in trace.lanes
                trace.instants.append({**event, "t_ns": nanoseconds(event["ts"])})
            case "C":
                assert event["args"], "a counter without a value"
                assert all(isinstance(v, int | Decimal) for v in event["args"].values())
                trace.counters.append({**event, "t_ns": nanoseconds(event["ts"])})
            case "s":
                assert event["id"] not in sources, "an arrow starts twice"
                sources[event["id"]] = event
            case "f":
                source = sources.pop(event["id"])
                trace.flows.append((_holder(trace, source), _holder(trace, event)))
    assert not sources, "an arrow leads nowhere"


def _holder(trace: Trace, end: dict[str, Any]) -> TraceRange:
    """The range an end of an arrow binds to: the outermost that begins there."""
    at, lane = nanoseconds(end["ts"]), trace.lanes[end["tid"]]
    begun = [told for told in trace.ranges if told.lane == lane and told.start_ns == at]
    assert begun, f"an arrow hangs in the air at {at}"
    return max(begun, key=lambda told: told.end_ns)


def _check_nesting(trace: Trace) -> None:
    by_lane: dict[str, list[TraceRange]] = defaultdict(list)
    for told in trace.ranges:
        by_lane[told.lane].append(told)
    for lane, ranges in by_lane.items():
        assert not _crossing([(r.start_ns, r.end_ns) for r in ranges]), f"{lane}: ranges cross"


def _crossing(bounds: list[tuple[int, int]]) -> bool:
    open_ends: list[int] = []
    for start, end in sorted(bounds, key=lambda bound: (bound[0], -bound[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and open_ends[-1] < end:
            return True
        open_ends.append(end)
    return False


def _small_numbers(value: Any) -> None:
    if isinstance(value, dict):
        for item in value.values():
            _small_numbers(item)
    elif isinstance(value, list):
        for item in value:
            _small_numbers(item)
    elif isinstance(value, int):
        assert abs(value) <= LARGEST_EXACT, f"{value} does not survive as a double"


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs), f"a key comes twice: {pairs}"
    return dict(pairs)
