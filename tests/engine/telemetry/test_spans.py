import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import (
    COMMIT,
    DRAFT,
    DRAFT_FORWARD,
    SPAN_NAMES,
    STEP,
    VERIFY,
    SpanRecorder,
)
from engine.wire.events import Event, Role, SpansMeasured
from tests.support.nvtx_injection import Injection, NvtxRange

ROOT = Path(__file__).resolve().parents[3]

PROGRAM = """
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import *
from engine.wire.events import Role

recorder = SpanRecorder(Emitter(lambda event: None))
for number in range(2):
    with recorder.span(STEP):
        with recorder.span(DRAFT, Role.DRAFT):
            for _ in range(2):
                with recorder.span(DRAFT_FORWARD, Role.DRAFT):
                    pass
        with recorder.span(VERIFY, Role.TARGET):
            pass
    recorder.flush(number)
try:
    with recorder.span(STEP), recorder.span(DRAFT, Role.DRAFT):
        raise ValueError
except ValueError:
    pass
try:
    with recorder.span(STEP), recorder.span(VERIFY, Role.TARGET):
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
def work():
    with recorder.span(COMMIT):
        return 1
work()
"""


class FakeTimer:
    """Marks count 1, 2, 3, ...; a microsecond apart."""

    def __init__(self) -> None:
        self.n_marks = 0
        self.n_reads = 0

    def mark(self) -> int:
        self.n_marks += 1
        return self.n_marks

    def hold(self, hold_ns: int) -> None:
        raise AssertionError("spans hold nothing")

    def read_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        self.n_reads += 1
        return [1000 * (end - start) for start, end in marks]

    def starts_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        return [1_000_000 + 1000 * start for start, _ in marks]


class BrokenTimer(FakeTimer):
    def mark(self) -> int:
        raise RuntimeError("the device is gone")


def make_recorder(**settings: Any) -> tuple[SpanRecorder, list[Event]]:
    said: list[Event] = []
    return SpanRecorder(Emitter(said.append), **settings), said


def test_measures_nested_spans_in_the_order_opened() -> None:
    recorder, said = make_recorder()
    with recorder.span(STEP):
        with recorder.span(DRAFT, Role.DRAFT) as span:
            span.count(1000, None)
            with recorder.span(DRAFT_FORWARD, Role.DRAFT):
                pass
        with recorder.span(VERIFY, Role.TARGET) as span:
            span.count(2000, 3000)
    recorder.flush(17)
    [event] = said
    assert isinstance(event, SpansMeasured)
    assert event.step == 17
    assert event.names == (STEP, DRAFT, DRAFT_FORWARD, VERIFY)
    assert event.roles == (None, Role.DRAFT, Role.DRAFT, Role.TARGET)
    assert event.n_flops == (None, 1000, None, 2000)
    assert event.n_bytes == (None, None, None, 3000)
    assert event.gpu_ns == (None,) * 4
    assert list(event.start_ns) == sorted(event.start_ns)
    ends = [start + host for start, host in zip(event.start_ns, event.host_ns, strict=True)]
    assert max(ends) == ends[0] <= event.t_ns
    assert ends[2] <= ends[1] <= event.start_ns[3]
    recorder.flush(18)
    assert len(said) == 1, "said again"


def test_the_gpu_is_read_once_a_flush() -> None:
    timer = FakeTimer()
    recorder, said = make_recorder(gpu_timer=timer)
    with recorder.span(STEP), recorder.span(VERIFY, Role.TARGET):
        pass
    assert (timer.n_marks, timer.n_reads) == (4, 0)
    recorder.flush(0)
    assert timer.n_reads == 1
    [event] = said
    assert isinstance(event, SpansMeasured)
    assert event.gpu_ns == (3000, 1000)


def test_a_timer_that_fails_at_the_start_leaves_nothing_open() -> None:
    recorder, said = make_recorder(gpu_timer=BrokenTimer())
    with pytest.raises(RuntimeError, match="device is gone"), recorder.span(STEP):
        pass
    assert recorder.opened == recorder.spans == []
    recorder.flush(0)
    assert said == []


