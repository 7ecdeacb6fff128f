from collections.abc import Callable
from enum import Enum
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine.telemetry import kernel_recorder
from engine.telemetry.emitter import Emitter
from engine.telemetry.kernel_recorder import (
    N_ANCHORS,
    STAYS_ATTACHED,
    KernelRecorder,
    TorchTrace,
)
from engine.telemetry.kernel_trace import ANCHOR, SpanBounds, TraceEvent, kind_of
from engine.telemetry.spans import STEP, VERIFY, SpanRecorder
from engine.wire.config import MAX_RECORDED_STEPS, ConfigError
from engine.wire.events import Event, KernelsRecorded, LogEmitted, Role, SpansMeasured


class Scripted:
    """Traces that hold their anchors and one kernel each; ``error`` is raised where ``fault``
    names. ``n_open`` counts starts without a stop."""

    def __init__(self, *, fault: str = "", error: Exception | None = None) -> None:
        self.said: list[Event] = []
        self.clock_ns = 0
        self.fault = fault
        self.error = error or RuntimeError("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")
        self.n_started = 0
        self.n_open = 0
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
            raise self.error
        self.n_started += 1
        self.n_open += 1
        self._events = [TraceEvent("k", "kernel", 0, 0, 0, 1, 7, 0)]
        if self.fault == "no kernel":
            self._events = [TraceEvent("aten::mm", "cpu_op", 0, 0, 0, 1, 7, 0)]

    def anchor(self) -> None:
        n_anchors = len(self._events) - 1
        if self.fault == f"anchor {n_anchors}":
            raise self.error
        if self.fault != "anchors":
            self._events.append(
                TraceEvent(ANCHOR, "user_annotation", 0, 1, self.clock_ns + 1, 1, 0, 0)
            )

    def stop(self) -> list[TraceEvent]:
        self.n_open -= 1
        if self.fault == "stop" and self.n_started > 1:
            raise self.error
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
        """But for the one about every recording on CUDA."""
        logs = [event.message for event in self.said if isinstance(event, LogEmitted)]
        return [message for message in logs if message != STAYS_ATTACHED]


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


@pytest.mark.parametrize("is_cuda", [True, False])
def test_what_a_recording_leaves_behind_is_told_once_on_cuda(is_cuda: bool) -> None:
    scripted = Scripted()
    run_steps(scripted.recorder(every=2, is_cuda=is_cuda), 0, 9)
    logs = [event for event in scripted.said if isinstance(event, LogEmitted)]
    assert [log.message for log in logs] == [STAYS_ATTACHED] * is_cuda


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
    (event,) = [event for event in scripted.said if isinstance(event, KernelsRecorded)]
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


