"""A sampling thread begins, ends, and begins again."""

import threading

import pytest

from engine.telemetry.sampling_thread import SamplingThread


class Counting(SamplingThread):
    def __init__(self) -> None:
        super().__init__("counting")
        self.names: list[str] = []

    def _run(self) -> None:
        self.names.append(threading.current_thread().name)
        self._stopping.wait(10.0)


def test_it_runs_on_a_thread_of_its_name_until_it_is_stopped() -> None:
    with Counting() as sampler, pytest.raises(RuntimeError, match="already running"):
        sampler.start()
    sampler.stop()
    assert sampler.names == ["counting"]
    with sampler:
        pass
    assert sampler.names == ["counting"] * 2
