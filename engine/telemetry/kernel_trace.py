"""From what a profiler recorded of a step to the columns of ``KernelsRecorded``: pure."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from engine.wire.events import KernelsRecorded

ANCHOR = "specscope anchor"
"""The name of ranges whose time is known on both clocks."""

_DEVICE_KINDS = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
_LAUNCH_KINDS = frozenset({"cuda_runtime", "cuda_driver"})
_OPERATOR = "cpu_op"
_ANNOTATION = "user_annotation"

_SYNCS = frozenset({"Context Sync", "Event Sync", "Stream Sync", "Stream Wait Event"})
"""What Kineto calls a wait that it places on a stream."""

_OVERHEADS = frozenset(
    {
        "Activity Buffer Request",
        "Buffer Flush",
        "Command Buffer Full",
        "Driver Compiler",
        "Instrumentation",
        "Lazy Function Loading",
        "Resource",
        "Runtime Triggered Module Loading",
        "UVM Activity Init",
        "Unknown",
    }
)
"""What Kineto calls the profiler's and the driver's own work on the host."""

_RUNTIME_CALL = re.compile(r"cuda[A-Z]")
_DRIVER_CALL = re.compile(r"cu[A-Z]")


class TraceEvent(NamedTuple):
    """One event of the profiler, times in ns on the profiler's clock."""

    name: str
    kind: str  # "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "cpu_op", ...
    stream: int  # of what ran on a device
    thread: int  # of what ran on the host
    start_ns: int
    duration_ns: int
    correlation: int  # the same number for a launch and all that it launched
    operator: int  # correlation of the operator that launched it; 0: not known


class Bracket(NamedTuple):
    """An ``ANCHOR`` was opened after ``before_ns`` and closed before ``after_ns``, on the session's
    clock."""

    before_ns: int
    after_ns: int


class SpanBounds(NamedTuple):
    """Of one span, on the session's clock."""

    start_ns: int
    end_ns: int


class Alignment(NamedTuple):
    """Session time = profiler time + ``offset_ns``, give or take ``error_ns``."""

    offset_ns: int
    error_ns: int


class NotAligned(ValueError):
    """No anchor was recorded: times of the trace mean nothing here."""


def kind_of(device: str, is_annotation: bool, name: str) -> str:
    """An event's kind, for a torch whose events do not tell it: by what all of them do tell.

    Copies, fills, waits and overhead have names of Kineto's own making, calls those of CUDA's
    interface. What else a device did is a kernel, what else the host did an operator.

    Args:
        device: the name of its ``DeviceType``: "CPU" for what the host did.
        is_annotation: it is a ``record_function`` range, or the device's share of one.
    """
    if device == "CPU":
        if is_annotation:
            return _ANNOTATION
        if name in _OVERHEADS:
            return "overhead"
        if _RUNTIME_CALL.match(name):
            return "cuda_runtime"
        return "cuda_driver" if _DRIVER_CALL.match(name) else _OPERATOR
    if is_annotation:
        return "gpu_user_annotation"
    if name.startswith("Memcpy "):
        return "gpu_memcpy"
    if name.startswith("Memset ("):
        return "gpu_memset"
    return "cuda_sync" if name in _SYNCS else "kernel"


