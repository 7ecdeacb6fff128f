import pytest
import torch

from engine.telemetry.emitter import Emitter
from engine.telemetry.kernel_recorder import N_ANCHORS, KernelRecorder, TorchTrace
from engine.telemetry.kernel_trace import ANCHOR, SpanBounds, TraceEvent
from engine.telemetry.spans import STEP, VERIFY, SpanRecorder
from engine.wire.config import MAX_RECORDED_STEPS, ConfigError
from engine.wire.events import Event, KernelsRecorded, LogEmitted, Role, SpansMeasured


class Scripted:
    """Traces that hold their anchors and one kernel each; ``fault`` raises where it names."""

    def __init__(self, *, fault: str = "") -> None:
        self.said: list[Event] = []
        self.clock_ns = 0
        self.fault = fault
        self.n_started = 0
        self.asked_for_cuda: list[bool] = []
        self.emitter = Emitter(self.said.append, clock=self._tick)
        self._events: list[TraceEvent] = []

    def _tick(self) -> int:
        self.clock_ns += 10
        return self.clock_ns

    def make(self, is_cuda: bool) -> "Scripted":
        self.asked_for_cuda.append(is_cuda)
        return self

    def start(self) -> None:
        if self.fault == "start":
            raise RuntimeError("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")
        self.n_started += 1
        self._events = [TraceEvent("k", "kernel", 0, 0, 0, 1, 7, 0)]

    def anchor(self) -> None:
        if self.fault != "anchors":
            self._events.append(
                TraceEvent(ANCHOR, "user_annotation", 0, 1, self.clock_ns + 1, 1, 0, 0)
            )

    def stop(self) -> list[TraceEvent]:
        if self.fault == "stop" and self.n_started > 1:
            raise RuntimeError("lost")
        return self._events

    def recorder(self, *, is_cuda: bool = True, **options: object) -> KernelRecorder:
        return KernelRecorder(
            self.emitter,
            is_cuda=is_cuda,
            make_trace=self.make,  # type: ignore[arg-type]
            **{"environment": {}, **options},  # type: ignore[arg-type]
        )

    def recorded_steps(self) -> list[int]:
        return [event.step for event in self.said if isinstance(event, KernelsRecorded)]

    def messages(self) -> list[str]:
        return [event.message for event in self.said if isinstance(event, LogEmitted)]


def run_steps(recorder: KernelRecorder, first: int, last: int) -> list[int]:
    """Steps ``first`` to ``last``; those during which a trace was open."""
    profiled = []
    for step in range(first, last + 1):
        recorder.begin_step()
        if recorder.is_recording:
            profiled.append(step)
        recorder.end_step(step, [SpanBounds(0, 1)])
        assert not recorder.is_recording
    return profiled


def test_every_so_many_steps() -> None:
    scripted = Scripted()
    assert run_steps(scripted.recorder(every=3), 0, 9) == [2, 5, 8]
    assert scripted.recorded_steps() == [2, 5, 8]
    assert scripted.n_started == 4, "a first trace of nothing takes what a first trace takes"
    assert set(scripted.asked_for_cuda) == {True}


def test_on_command() -> None:
    scripted = Scripted()
    recorder = scripted.recorder(is_cuda=False)
    assert run_steps(recorder, 0, 3) == []
    recorder.record(2)
    assert run_steps(recorder, 4, 8) == [4, 5]
    recorder.record(2)
    recorder.record(0)
    assert run_steps(recorder, 9, 9) == []
    assert set(scripted.asked_for_cuda) == {False}


@pytest.mark.parametrize("n_steps", [-1, MAX_RECORDED_STEPS + 1])
def test_a_number_out_of_range_is_refused(n_steps: int) -> None:
    with pytest.raises(ConfigError, match="steps to record"):
        Scripted().recorder().record(n_steps)


def test_the_cost_of_recording_is_told() -> None:
    scripted = Scripted()
    run_steps(scripted.recorder(every=1), 0, 0)
    (event,) = scripted.said
    assert isinstance(event, KernelsRecorded)
    # The clock moves by 10 at every look: the anchors at both ends and what is around them.
    assert event.recording_ns >= 2 * N_ANCHORS * 20


