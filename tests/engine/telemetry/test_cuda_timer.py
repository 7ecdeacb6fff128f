"""The GPU's clock beside the host's: a simulated device whose clock runs faster."""

from typing import Any

import pytest

from engine.telemetry.cuda_timer import REALIGN_NS, CudaTimer

DRIFT = 1.0001
OFFSET_NS = 5_000_000_000


class Machine:
    """``now`` is the host's; the device's clock started earlier and runs a little faster."""

    def __init__(self) -> None:
        self.now = 1_000
        self.n_waits = 0

    def now_ns(self) -> int:
        self.now += 1_000  # what a reading of the clock takes
        return self.now

    def Event(self, *, enable_timing: bool) -> "Event":
        assert enable_timing
        return Event(self)

    def synchronize(self) -> None:
        self.n_waits += 1

    def _sleep(self, n_cycles: int) -> None:
        self.n_cycles = n_cycles


class Event:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.at_ns = 0.0

    def record(self) -> None:
        self.at_ns = (self.machine.now + OFFSET_NS) * DRIFT

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, later: "Event") -> float:
        return (later.at_ns - self.at_ns) / 1e6


def span(timer: CudaTimer, machine: Machine, length_ns: int) -> tuple[Any, Any]:
    start = timer.mark()
    machine.now += length_ns
    return start, timer.mark()


def test_lengths_are_the_devices() -> None:
    machine = Machine()
    timer = CudaTimer(cuda=machine)
    marks = [span(timer, machine, 2_000_000)]
    assert timer.starts_ns(marks) == [None], "without a clock to compare with"
    assert timer.read_ns(marks) == [round(2_000_000 * DRIFT)]


def test_events_are_used_again() -> None:
    machine = Machine()
    timer = CudaTimer(machine.now_ns, cuda=machine)
    first = span(timer, machine, 10)
    timer.read_ns([first])
    assert {id(event) for event in span(timer, machine, 10)} == {id(event) for event in first}


def test_starts_are_told_on_the_hosts_clock_however_long_it_runs() -> None:
    machine = Machine()
    timer = CudaTimer(machine.now_ns, cuda=machine)
    timer.align()
    for _ in range(50):
        machine.now += REALIGN_NS // 4
        began = machine.now
        marks = [span(timer, machine, 1_000_000)]
        (start_ns,) = timer.starts_ns(marks)
        timer.read_ns(marks)
        # Half a recording, and what the clocks part by in the time between two anchors.
        assert start_ns == pytest.approx(began, abs=2_000 + 1.5 * REALIGN_NS * (DRIFT - 1))
    assert machine.n_waits < 20, "an anchor is set now and then, not at every step"


def test_a_device_is_held_for_long_enough_at_any_clock() -> None:
    machine = Machine()
    CudaTimer(cuda=machine).hold(1_000_000)
    assert machine.n_cycles >= 2_000_000  # 2 GHz