def align(events: Iterable[TraceEvent], brackets: Sequence[Bracket]) -> Alignment:
    """Each anchor lies in its bracket, which leaves an interval for the offset; all of them leave
    the narrowest. Should the clocks drift so far apart that they leave none, half of what is
    between is the error.

    Raises:
        NotAligned: the trace has no anchor.
    """
    anchors = sorted(
        (event.start_ns, event.duration_ns)
        for event in events
        if event.name == ANCHOR and event.kind == _ANNOTATION
    )
    if not anchors or len(anchors) != len(brackets):
        raise NotAligned(f"{len(anchors)} of {len(brackets)} anchors were recorded")
    low = max(
        bracket.before_ns - start
        for bracket, (start, _) in zip(sorted(brackets), anchors, strict=True)
    )
    high = min(
        bracket.after_ns - start - duration
        for bracket, (start, duration) in zip(sorted(brackets), anchors, strict=True)
    )
    return Alignment((low + high) // 2, abs(high - low + 1) // 2)


def kernels_of(
    step: int,
    events: Sequence[TraceEvent],
    spans: Sequence[SpanBounds],
    *,
    brackets: Sequence[Bracket],
    is_cuda: bool,
    recording_ns: int = 0,
) -> KernelsRecorded:
    """The kernels, copies and fills of a device; on a CPU the host's operators, the outermost
    ones: what an operator calls in turn is part of it. On CUDA an operator is never told: who
    reads the columns would take it for a kernel, and its length for time of the device.

    A kernel belongs to the innermost span in which it was launched: by the runtime call of the
    same correlation (one for all nodes of a graph), else by its operator. An operator belongs to
    the span in which it began. -1: to none, or its launch was not recorded.

    Raises:
        NotAligned: the trace has no anchor.
    """
    alignment = align(events, brackets)
    if is_cuda:
        chosen = [event for event in events if event.kind in _DEVICE_KINDS]
        launches = _launches(events)
        begun = [launches.get((True, event.correlation)) for event in chosen]
        begun = [
            launches.get((False, event.operator)) if launch is None else launch
            for launch, event in zip(begun, chosen, strict=True)
        ]
        streams = [event.stream for event in chosen]
    else:
        chosen = outermost([event for event in events if event.kind == _OPERATOR])
        begun = [event.start_ns for event in chosen]
        threads = {thread: index for index, thread in enumerate(_threads(chosen))}
        streams = [threads[event.thread] for event in chosen]
    order = sorted(range(len(chosen)), key=lambda row: (chosen[row].start_ns, streams[row]))
    offset_ns = alignment.offset_ns
    return KernelsRecorded(
        step=step,
        names=tuple(chosen[row].name for row in order),
        streams=tuple(streams[row] for row in order),
        start_ns=tuple(chosen[row].start_ns + offset_ns for row in order),
        duration_ns=tuple(max(0, chosen[row].duration_ns) for row in order),
        span_indexes=tuple(
            innermost(spans, None if (launch := begun[row]) is None else launch + offset_ns)
            for row in order
        ),
        recording_ns=recording_ns,
        clock_error_ns=alignment.error_ns,
    )


def innermost(spans: Sequence[SpanBounds], moment_ns: int | None) -> int:
    """The index of the last-opened span that holds ``moment_ns``, spans being in the order opened
    and nested; -1 for none."""
    if moment_ns is None:
        return -1
    last = bisect_right(spans, moment_ns, key=lambda span: span.start_ns) - 1
    for index in range(last, -1, -1):
        if moment_ns <= spans[index].end_ns:
            return index
    return -1


def outermost(operators: Sequence[TraceEvent]) -> list[TraceEvent]:
    """Those that no other of their thread contains."""
    found: list[TraceEvent] = []
    ends: dict[int, int] = {}  # of the newest one kept, by thread
    for event in sorted(operators, key=lambda event: (event.start_ns, -event.duration_ns)):
        if event.start_ns >= ends.get(event.thread, event.start_ns):
            found.append(event)
            ends[event.thread] = event.start_ns + event.duration_ns
    return found


def _launches(events: Iterable[TraceEvent]) -> dict[tuple[bool, int], int]:
    """When a call or an operator of the host began, by whether it is a call and its correlation:
    the two are numbered apart, both from 1. 0 is no number: what has it launched nothing."""
    return {
        (event.kind in _LAUNCH_KINDS, event.correlation): event.start_ns
        for event in events
        if event.correlation and (event.kind in _LAUNCH_KINDS or event.kind == _OPERATOR)
    }


def _threads(events: Iterable[TraceEvent]) -> list[int]:
    """Thread numbers, the busiest first: the one that decodes is 0."""
    counts: dict[int, int] = {}
    for event in events:
        counts[event.thread] = counts.get(event.thread, 0) + 1
    return sorted(counts, key=lambda thread: (-counts[thread], thread))
