"""Costs as the steps run them, on a clock of the test's own."""

from typing import Any

import pytest

from engine.device.timing import StepTimer
from engine.sampling import SamplingParams
from engine.wire.events import CalibrationMeasured
from tests.support.device_engine import DeviceEngine, FakeGraphs
from tests.support.toy_model import ToyModel


class Clock:
    """Of a device that waits ``idle`` ns for launches, but for those queued while it was held."""

    def __init__(self) -> None:
        self.now = 0
        self.idle = 0
        self.is_held = False

    def now_ns(self) -> int:
        return self.now + self.idle

    def hold(self, hold_ns: int) -> None:
        assert hold_ns > 1_000_000
        self.is_held = True

    def mark(self) -> tuple[int, int, bool]:
        is_held, self.is_held = self.is_held, False
        return self.now, self.idle, is_held

    def read_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        return [end[0] - start[0] + (0 if start[2] else end[1] - start[1]) for start, end in marks]

    def starts_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        return [start[0] for start, _ in marks]


class Ticking(ToyModel):
    clock: Clock

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        self.clock.now += self.ticks
        self.clock.idle += 60
        return super().forward(*args, **kwargs)


def make(**settings: Any) -> tuple[DeviceEngine, Clock]:
    clock = Clock()
    target, draft = Ticking(24, seed=1), Ticking(24, seed=2)
    target.clock = draft.clock = clock
    target.ticks, draft.ticks = 1000, 100
    return DeviceEngine(target, draft, gamma=3, **settings), clock


@pytest.mark.parametrize("is_captured", [False, True])
def test_costs_are_those_of_the_functions_that_run(is_captured: bool) -> None:
    running, clock = make(graphs=FakeGraphs() if is_captured else None)
    step = running.device_step
    timer = StepTimer(step._drafting.loop, step.verification, timer=clock, now_ns=clock.now_ns)
    params = SamplingParams()
    measured = timer.calibrate(
        step.results_for(3, params), params,
        context_length=100, gamma=3, is_captured=lambda: is_captured, budget_ns=10**6,
    )  # fmt: skip
    assert measured.context_length == 100
    assert measured.target_forward_ns == (1060,) * 4  # a step waits for its launches as well
    assert measured.draft_forward_ns == 160
    assert measured.costs.c == 160 / 1060
    if is_captured:
        assert measured.draft_launch_share == pytest.approx(60 / 160)
        assert measured.uncaptured_launch_share == pytest.approx(60 / 160)
    else:
        assert measured.draft_launch_share is None, "without a graph the gaps are not told apart"


def test_a_measurement_touches_no_sequence_and_is_said() -> None:
    running = DeviceEngine(
        ToyModel(24, seed=1), ToyModel(24, seed=2), graphs=FakeGraphs(), gamma=3, calibrate=True
    )
    running.run([3, 1, 4, 1, 5])
    (said,) = [event for event in running.events if isinstance(event, CalibrationMeasured)]
    assert said.target_widths == (1, 2, 3, 4)
    assert said.draft_forward_ns is not None
    plain = DeviceEngine(ToyModel(24, seed=1), ToyModel(24, seed=2), gamma=3)
    plain.run([3, 1, 4, 1, 5])
    assert plain.outputs() == running.outputs()
