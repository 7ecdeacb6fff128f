"""The grammar every stream must obey (``resources/docs/events.md``), as one function."""

from collections.abc import Callable, Iterable

from engine.wire.events import (
    CalibrationMeasured,
    EndReason,
    EngineStateChanged,
    Event,
    EventsDropped,
    KernelsRecorded,
    Role,
    SessionEnded,
    SessionStarted,
    SpansMeasured,
    StepCommitted,
)
from tests.support.cache_rules import CacheRules
from tests.support.sequence_rules import SequenceRules

DROPPABLE = {"SpansMeasured", "HostSampled", "GpuSampled", "KernelsRecorded"}
INNER_SPANS = {"draft", "draft_forward", "verify", "sample", "commit"}


def check_stream(events: Iterable[Event], *, is_whole: bool = True) -> None:
    """Check a stream from its first event on.

    Args:
        is_whole: whether it must end with ``SessionEnded``.

    Raises:
        AssertionError: a rule is broken; the message is a sentence that begins with the ordinal.
    """
    sequences = SequenceRules()
    rules: tuple[Callable[[Event], None], ...] = (
        SessionRules(is_whole=is_whole).check,
        sequences.check,
        CacheRules(sequences).check,
        SpanRules(sequences).check,
    )
    last: Event | None = None
    for event in events:
        for check in rules:
            try:
                check(event)
            except AssertionError as broken:
                kind = type(event).__name__
                raise AssertionError(f"{event.ordinal} {kind}: {broken}") from None
        last = event
    assert last is not None, "the stream is empty"
    if is_whole:
        assert isinstance(last, SessionEnded), f"{last.ordinal} is the last event: no SessionEnded"
        if last.reason in (EndReason.FINISHED, EndReason.STOPPED):
            running = sequences.running_ids()
            assert not running, f"{last.ordinal} SessionEnded: sequences {running} never finished"


class SessionRules:
    """Order, clock, beginning and end, and what is true of an event by itself."""

    def __init__(self, *, is_whole: bool) -> None:
        self._is_whole = is_whole
        self._ordinal = -1
        self._t_ns = 0
        self._n_missing = 0
        self._n_dropped = 0
        self._has_ended = False

    def check(self, event: Event) -> None:
        assert not self._has_ended, "comes after SessionEnded"
        self._check_order(event)
        is_first = event.ordinal == 0
        assert is_first == isinstance(event, SessionStarted), (
            "is not SessionStarted" if is_first else "the session starts twice"
        )
        match event:
            case SessionEnded():
                self._has_ended = True
                # What was dropped last cannot be told by an engine that crashed.
                if self._is_whole and event.reason is not EndReason.CRASHED:
                    assert self._n_missing == self._n_dropped, (
                        f"{self._n_missing} ordinals are missing, {self._n_dropped} were reported"
                    )
            case EventsDropped():
                assert event.n_events > 0, "reports that nothing was dropped"
                assert event.kinds, "does not say of which kinds"
                assert set(event.kinds) <= DROPPABLE, f"may not be dropped: {event.kinds}"
                self._n_dropped += event.n_events
            case EngineStateChanged():
                assert event.progress is None or 0 <= event.progress <= 1, "progress not in 0..1"
            case CalibrationMeasured():
                lengths = {len(event.target_widths), len(event.target_forward_ns)}
                assert len(lengths) == 1, "widths and times differ in number"

    def _check_order(self, event: Event) -> None:
        assert event.ordinal > self._ordinal, f"the ordinal before was {self._ordinal}"
        self._n_missing += event.ordinal - self._ordinal - 1
        if self._ordinal == -1:
            assert event.ordinal == 0, "the first ordinal is not 0"
        assert event.t_ns >= self._t_ns, f"time runs back from {self._t_ns} to {event.t_ns}"
        self._ordinal, self._t_ns = event.ordinal, event.t_ns


class SpanRules:
    """Spans lie within their step, on the clock of ``t_ns``; kernels have all their fields."""

    def __init__(self, sequences: SequenceRules) -> None:
        self._sequences = sequences
        self._measured: dict[int, int] = {}  # spans by step
        self._recorded: set[int] = set()
        self._unmarked: set[int] = set()  # steps that said they were not profiled

    def check(self, event: Event) -> None:
        match event:
            case SpansMeasured():
                self._check_spans(event)
            case KernelsRecorded():
                columns = (event.names, event.streams, event.start_ns, event.duration_ns)
                lengths = {len(column) for column in (*columns, event.span_indexes)}
                assert len(lengths) == 1, "columns differ in length"
                assert all(value >= 0 for value in event.duration_ns), "a negative duration"
                self._check_kernels(event)
            case StepCommitted(is_profiled=False):
                self._unmarked.add(event.step)

    def _check_kernels(self, event: KernelsRecorded) -> None:
        assert event.recording_ns >= 0, "recording took less than no time"
        assert event.step not in self._recorded, f"step {event.step} is recorded twice"
        self._recorded.add(event.step)
        assert event.step not in self._unmarked, f"step {event.step} is not marked as profiled"
        n_spans = self._measured.get(event.step)
        if n_spans is not None:  # else they were dropped
            assert all(-1 <= index < n_spans for index in event.span_indexes), "no such span"

    def _check_spans(self, event: SpansMeasured) -> None:
        columns = (event.names, event.roles, event.start_ns, event.host_ns, event.gpu_ns)
        lengths = {len(column) for column in (*columns, event.n_flops, event.n_bytes)}
        assert len(lengths) == 1, "columns differ in length"
        readings = (*event.start_ns, *event.host_ns, *event.gpu_ns, *event.n_flops, *event.n_bytes)
        assert all(value is None or value >= 0 for value in readings), "a negative reading"
        assert list(event.start_ns) == sorted(event.start_ns), "spans are not in the order opened"
        ends = [start + host for start, host in zip(event.start_ns, event.host_ns, strict=True)]
        assert max(ends, default=0) <= event.t_ns, "a span ends after it was measured"
        assert event.step not in self._measured, f"step {event.step} is measured twice"
        self._measured[event.step] = len(event.names)
        inner = [i for i, name in enumerate(event.names) if name in INNER_SPANS]
        assert set(event.names) <= INNER_SPANS | {"step", "prefill"}, f"unknown: {event.names}"
        steps = [i for i, name in enumerate(event.names) if name == "step"]
        if not steps:
            assert not inner, "spans of a step without the step's own"
            return
        assert event.step in self._sequences.steps, f"step {event.step} has no DraftProposed"
        assert len(steps) == 1, "more than one step span"
        self._check_inside(event, ends, inner, steps)
        drafts = [i for i, name in enumerate(event.names) if name == "draft"]
        forwards = [i for i, name in enumerate(event.names) if name == "draft_forward"]
        self._check_inside(event, ends, forwards, drafts)
        for i in forwards:
            assert event.roles[i] is Role.DRAFT, "a draft_forward is not of the draft's role"

    def _check_inside(
        self, event: SpansMeasured, ends: list[int], inner: list[int], outer: list[int]
    ) -> None:
        for i in inner:
            assert any(
                event.start_ns[o] <= event.start_ns[i] and ends[i] <= ends[o] for o in outer
            ), f"span {i} ({event.names[i]}) lies outside the span it belongs to"
