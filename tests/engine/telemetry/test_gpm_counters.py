import math

import pynvml
import pytest

from engine.telemetry.gpm_counters import PROBE_S, GpmCounters
from engine.telemetry.nvml_device import NvmlDevice
from engine.telemetry.nvml_readings import DeviceGone
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml


def counters_of(gpu: SimulatedGpu, nvml: SimulatedNvml | None = None) -> GpmCounters:
    nvml = nvml or SimulatedNvml(gpu)
    return GpmCounters(nvml, NvmlDevice(gpu.uuid, gpu, gpu), pause=lambda seconds: None)


def test_two_samples_are_taken_before_anything_is_promised() -> None:
    gpu = SimulatedGpu("GPU-a")
    nvml = SimulatedNvml(gpu)
    pauses: list[float] = []
    counters = GpmCounters(nvml, NvmlDevice(gpu.uuid, gpu, gpu), pause=pauses.append)
    assert nvml.calls == ["gpm support", "gpm sample", "gpm sample"]
    assert pauses == [PROBE_S]
    assert counters.is_available
    values, missing = counters.read()
    assert values == {"sm_active_pct": 41.5, "tensor_active_pct": 12.25, "dram_active_pct": 100.0}
    assert missing == []
    counters.close()
    counters.close()
    assert nvml.n_samples == 0


def test_a_gpu_before_hopper() -> None:
    counters = counters_of(SimulatedGpu("GPU-a", has_gpm=False))
    assert not counters.is_available
    values, missing = counters.read()
    assert set(values.values()) == {None}
    assert missing == [
        "sm_active_pct: not supported",
        "tensor_active_pct: not supported",
        "dram_active_pct: not supported",
    ]


def test_a_device_that_promises_and_refuses() -> None:
    gpu = SimulatedGpu("GPU-a", refusals={"gpm sample": pynvml.NVML_ERROR_NO_PERMISSION})
    nvml = SimulatedNvml(gpu)
    counters = counters_of(gpu, nvml)
    assert set(counters.reasons.values()) == {"no permission"}
    assert nvml.n_samples == 0, "samples of a probe that failed are given back"
    assert counters.read()[1][0] == "sm_active_pct: no permission"


def test_one_counter_of_three_is_missing() -> None:
    metric = pynvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL
    codes = {metric: pynvml.NVML_ERROR_NOT_SUPPORTED}
    counters = counters_of(SimulatedGpu("GPU-a", counter_codes=codes))
    values, missing = counters.read()
    assert values["tensor_active_pct"] is None
    assert values["sm_active_pct"] == 41.5
    assert missing == ["tensor_active_pct: not supported"]


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_what_is_no_share_is_no_reading(value: float) -> None:
    gpu = SimulatedGpu("GPU-a")
    counters = counters_of(gpu)
    gpu.counters[pynvml.NVML_GPM_METRIC_SM_UTIL] = value
    values, missing = counters.read()
    assert values["sm_active_pct"] is None
    assert missing == [f"sm_active_pct: error: the counter reads {value}"]


def test_a_reading_that_fails_once_is_missing_once() -> None:
    gpu = SimulatedGpu("GPU-a")
    counters = counters_of(gpu)
    gpu.refusals["gpm sample"] = pynvml.NVML_ERROR_TIMEOUT
    assert counters.read()[1][0] == "sm_active_pct: error: Timeout"
    del gpu.refusals["gpm sample"]
    assert counters.read()[1] == []


def test_a_lost_device_is_told() -> None:
    gpu = SimulatedGpu("GPU-a")
    counters = counters_of(gpu)
    gpu.refusals["gpm sample"] = pynvml.NVML_ERROR_GPU_IS_LOST
    with pytest.raises(DeviceGone):
        counters.read()
    with pytest.raises(DeviceGone):
        counters_of(gpu)


def test_a_mig_instance_is_sampled_as_one() -> None:
    whole = SimulatedGpu("GPU-a")
    part = SimulatedGpu("MIG-b", whole=whole, gpu_instance_id=5)
    nvml = SimulatedNvml(whole)
    GpmCounters(nvml, NvmlDevice("MIG-b", part, whole, 5), pause=lambda seconds: None)
    assert nvml.calls[1:] == ["gpm sample of instance 5"] * 2
