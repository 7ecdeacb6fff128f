"""What is captured once and played again, what happens when it cannot be, and torch's own seam."""

import gc
import weakref
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
import torch

from engine.device.graphs import N_WARM_UPS, CudaGraphs, GraphShelf, Replay
from engine.telemetry.capture_gate import CaptureGate
from engine.wire.events import Event, LogEmitted
from tests.support.device_engine import FakeGraphs


def test_captured_once_and_played_every_time() -> None:
    graphs, given = FakeGraphs(), torch.zeros(3)
    shelf = GraphShelf(graphs, say=lambda event: None)
    first = shelf.run("double", lambda: given * 2)
    given.fill_(4.0)
    second = shelf.run("double", lambda: given * 2)
    assert second is first, "the numbers change, the tensor stays"
    assert second.tolist() == [8.0, 8.0, 8.0]
    assert (graphs.n_captures, graphs.n_replays, shelf.n_captured) == (1, 2, 1)


def test_a_capture_is_told_and_a_replay_is_not() -> None:
    told: list[bool] = []
    shelf = GraphShelf(FakeGraphs(), say=lambda event: None, on_capture=lambda: told.append(True))
    for _ in range(3):
        shelf.run("one", lambda: torch.ones(1))
    assert told == [True]


def test_without_a_backend_the_function_is_run() -> None:
    shelf = GraphShelf(None, say=lambda event: None)
    assert not shelf.is_capturing
    assert [shelf.run("one", lambda: 1), shelf.run("one", lambda: 2)] == [1, 2]


def test_a_failed_capture_is_said_once_and_everything_runs_directly() -> None:
    said: list[Event] = []
    graphs = FakeGraphs(fails_at=1)
    shelf = GraphShelf(graphs, say=said.append)
    shelf.run("one", lambda: torch.ones(1))
    for _ in range(3):
        assert shelf.run("two", lambda: torch.full((1,), 2.0)).tolist() == [2.0]
        assert shelf.run("one", lambda: torch.ones(1)).tolist() == [1.0]
    assert graphs.n_drops == 1
    assert not shelf.is_capturing
    (event,) = said
    assert isinstance(event, LogEmitted)
    assert event.message == (
        "CUDA graphs are not used: operation not permitted when stream is capturing "
        "(RuntimeError). Every kernel is launched by itself."
    )


def test_what_cannot_be_captured_is_not_run_before_it_is_needed() -> None:
    graphs, runs = FakeGraphs(fails_at=1), []
    shelf = GraphShelf(graphs, say=lambda event: None)
    shelf.warm_up("one", lambda: runs.append("one"))
    assert runs == ["one", "one"], "captured and played"
    shelf.warm_up("two", lambda: runs.append("two"))
    assert runs == ["one", "one"]
    assert not shelf.is_capturing


def test_the_tensors_of_a_failed_capture_are_gone_when_the_function_runs_again() -> None:
    left: list[weakref.ref[torch.Tensor]] = []

    def capture(function: Callable[[], Any]) -> Replay:
        partial = torch.ones(3)
        left.append(weakref.ref(partial))
        raise torch.OutOfMemoryError("CUDA out of memory")

    graphs = FakeGraphs()
    graphs.capture = capture  # type: ignore[method-assign]
    shelf = GraphShelf(graphs, say=lambda event: None)
    assert shelf.run("one", lambda: left[0]() is None)


def test_what_was_dropped_is_captured_anew() -> None:
    graphs = FakeGraphs()
    shelf = GraphShelf(graphs, say=lambda event: None)
    shelf.run("one", lambda: torch.ones(1))
    assert shelf.holds("one")
    shelf.drop()
    assert not shelf.holds("one")
    shelf.run("one", lambda: torch.ones(1))
    assert graphs.n_captures == shelf.n_captured == 2