FAULTS = ["start", "stop", "anchors", "anchor 0", f"anchor {N_ANCHORS}"]
ERRORS = [
    RuntimeError("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"),
    OSError("no space left"),
    AttributeError("'_KinetoEvent' object has no attribute 'start_ns'"),
    TypeError("start() takes 2 arguments"),
    AssertionError(),  # as torch's own profiler raises them
    KeyError("cuda"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_profiler_that_fails_is_told_once_and_left_alone(fault: str, error: Exception) -> None:
    scripted = Scripted(fault=fault, error=error)
    recorder = scripted.recorder(every=1)
    run_steps(recorder, 0, 5)
    assert scripted.recorded_steps() == []
    assert len(scripted.messages()) == 1
    start, _, why = scripted.messages()[0].partition(": ")
    assert start == "Kernels cannot be recorded"
    assert why, "an error without words is named"
    assert scripted.n_open == 0, "a trace left open would slow down all that follows"
    with pytest.raises(ConfigError):
        recorder.record(1)


def test_a_recorder_that_cannot_be_made_is_told_too() -> None:
    scripted = Scripted()

    def fail(is_cuda: bool) -> Scripted:
        raise AttributeError("module 'torch' has no attribute 'profiler'")

    recorder = KernelRecorder(
        scripted.emitter, is_cuda=True, every=1, make_trace=fail, environment={}
    )
    assert run_steps(recorder, 0, 3) == []
    assert len(scripted.messages()) == 1


def test_on_cuda_a_trace_without_kernels_is_told_once_and_has_no_operators() -> None:
    scripted = Scripted(fault="no kernel")
    run_steps(scripted.recorder(every=1), 0, 2)
    recorded = [event for event in scripted.said if isinstance(event, KernelsRecorded)]
    assert [event.names for event in recorded] == [(), (), ()]
    (message,) = scripted.messages()
    assert message.startswith("No kernel was recorded in step 0: ")
    on_cpu = Scripted(fault="no kernel")
    run_steps(on_cpu.recorder(every=1, is_cuda=False), 0, 0)
    assert on_cpu.messages() == []


def test_a_step_with_its_spans() -> None:
    scripted = Scripted()
    spans = SpanRecorder(scripted.emitter)
    spans.kernels = scripted.recorder(every=2)
    for step in range(2):
        with spans.span(STEP), spans.span(VERIFY, Role.TARGET):
            assert spans.is_slowed == (step == 1)
        spans.flush(step)
    told = [event for event in scripted.said if not isinstance(event, LogEmitted)]
    kinds = [(type(event), event.step) for event in told]  # type: ignore[union-attr]
    assert kinds == [(SpansMeasured, 0), (SpansMeasured, 1), (KernelsRecorded, 1)]


def test_a_step_that_raises_closes_its_trace() -> None:
    scripted = Scripted()
    spans = SpanRecorder(scripted.emitter)
    spans.kernels = scripted.recorder(every=1)
    with pytest.raises(ZeroDivisionError), spans.span(STEP):
        raise ZeroDivisionError
    spans.flush(0)
    assert not spans.is_slowed
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


class DeviceType(Enum):
    CPU = 0
    CUDA = 1


def old_event(name: str, *, is_annotation: bool = False, **fields: Any) -> Any:
    """An event as a torch makes it whose events do not tell their kind."""
    given = {"device": DeviceType.CPU, "is_hidden": False, "correlation": 0, **fields}
    return SimpleNamespace(
        name=lambda: name,
        device_type=lambda: given["device"],
        device_resource_id=lambda: 7,
        start_thread_id=lambda: 1,
        start_ns=lambda: 100,
        duration_ns=lambda: 5,
        correlation_id=lambda: given["correlation"],
        linked_correlation_id=lambda: 0,
        is_user_annotation=lambda: is_annotation,
        is_hidden_event=lambda: given["is_hidden"],
    )


class OldProfile:
    """Stands for ``torch.profiler.profile``, with the events of such a torch."""

    events: tuple[Any, ...] = ()

    def __init__(self, **options: Any) -> None:
        results = SimpleNamespace(events=lambda: self.events)
        self.profiler = SimpleNamespace(kineto_results=results)

    def start(self) -> None: ...
    def stop(self) -> None: ...


def test_kinds_of_a_torch_that_does_not_tell_them(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = {"device": DeviceType.CUDA}
    OldProfile.events = (
        old_event(ANCHOR, is_annotation=True),
        old_event(ANCHOR, is_annotation=True, **cuda),
        old_event("aten::mm", is_hidden=True),
        old_event("aten::mm"),
        old_event("cudaGraphLaunch", correlation=3),
        old_event("cuLaunchKernelEx", correlation=4),
        old_event("gemm", correlation=3, **cuda),
        old_event("Memcpy DtoH (Device -> Pinned)", correlation=5, **cuda),
        old_event("Memset (Device)", correlation=6, **cuda),
    )
    monkeypatch.setattr(torch.profiler, "profile", OldProfile)
    trace = TorchTrace(False)
    trace.start()
    events = trace.stop()
    assert [event.kind for event in events] == [
        "user_annotation", "gpu_user_annotation", "cpu_op", "cuda_runtime", "cuda_driver",
        "kernel", "gpu_memcpy", "gpu_memset",
    ]  # fmt: skip
    assert events[5] == TraceEvent("gemm", "kernel", 7, 1, 100, 5, 3, 0)


class Older:
    """One of the installed torch's events, without what older ones lack."""

    def __init__(self, event: Any) -> None:
        self._event = event

    def __getattr__(self, name: str) -> Any:
        if name in ("activity_type", "is_hidden_event"):
            raise AttributeError(f"'_KinetoEvent' object has no attribute '{name}'")
        return getattr(self._event, name)


def test_a_real_step_on_a_torch_that_does_not_tell_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Callable[[Any], TraceEvent] = kernel_recorder._trace_event
    monkeypatch.setattr(kernel_recorder, "_trace_event", lambda event: read(Older(event)))
    said: list[Event] = []
    emitter = Emitter(said.append)
    spans = SpanRecorder(emitter)
    spans.kernels = KernelRecorder(emitter, is_cuda=False, every=1)
    matrix = torch.ones(64, 64)
    for step in range(2):
        with torch.inference_mode(), spans.span(STEP), spans.span(VERIFY, Role.TARGET):
            torch.nn.functional.linear(matrix, matrix)
        spans.flush(step)
    assert not [event for event in said if isinstance(event, LogEmitted)]
    recorded = [event for event in said if isinstance(event, KernelsRecorded)]
    assert [event.names for event in recorded] == [("aten::linear",)] * 2
    assert [event.span_indexes for event in recorded] == [(1,)] * 2


def kinds_told_and_derived(profile: Any) -> list[tuple[str, str, str]]:
    """Of each event its name, the kind that torch tells, and the one its other facts give."""
    events = profile.profiler.kineto_results.events()
    if events and not hasattr(events[0], "activity_type"):
        pytest.skip("this torch does not tell the kind of an event")
    return [
        (
            event.name(),
            event.activity_type(),
            kind_of(event.device_type().name, event.is_user_annotation(), event.name()),
        )
        for event in events
    ]


def test_derived_kinds_are_those_of_the_installed_torch() -> None:
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profile:
        with torch.profiler.record_function("a range"):
            torch.ones(8, 8) @ torch.ones(8, 8)
        torch.softmax(torch.ones(8), -1).argmax().item()
    kinds = kinds_told_and_derived(profile)
    assert {told for _, told, _ in kinds} >= {"user_annotation", "cpu_op"}
    assert [each for each in kinds if each[1] != each[2]] == []


def matrix_and_graph() -> tuple[torch.Tensor, torch.cuda.CUDAGraph]:
    """On the device, and a graph of one kernel over it."""
    matrix = torch.ones(1024, 1024, device="cuda", dtype=torch.bfloat16)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        matrix.mul(2.0)
    return matrix, graph


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_derived_kinds_are_those_of_the_installed_torch_on_a_device() -> None:
    matrix, graph = matrix_and_graph()
    activity = torch.profiler.ProfilerActivity
    for _ in range(2):  # the first may be of a profiler that is not yet up
        with torch.profiler.profile(activities=[activity.CPU, activity.CUDA]) as profile:
            with torch.profiler.record_function("a range"):
                (matrix @ matrix).sum().item()
            torch.zeros(1 << 20, device="cuda", dtype=torch.uint8)
            graph.replay()
            torch.cuda.synchronize()
    kinds = kinds_told_and_derived(profile)
    assert {told for _, told, _ in kinds} >= {"kernel", "gpu_memcpy", "cuda_runtime"}
    assert [each for each in kinds if each[1] != each[2]] == []


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_kernels_of_a_real_device() -> None:
    matrix, graph = matrix_and_graph()
    for _ in range(2):  # the first may be of a profiler that is not yet up
        trace = TorchTrace(True)
        trace.start()
        matrix @ matrix
        graph.replay()
        events = trace.stop()
    kinds = [event.kind for event in events]
    assert kinds.count("kernel") >= 2
    calls = ("cuda_runtime", "cuda_driver")  # a library may call the driver itself
    launches = {event.correlation for event in events if event.kind in calls}
    assert all(event.correlation in launches for event in events if event.kind == "kernel")
