"""Events -> the ranges of a timeline, and where a range can stand without crossing another."""

from collections.abc import Iterable
from itertools import repeat
from operator import add, lt
from typing import NamedTuple

from engine.wire.events import (
    DraftProposed,
    DraftVerified,
    Event,
    PrefillCompleted,
    Role,
    SequenceFinished,
    SpansMeasured,
    StepCommitted,
)

COLORS = {  # red, green, blue; told apart by every kind of eye
    "step": 0x808080,
    "draft": 0xE69F00,
    "draft_forward": 0xF0E442,
    "verify": 0x0072B2,
    "sample": 0xCC79A7,
    "commit": 0x009E73,
    "prefill": 0x56B4E9,
}
NO_STEP = -1
PER_TOKEN = "draft_forward"
"""The ranges that come once a token."""

_NEVER_NS = 2**64  # later than the end of any range


class HostRange(NamedTuple):
    """A stretch of the decoding thread's time, in ns since the session's start."""

    start_ns: int
    end_ns: int
    name: str
    role: Role | None
    step: int  # NO_STEP outside all steps
    span_index: int = -1  # in the step's SpansMeasured
    gpu_ns: int | None = None
    n_flops: int | None = None
    n_bytes: int | None = None
    sequence_id: int | None = None
    is_incomplete: bool = False  # closed at the last known time


class RangeReader:
    """Turns events into ranges, a few at a time, outer ones first.

    ``prefill`` comes from the spans, and from ``PrefillCompleted`` only where no span was measured
    within. A step that was proposed and neither measured nor committed leaves two ranges that are
    incomplete: ``step``, and ``verify`` unless every draft was judged. They begin when the first
    and the last draft were proposed, the first moments known.
    """

    def __init__(self) -> None:
        self._prefills: list[PrefillCompleted] = []
        self._open: dict[int, int] = {}  # sequence -> when its unfinished step was proposed
        self._unjudged: set[int] = set()
        self._step = NO_STEP
        self._step_last_ns = 0  # when the newest step was last heard of
        self._is_measured = False
        self.last_ns = 0
        """The newest time any event has told of."""

    def read(self, event: Event) -> list[HostRange]:
        """The ranges that are known with this event."""
        if event.t_ns > self.last_ns:
            self.last_ns = event.t_ns
        # In the order of how often they come; asked thus, as most of an export's events pass here.
        if type(event) is DraftVerified:
            self._unjudged.discard(event.sequence_id)
            self._step_last_ns = event.t_ns
        elif type(event) is StepCommitted:
            self._open.pop(event.sequence_id, None)
            self._step_last_ns = event.t_ns
        elif type(event) is DraftProposed:
            left = []
            if event.step != self._step:
                left = self._interrupted(self._step_last_ns)
                self._step, self._is_measured = event.step, False
            self._open[event.sequence_id] = self._step_last_ns = event.t_ns
            self._unjudged.add(event.sequence_id)
            return left
        elif type(event) is SpansMeasured:
            self._note(event)
            return self._measured(event)
        elif type(event) is PrefillCompleted:
            self._prefills.append(event)
        elif type(event) is SequenceFinished and event.sequence_id in self._open:
            self._step_last_ns = event.t_ns
        return []

    def read_plain(self, event: SpansMeasured) -> list[int] | None:
        """``read`` for nearly all of a long session: the ends of spans that are their step's ranges
        as they stand, their starts increasing; None where they are not. It may be read again."""
        starts = event.start_ns
        if self._prefills or not all(map(lt, starts, starts[1:])):
            return None
        self._note(event)
        return list(map(add, starts, event.host_ns))

    def close(self) -> list[HostRange]:
        """What is left at the end of the stream."""
        ranges = [_prefill_range(event) for event in self._prefills]
        self._prefills.clear()
        return ranges + self._interrupted(self.last_ns)

    def _interrupted(self, end_ns: int) -> list[HostRange]:
        """The ranges of a step that was neither measured nor committed, if it was."""
        ranges = []
        if self._open and not self._is_measured:
            proposed = self._open.values()
            ranges.append(self._unfinished("step", None, min(proposed), end_ns))
            if self._unjudged:
                ranges.append(self._unfinished("verify", Role.TARGET, max(proposed), end_ns))
        self._open.clear()
        self._unjudged.clear()
        return ranges

    def _unfinished(self, name: str, role: Role | None, start_ns: int, end_ns: int) -> HostRange:
        end_ns = max(end_ns, start_ns)
        return HostRange(start_ns, end_ns, name, role, self._step, is_incomplete=True)

    def _note(self, event: SpansMeasured) -> None:
        self.last_ns = max(self.last_ns, event.t_ns)
        if event.step == self._step:
            self._is_measured = True

    def _measured(self, event: SpansMeasured) -> list[HostRange]:
        starts, step = event.start_ns, event.step
        columns = zip(
            starts,
            map(add, starts, event.host_ns),
            event.names,
            event.roles,
            repeat(step),
            range(len(starts)),
            event.gpu_ns,
            event.n_flops,
            event.n_bytes,
            repeat(None),
            repeat(False),
            strict=False,
        )
        ranges = list(map(tuple.__new__, repeat(HostRange), columns))
        if self._prefills:
            missing = [p for p in self._prefills if not any(_is_part(r, p) for r in ranges)]
            ranges = [self._with_sequence(r) for r in ranges]
            ranges += [_prefill_range(event) for event in missing]
            self._prefills.clear()
        # As measured, they are in order; not so where clocks are coarse or prefills were added.
        if len(ranges) != len(starts) or not all(map(lt, starts, starts[1:])):
            ranges.sort(key=_outer_first)
        return ranges

    def _with_sequence(self, span: HostRange) -> HostRange:
        for prefill in self._prefills:
            if _is_part(span, prefill):
                return span._replace(sequence_id=prefill.sequence_id, step=NO_STEP)
        return span


