import threading
import time

import pynvml
import pytest

from engine.telemetry import gpm_counters
from engine.telemetry.capture_gate import CaptureGate
from engine.telemetry.emitter import Emitter
from engine.telemetry.gpu_sampler import GpuSampler
from engine.wire.events import Event, GpuSampled, LogEmitted
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml


@pytest.fixture(autouse=True)
def _short_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads of these tests run in real time, and the driver is simulated: it needs none."""
    monkeypatch.setattr(gpm_counters, "PROBE_S", 0.004)
    monkeypatch.setattr(gpm_counters, "SHORTEST_S", 0.002)


class Ear:
    """A sink that can be waited for."""

    def __init__(self) -> None:
        self.said: list[Event] = []
        self._changed = threading.Condition()

    def __call__(self, event: Event) -> None:
        with self._changed:
            self.said.append(event)
            self._changed.notify_all()

    def wait(self, kind: type[Event], n: int = 1) -> None:
        def is_enough() -> bool:
            return sum(isinstance(event, kind) for event in self.said) >= n

        with self._changed:
            assert self._changed.wait_for(is_enough, 10.0)


class Threads(SimulatedNvml):
    """Notes which threads call the device's functions."""

    def __init__(self, gpu: SimulatedGpu) -> None:
        super().__init__(gpu)
        self.threads: set[str] = set()

    def _answer(self, function: str, gpu: SimulatedGpu) -> None:
        self.threads.add(threading.current_thread().name)
        super()._answer(function, gpu)


def sampler_of(
    ear: Ear, nvml: SimulatedNvml, gate: CaptureGate | None = None, uuid: str = "a"
) -> GpuSampler:
    return GpuSampler(
        Emitter(ear), uuid, rate_hz=500.0, retry_s=0.002, nvml=nvml, gate=gate or CaptureGate()
    )


def test_samples_until_stopped() -> None:
    ear, nvml = Ear(), SimulatedNvml(SimulatedGpu("GPU-a"))
    with sampler_of(ear, nvml):
        ear.wait(GpuSampled, 3)
    first = ear.said[0]
    assert isinstance(first, GpuSampled)
    assert first.device_uuid == "GPU-a"
    assert (first.power_mw, first.sm_active_pct, first.missing) == (412_000, 41.5, ())
    assert (nvml.n_open, nvml.n_samples) == (0, 0), "NVML is closed again"


def test_what_is_missing_is_told_in_the_sample() -> None:
    gpu = SimulatedGpu("GPU-a", has_gpm=False, refusals={"power": pynvml.NVML_ERROR_NO_PERMISSION})
    ear = Ear()
    with sampler_of(ear, SimulatedNvml(gpu)):
        ear.wait(GpuSampled)
    sample = ear.said[0]
    assert isinstance(sample, GpuSampled)
    assert sample.power_mw is None
    assert sample.missing[0] == "power_mw: no permission"
    assert len(sample.missing) == 4


def test_where_no_pair_of_samples_is_long_enough_yet_the_counters_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gpm_counters, "SHORTEST_S", 3600.0)
    monkeypatch.setattr(gpm_counters, "PROBE_S", 0.0)
    ear, nvml = Ear(), SimulatedNvml(SimulatedGpu("GPU-a"))
    with sampler_of(ear, nvml):
        ear.wait(GpuSampled, 3)
    assert nvml.calls.count("gpm sample") == 1
    samples = [event for event in ear.said if isinstance(event, GpuSampled)]
    assert {sample.sm_active_pct for sample in samples} == {None}
    assert samples[0].missing[0] == f"sm_active_pct: {gpm_counters.NOT_YET}"
    assert samples[0].power_mw == 412_000, "what else can be read is"


def test_counters_are_read_on_the_samplers_thread_and_never_during_a_capture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A probe that is tried again keeps to the rules of every reading."""
    gpu = SimulatedGpu("GPU-a", refusals={"gpm metrics": pynvml.NVML_ERROR_TIMEOUT})
    nvml, gate, ear = Threads(gpu), CaptureGate(), Ear()
    monkeypatch.setattr(gpm_counters, "RETRY_S", 0.001)
    with sampler_of(ear, nvml, gate):
        ear.wait(GpuSampled, 3)
        with gate.capturing():
            n_before = len(nvml.calls)
            time.sleep(0.03)
            assert len(nvml.calls) == n_before
        del gpu.refusals["gpm metrics"]
        ear.wait(GpuSampled, sum(isinstance(event, GpuSampled) for event in ear.said) + 12)
    samples = [event for event in ear.said if isinstance(event, GpuSampled)]
    assert samples[0].sm_active_pct is None
    assert samples[-1].sm_active_pct == 41.5
    assert nvml.threads == {"gpu-sampler"}
    assert (nvml.n_open, nvml.n_samples) == (0, 0)


def test_a_lost_gpu_is_told_once_and_found_again() -> None:
    gpu = SimulatedGpu("GPU-a")
    ear, nvml = Ear(), SimulatedNvml(gpu)
    with sampler_of(ear, nvml):
        ear.wait(GpuSampled)
        gpu.refusals["memory"] = pynvml.NVML_ERROR_GPU_IS_LOST
        ear.wait(LogEmitted)
        time.sleep(0.05)  # many attempts to find it
        n_before = len(ear.said)
        del gpu.refusals["memory"]
        ear.wait(GpuSampled, sum(isinstance(e, GpuSampled) for e in ear.said[:n_before]) + 2)
    warnings = [event for event in ear.said if isinstance(event, LogEmitted)]
    assert len(warnings) == 1
    assert warnings[0].message == "The GPU cannot be sampled: GPU is lost"
    assert nvml.n_open == 0


@pytest.mark.parametrize("uuid", ["a", "somewhere-else"])
def test_no_driver_or_no_such_device_is_told_once(uuid: str) -> None:
    ear, nvml = Ear(), SimulatedNvml(SimulatedGpu("GPU-a"))
    if uuid == "a":
        nvml.init_code = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    with sampler_of(ear, nvml, uuid=uuid):
        ear.wait(LogEmitted)
        time.sleep(0.02)
    assert len(ear.said) == 1
    assert nvml.n_open == 0


def test_nothing_is_read_during_a_capture() -> None:
    ear, nvml, gate = Ear(), SimulatedNvml(SimulatedGpu("GPU-a")), CaptureGate()
    with gate.capturing():
        sampler = sampler_of(ear, nvml, gate)
        sampler.start()
        time.sleep(0.05)
        assert nvml.calls == []
    ear.wait(GpuSampled)
    with gate.capturing():
        n_before = len(nvml.calls)
        time.sleep(0.05)
        assert len(nvml.calls) == n_before
    sampler.stop()


def test_may_be_stopped_during_a_capture_and_started_again() -> None:
    ear, gate = Ear(), CaptureGate()
    sampler = sampler_of(ear, SimulatedNvml(SimulatedGpu("GPU-a")), gate)
    with gate.capturing(), sampler, pytest.raises(RuntimeError, match="already running"):
        sampler.start()
    sampler.stop()
    assert ear.said == []


def test_a_rate_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        GpuSampler(Emitter(Ear()), "a", rate_hz=0.0)