class SimulatedCuda:
    """What ``torch.cuda`` is asked for, and in which order."""

    def __init__(self, gate: CaptureGate) -> None:
        self.calls: list[str] = []
        self.arguments: dict[str, Any] = {}
        self.was_shut: list[bool] = []
        self._gate = gate

    def Stream(self) -> "SimulatedStream":
        return SimulatedStream(self, "capture")

    def current_stream(self) -> "SimulatedStream":
        return SimulatedStream(self, "current")

    def graph_pool_handle(self) -> str:
        self.calls.append("new pool")
        return "pool"

    def CUDAGraph(self) -> "SimulatedGraph":
        return SimulatedGraph(self)

    def synchronize(self, device: Any) -> None:
        self.calls.append("synchronize")

    @contextmanager
    def device(self, device: Any) -> Any:
        yield

    @contextmanager
    def stream(self, stream: Any) -> Any:
        yield

    @contextmanager
    def graph(self, graph: Any, **arguments: Any) -> Any:
        self.arguments = arguments
        self.was_collecting = gc.isenabled()
        with self._gate.reading() as may_read:
            self.was_shut.append(not may_read)
        self.calls.append("begin")
        yield
        self.calls.append("end")


class SimulatedStream:
    def __init__(self, cuda: SimulatedCuda, name: str) -> None:
        self.cuda, self.name = cuda, name

    def wait_stream(self, other: "SimulatedStream") -> None:
        self.cuda.calls.append(f"{self.name} waits for {other.name}")

    def synchronize(self) -> None:
        self.cuda.calls.append("stream is done")


class SimulatedGraph:
    def __init__(self, cuda: SimulatedCuda) -> None:
        self.cuda = cuda

    def replay(self) -> None:
        self.cuda.calls.append("replay")

    def reset(self) -> None:
        self.cuda.calls.append("reset")


@pytest.fixture
def cuda() -> tuple[CudaGraphs, SimulatedCuda]:
    gate = CaptureGate()
    graphs = CudaGraphs(torch.device("cuda", 0), gate=gate)
    simulated = SimulatedCuda(gate)
    graphs._cuda = simulated
    return graphs, simulated


@pytest.mark.parametrize("is_enabled", [True, False])
def test_no_garbage_is_collected_within_a_capture(
    cuda: tuple[CudaGraphs, SimulatedCuda], is_enabled: bool
) -> None:
    graphs, simulated = cuda
    (gc.enable if is_enabled else gc.disable)()
    try:
        graphs.capture(lambda: None)
        assert not simulated.was_collecting
        assert gc.isenabled() == is_enabled
    finally:
        gc.enable()


def test_torch_is_asked_in_the_right_order(cuda: tuple[CudaGraphs, SimulatedCuda]) -> None:
    graphs, simulated = cuda

    def function() -> str:
        simulated.calls.append("run")
        return "outputs"

    replay = graphs.capture(function)
    replay.play()
    assert simulated.calls == [
        "new pool", "capture waits for current", *["run"] * N_WARM_UPS, "stream is done",
        "begin", "run", "end", "current waits for capture", "replay",
    ]  # fmt: skip
    assert replay.outputs == "outputs"
    assert simulated.arguments["capture_error_mode"] == "thread_local"
    assert simulated.arguments["pool"] == "pool"
    assert simulated.was_shut == [True], "no sampler reads the driver during a capture"
    graphs.capture(function)
    assert simulated.calls.count("new pool") == 1, "one pool for all"


def test_all_graphs_go_together(cuda: tuple[CudaGraphs, SimulatedCuda]) -> None:
    graphs, simulated = cuda
    graphs.drop()
    assert simulated.calls == [], "nothing was captured, so nothing is waited for"
    graphs.capture(lambda: None)
    graphs.capture(lambda: None)
    simulated.calls.clear()
    graphs.drop()
    assert simulated.calls == ["synchronize", "reset", "reset"]


def test_a_failed_capture_leaves_nothing_under_way_and_the_streams_joined(
    cuda: tuple[CudaGraphs, SimulatedCuda],
) -> None:
    graphs, simulated = cuda

    def fail() -> None:
        raise RuntimeError("no such kernel")

    with pytest.raises(RuntimeError, match="no such kernel"):
        graphs.capture(fail)
    assert simulated.calls[-2:] == ["stream is done", "current waits for capture"]