def test_a_timer_that_fails_at_the_end_leaves_a_host_time() -> None:
    timer = FakeTimer()
    recorder, said = make_recorder(gpu_timer=timer)
    with pytest.raises(RuntimeError, match="device is gone"), recorder.span(STEP):
        recorder.gpu_timer = BrokenTimer()
    recorder.gpu_timer = timer
    with recorder.span(COMMIT):
        pass
    recorder.flush(0)
    [event] = said
    assert isinstance(event, SpansMeasured)
    assert event.gpu_ns == (None, 1000)


def test_an_open_span_stays_for_the_next_flush() -> None:
    recorder, said = make_recorder()
    with recorder.span(STEP):
        with recorder.span(DRAFT):
            pass
        recorder.flush(0)
    recorder.flush(1)
    names = [event.names for event in said if isinstance(event, SpansMeasured)]
    assert names == [(DRAFT,), (STEP,)]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_a_span_that_is_left_by_an_error_is_closed_and_measured(
    error: type[BaseException],
) -> None:
    recorder, said = make_recorder()
    with pytest.raises(error), recorder.span(STEP), recorder.span(DRAFT):
        raise error
    assert recorder.opened == []
    recorder.flush(0)
    [event] = said
    assert isinstance(event, SpansMeasured)
    assert event.names == (STEP, DRAFT)


def test_an_inner_span_that_never_got_to_its_end_is_closed_with_the_outer() -> None:
    recorder, said = make_recorder()
    with recorder.span(STEP):
        recorder.span(DRAFT).__enter__()  # interrupted on its way out
    assert recorder.opened == []
    recorder.flush(0)
    [event] = said
    assert isinstance(event, SpansMeasured)
    assert event.names == (STEP, DRAFT)


def test_an_unknown_name_is_refused() -> None:
    recorder, _ = make_recorder()
    with pytest.raises(KeyError):
        recorder.span("speculate")


def test_a_span_costs_little_without_a_profiler() -> None:
    recorder, _ = make_recorder()
    best_ns = None
    for _ in range(20):
        start_ns = time.perf_counter_ns()
        for _ in range(1000):
            with recorder.span(VERIFY, Role.TARGET):
                pass
        elapsed_ns = (time.perf_counter_ns() - start_ns) / 1000
        best_ns = elapsed_ns if best_ns is None else min(best_ns, elapsed_ns)
        recorder.spans.clear()
    assert best_ns is not None
    assert best_ns < 10_000  # 2 microseconds on a desk; five times that on a busy machine


def test_ranges_reach_a_profiler_whatever_leaves_them(nvtx_injection: Injection) -> None:
    environment = {**nvtx_injection.environment(), "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True, timeout=60)
    assert {call.domain for call in nvtx_injection.read_log()} == {"specscope"}
    step = [
        (STEP,),
        (STEP, DRAFT),
        (STEP, DRAFT, DRAFT_FORWARD),
        (STEP, DRAFT, DRAFT_FORWARD),
        (STEP, VERIFY),
    ]
    broken_off = [(STEP,), (STEP, DRAFT), (STEP,), (STEP, VERIFY)]
    expected = [NvtxRange("specscope", path) for path in [*step, *step, *broken_off, (COMMIT,)]]
    assert nvtx_injection.ranges() == expected


def test_names_are_fit_for_profiler_filters() -> None:
    for name in SPAN_NAMES:
        assert name.isidentifier()


def test_recording_leaves_the_environment_alone() -> None:
    before = dict(os.environ)
    make_recorder()
    assert dict(os.environ) == before


def test_the_range_to_capture_is_no_span() -> None:
    said: list[Event] = []
    spans = SpanRecorder(Emitter(said.append))
    with spans.capture(), spans.span(STEP):
        assert [span.name for span in spans.opened] == [STEP]
    with pytest.raises(ZeroDivisionError), spans.capture():
        raise ZeroDivisionError
    spans.flush(0)
    (event,) = said
    assert isinstance(event, SpansMeasured)
    assert event.names == (STEP,)


def test_a_step_that_was_held_up_is_no_measure_the_next_one_is() -> None:
    recorder, _ = make_recorder()
    for is_held_up in (False, True, False):
        with recorder.span(STEP):
            if is_held_up:
                recorder.hold_up()
            assert recorder.is_slowed == is_held_up
        assert recorder.is_slowed == is_held_up  # also when the step is committed
        recorder.flush(0)
