"""Kernels of a session: their spans, a launch within each, and one clock for both.

What is recorded of a kernel is its own time and the span it was launched in; the call that launched
it is not. Timelines that attribute kernels by their launch need one, so one is placed where it can
only be read in one way: inside the span, inside no other span but those around it, and as late as
possible before the kernel begins. The device's clock is not the host's: where a kernel of a step
would begin before it could have been launched, all kernels of that step are moved later by the
smallest time that puts this right.
"""

from bisect import bisect_right
from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

from engine.wire.events import Event, KernelsRecorded, ModelLoaded, SpansMeasured

N_REMEMBERED_STEPS = 4096
"""Steps whose spans are kept for kernels that come late; others count as outside all spans."""


class Kernel(NamedTuple):
    """One kernel or copy, in ns since the session's start, on the host's clock."""

    start_ns: int
    end_ns: int
    launch_ns: int
    name: str
    stream: int
    step: int
    span_name: str | None  # None: outside all spans


@dataclass
class KernelNotes:
    """What a reader of the file should know about its kernels."""

    n_kernels: int = 0
    n_operators: int = 0  # of a CPU: no kernels
    n_outside: int = 0
    n_crowded: int = 0  # launched in a span that its inner spans cover whole
    largest_shift_ns: int = 0


class KernelReader:
    """Joins ``KernelsRecorded`` with the spans of its step, whichever comes first."""

    KINDS = frozenset((ModelLoaded, SpansMeasured, KernelsRecorded))
    """Other events have nothing to say here."""

    def __init__(self) -> None:
        self._spans: OrderedDict[int, SpansMeasured] = OrderedDict()
        self._waiting: OrderedDict[int, list[KernelsRecorded]] = OrderedDict()
        self._is_on_gpu = False
        self.notes = KernelNotes()

    def read(self, event: Event) -> list[Kernel]:
        """The kernels that are known with this event. A CPU's operators are counted only."""
        match event:
            case ModelLoaded():
                self._is_on_gpu |= not event.device.startswith("cpu")
            case SpansMeasured() if self._is_on_gpu:
                self._spans[event.step] = event
                if len(self._spans) > N_REMEMBERED_STEPS:
                    self._spans.popitem(last=False)
                if self._waiting:
                    return self._place_all(self._waiting.pop(event.step, []), event)
            case KernelsRecorded() if not self._is_on_gpu:
                self.notes.n_operators += len(event.names)
            case KernelsRecorded():
                spans = self._spans.get(event.step)
                if spans is not None:
                    return self._place_all([event], spans)
                self._waiting.setdefault(event.step, []).append(event)
                if len(self._waiting) > N_REMEMBERED_STEPS:
                    return self._place_all(self._waiting.popitem(last=False)[1], None)
        return []

    def close(self) -> list[Kernel]:
        """Kernels whose spans never came."""
        waiting = [event for events in self._waiting.values() for event in events]
        self._waiting.clear()
        return self._place_all(waiting, None)

    def _place_all(
        self, recorded: list[KernelsRecorded], spans: SpansMeasured | None
    ) -> list[Kernel]:
        return [kernel for event in recorded for kernel in self._place(event, spans)]

    def _place(self, recorded: KernelsRecorded, spans: SpansMeasured | None) -> list[Kernel]:
        rooms = _Rooms(spans)
        starts = recorded.start_ns
        launches = [
            rooms.launch_ns(index, start)
            for index, start in zip(recorded.span_indexes, starts, strict=True)
        ]
        shift = max(
            (
                launch - start
                for launch, start in zip(launches, starts, strict=True)
                if launch is not None
            ),
            default=0,
        )
        shift = max(0, shift, -min(starts, default=0))
        notes = self.notes
        notes.n_kernels += len(starts)
        notes.n_crowded += rooms.n_crowded
        notes.largest_shift_ns = max(notes.largest_shift_ns, shift)
        kernels = []
        for row, launch in enumerate(launches):
            start = starts[row] + shift
            kernels.append(
                Kernel(
                    start,
                    start + max(0, recorded.duration_ns[row]),
                    start if launch is None else launch,
                    recorded.names[row],
                    recorded.streams[row],
                    recorded.step,
                    None if launch is None else rooms.name(recorded.span_indexes[row]),
                )
            )
            notes.n_outside += launch is None
        return kernels


class _Rooms:
    """Where in a span there is none of its inner spans, nor a neighbour."""

    def __init__(self, spans: SpansMeasured | None) -> None:
        self._names = spans.names if spans else ()
        self._bounds = (
            [(s, s + host) for s, host in zip(spans.start_ns, spans.host_ns, strict=True)]
            if spans
            else []
        )
        self._free: dict[int, list[tuple[int, int]]] = {}
        self.n_crowded = 0

    def name(self, index: int) -> str:
        return self._names[index]

    def launch_ns(self, index: int, kernel_ns: int) -> int | None:
        """When a kernel that begins at ``kernel_ns`` is said to have been launched by span
        ``index``; None outside all spans."""
        if not 0 <= index < len(self._bounds):
            return None
        if index not in self._free:
            self._free[index] = self._room(index)
        free = self._free[index]
        if not free:
            self.n_crowded += 1
            return self._bounds[index][0]
        place = bisect_right(free, (kernel_ns, kernel_ns)) - 1
        if place + 1 < len(free) and free[place + 1][0] == kernel_ns:
            place += 1
        return min(free[place][1], kernel_ns) if place >= 0 else free[0][0]

    def _room(self, index: int) -> list[tuple[int, int]]:
        """Stretches, both ends included, sorted."""
        start, end = self._bounds[index]
        if end - start > 1:  # off the edges, which a neighbour may share
            start, end = start + 1, end - 1
        taken = sorted(
            bounds
            for other, bounds in enumerate(self._bounds)
            if other != index and not self._is_around(other, index)
        )
        free = []
        for other_start, other_end in taken:
            if other_end < start or other_start > end:
                continue
            if other_start > start:
                free.append((start, other_start - 1))
            start = max(start, other_end + 1)
        if start <= end:
            free.append((start, end))
        return free

    def _is_around(self, outer: int, inner: int) -> bool:
        (start, end), (inner_start, inner_end) = self._bounds[outer], self._bounds[inner]
        if (start, end) == (inner_start, inner_end):
            return outer < inner
        return start <= inner_start and inner_end <= end
