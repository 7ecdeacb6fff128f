import threading
import time

import psutil
import pytest

from engine.telemetry.emitter import Emitter
from engine.telemetry.host_sampler import HostSampler
from engine.wire.events import Event, HostSampled, LogEmitted


class Ear:
    """A sink that can be waited for."""

    def __init__(self, n_awaited: int) -> None:
        self.said: list[Event] = []
        self.has_enough = threading.Event()
        self._n_awaited = n_awaited

    def __call__(self, event: Event) -> None:
        self.said.append(event)
        if len(self.said) >= self._n_awaited:
            self.has_enough.set()


def test_samples_until_stopped() -> None:
    ear = Ear(3)
    with HostSampler(Emitter(ear), rate_hz=200.0):
        assert ear.has_enough.wait(10.0)
    n_said = len(ear.said)
    for event in ear.said:
        assert isinstance(event, HostSampled)
        assert event.process_cpu_pct >= 0
        assert 0 <= event.system_cpu_pct <= 100
        assert 0 < event.process_memory_bytes < event.system_memory_total_bytes
        assert 0 < event.system_memory_used_bytes <= event.system_memory_total_bytes
    assert "host-sampler" not in {thread.name for thread in threading.enumerate()}
    assert len(ear.said) == n_said


def test_a_busy_process_is_seen() -> None:
    ear = Ear(20)
    with HostSampler(Emitter(ear), rate_hz=100.0):
        while not ear.has_enough.is_set():
            sum(range(1000))
    shares = [event.process_cpu_pct for event in ear.said if isinstance(event, HostSampled)]
    assert max(shares) > 20


def test_stopping_takes_no_interval_and_may_be_repeated() -> None:
    sampler = HostSampler(Emitter(lambda event: None), rate_hz=0.01)
    sampler.stop()
    sampler.start()
    with pytest.raises(RuntimeError, match="already running"):
        sampler.start()
    start_s = time.monotonic()
    sampler.stop()
    sampler.stop()
    assert time.monotonic() - start_s < 5.0
    sampler.start()
    sampler.stop()


def test_a_refusal_is_told_once_and_leaves_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    ear = Ear(1)
    n_tries = 0
    has_tried = threading.Event()

    def refuse() -> None:
        nonlocal n_tries
        n_tries += 1
        if n_tries == 3:
            has_tried.set()
        raise psutil.AccessDenied(1)

    monkeypatch.setattr(psutil, "virtual_memory", refuse)
    with HostSampler(Emitter(ear), rate_hz=200.0):
        assert has_tried.wait(10.0)
    [event] = ear.said
    assert isinstance(event, LogEmitted)
    assert event.level == "warning"
    assert "cannot be sampled" in event.message


def test_a_rate_must_be_positive() -> None:
    with pytest.raises(ValueError, match="above 0"):
        HostSampler(Emitter(lambda event: None), rate_hz=0)


def test_a_sample_costs_little() -> None:
    sampler = HostSampler(Emitter(lambda event: None))
    start_ns = time.thread_time_ns()
    for _ in range(100):
        sampler._sample()
    cost_ns = (time.thread_time_ns() - start_ns) / 100
    assert cost_ns < 1_000_000  # 0.1 ms on a desk: a thousandth of a core at 10 Hz