def test_beside_another_profiler_kernels_are_not_recorded() -> None:
    scripted = Scripted()
    recorder = scripted.recorder(every=1, environment={"CUDA_INJECTION64_PATH": "/opt/lib.so"})
    assert run_steps(recorder, 0, 3) == []
    assert len(scripted.messages()) == 1
    assert "CUDA_INJECTION64_PATH is set" in scripted.messages()[0]
    with pytest.raises(ConfigError, match="another profiler"):
        recorder.record(1)
    on_cpu = scripted.recorder(every=1, is_cuda=False, environment={"CUDA_INJECTION64_PATH": "x"})
    assert run_steps(on_cpu, 4, 4) == [4]


@pytest.mark.parametrize("fault", ["start", "stop", "anchors"])
def test_a_profiler_that_fails_is_told_once_and_left_alone(fault: str) -> None:
    scripted = Scripted(fault=fault)
    recorder = scripted.recorder(every=1)
    run_steps(recorder, 0, 5)
    assert scripted.recorded_steps() == []
    assert len(scripted.messages()) == 1
    assert scripted.messages()[0].startswith("Kernels cannot be recorded: ")
    with pytest.raises(ConfigError):
        recorder.record(1)


def test_a_step_with_its_spans() -> None:
    scripted = Scripted()
    spans = SpanRecorder(scripted.emitter)
    spans.kernels = scripted.recorder(every=2)
    for step in range(2):
        with spans.span(STEP), spans.span(VERIFY, Role.TARGET):
            assert spans.is_profiling == (step == 1)
        spans.flush(step)
    kinds = [(type(event), event.step) for event in scripted.said]  # type: ignore[union-attr]
    assert kinds == [(SpansMeasured, 0), (SpansMeasured, 1), (KernelsRecorded, 1)]


def test_a_step_that_raises_closes_its_trace() -> None:
    scripted = Scripted()
    spans = SpanRecorder(scripted.emitter)
    spans.kernels = scripted.recorder(every=1)
    with pytest.raises(ZeroDivisionError), spans.span(STEP):
        raise ZeroDivisionError
    spans.flush(0)
    assert not spans.is_profiling
    assert scripted.recorded_steps() == [0]


def test_operators_of_a_real_step() -> None:
    said: list[Event] = []
    emitter = Emitter(said.append)
    spans = SpanRecorder(emitter)
    spans.kernels = KernelRecorder(emitter, is_cuda=False, every=1)
    matrix = torch.ones(64, 64)
    for step in range(2):
        with torch.inference_mode(), spans.span(STEP):
            with spans.span(VERIFY, Role.TARGET):
                torch.nn.functional.linear(matrix, matrix)
            torch.softmax(matrix, -1)
        spans.flush(step)
    measured = [event for event in said if isinstance(event, SpansMeasured)]
    recorded = [event for event in said if isinstance(event, KernelsRecorded)]
    assert [event.step for event in recorded] == [0, 1]
    for spans_of, kernels in zip(measured, recorded, strict=True):
        assert kernels.names == ("aten::linear", "aten::softmax")
        assert kernels.span_indexes == (1, 0)
        assert kernels.clock_error_ns is not None
        slack = kernels.clock_error_ns
        for start, duration, index in zip(
            kernels.start_ns, kernels.duration_ns, kernels.span_indexes, strict=True
        ):
            opened = spans_of.start_ns[index]
            assert opened - slack <= start
            assert start + duration <= opened + spans_of.host_ns[index] + slack
        assert kernels.recording_ns > 0


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_kernels_of_a_real_device() -> None:
    matrix = torch.ones(1024, 1024, device="cuda", dtype=torch.bfloat16)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        matrix.mul(2.0)
    for _ in range(2):  # the first may be of a profiler that is not yet up
        trace = TorchTrace(True)
        trace.start()
        matrix @ matrix
        graph.replay()
        events = trace.stop()
    kinds = [event.kind for event in events]
    assert kinds.count("kernel") >= 2
    launches = {event.correlation for event in events if event.kind == "cuda_runtime"}
    assert all(event.correlation in launches for event in events if event.kind == "kernel")