class Nesting:
    """Ranges that come one by one, sorted by start: says whether each nests with those before."""

    __slots__ = ("_ends_here", "_open_ends", "_start_ns")

    def __init__(self) -> None:
        self._open_ends: list[int] = []
        self._start_ns = -(2**63)
        self._ends_here: set[int] = set()  # of the ranges that begin at the newest start

    def fits(self, start_ns: int, end_ns: int, *, may_be_twin: bool = True) -> bool:
        """Whether the range lies inside or beside all that were taken, and takes it if so.

        Args:
            may_be_twin: whether it may have exactly the start and the end of another.
        """
        if start_ns < self._start_ns:
            return False
        is_new_start = start_ns != self._start_ns
        if not may_be_twin and not is_new_start and end_ns in self._ends_here:
            return False
        ends = self._open_ends
        while ends and ends[-1] <= start_ns:
            ends.pop()
        if ends and ends[-1] < end_ns:
            return False
        ends.append(end_ns)
        if is_new_start:
            self._start_ns = start_ns
            self._ends_here = {end_ns}
        else:
            self._ends_here.add(end_ns)
        return True

    def with_all(self, bounds: Iterable[tuple[int, int]]) -> "Nesting | None":
        """What this becomes when it takes ranges, given as start and end, whose starts increase;
        None where they do not, also compared with those before, or where one does not fit."""
        open_ends = self._open_ends.copy()
        last_ns, ends_here = self._start_ns, self._ends_here
        for start_ns, end_ns in bounds:
            while open_ends and open_ends[-1] <= start_ns:
                open_ends.pop()
            if start_ns <= last_ns or (open_ends and open_ends[-1] < end_ns):
                return None
            open_ends.append(end_ns)
            last_ns, ends_here = start_ns, {end_ns}
        following = Nesting()
        following._open_ends, following._start_ns = open_ends, last_ns
        following._ends_here = ends_here
        return following


def do_nest(starts_ns: Iterable[int], ends_ns: Iterable[int]) -> bool:
    """Whether ranges whose starts increase lie inside or beside each other."""
    around: list[int] = []  # ends of the ranges around the innermost open one
    innermost = _NEVER_NS
    for start_ns, end_ns in zip(starts_ns, ends_ns, strict=True):
        while innermost <= start_ns:
            innermost = around.pop()
        if innermost < end_ns:
            return False
        around.append(innermost)
        innermost = end_ns
    return True


def cut(ranges: list[HostRange], *, per_step: bool) -> Iterable[HostRange]:
    """Without what comes once a token, if so wished."""
    return [r for r in ranges if r.name != PER_TOKEN] if per_step else ranges


def _outer_first(span: HostRange) -> tuple[int, int]:
    return span.start_ns, -span.end_ns


def _is_part(span: HostRange, prefill: PrefillCompleted) -> bool:
    return (
        span.name == "prefill"
        and span.role is prefill.role
        and prefill.start_ns <= span.start_ns
        and span.end_ns <= prefill.start_ns + prefill.host_ns
    )


def _prefill_range(event: PrefillCompleted) -> HostRange:
    return HostRange(
        event.start_ns,
        event.start_ns + event.host_ns,
        "prefill",
        event.role,
        NO_STEP,
        gpu_ns=event.gpu_ns,
        n_flops=event.n_flops,
        n_bytes=event.n_bytes,
        sequence_id=event.sequence_id,
    )
