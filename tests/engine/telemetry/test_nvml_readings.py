import pynvml
import pytest

from engine.telemetry.nvml_device import NvmlDevice
from engine.telemetry.nvml_readings import DeviceGone, read_all, reason_for
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml


def device_of(gpu: SimulatedGpu) -> NvmlDevice:
    return NvmlDevice(gpu.uuid, gpu, gpu)


def test_everything_is_read() -> None:
    gpu = SimulatedGpu("GPU-a")
    values, missing = read_all(SimulatedNvml(gpu), device_of(gpu))
    assert values == {
        "utilization_pct": 87.0,
        "memory_used_bytes": 20 << 30,
        "memory_total_bytes": 80 << 30,
        "power_mw": 412_000,
        "temperature_c": 54,
        "sm_clock_mhz": 1980,
    }
    assert missing == []


def test_each_reading_has_its_own_state() -> None:
    refusals = {
        "power": pynvml.NVML_ERROR_NO_PERMISSION,
        "memory": pynvml.NVML_ERROR_NOT_SUPPORTED,
        "clock": pynvml.NVML_ERROR_TIMEOUT,
    }
    gpu = SimulatedGpu("GPU-a", refusals=refusals)
    values, missing = read_all(SimulatedNvml(gpu), device_of(gpu))
    assert missing == [
        "memory_used_bytes: not supported",
        "memory_total_bytes: not supported",
        "power_mw: no permission",
        "sm_clock_mhz: error: Timeout",
    ]
    assert {field for field, value in values.items() if value is None} == {
        line.split(":")[0] for line in missing
    }
    assert values["temperature_c"] == 54


def test_of_a_mig_instance_what_is_shared_is_the_whole_gpus() -> None:
    whole = SimulatedGpu("GPU-a")
    refused = dict.fromkeys(("power", "temperature", "clock"), pynvml.NVML_ERROR_NOT_SUPPORTED)
    part = SimulatedGpu("MIG-b", whole=whole, refusals=refused)
    values, missing = read_all(SimulatedNvml(whole), NvmlDevice("MIG-b", part, whole, 3))
    assert values["power_mw"] == 412_000
    assert missing == []


@pytest.mark.parametrize("name", ["GPU_IS_LOST", "UNINITIALIZED", "DRIVER_NOT_LOADED"])
def test_a_lost_device_is_no_missing_reading(name: str) -> None:
    code = getattr(pynvml, f"NVML_ERROR_{name}")
    gpu = SimulatedGpu("GPU-a", refusals={"temperature": code})
    with pytest.raises(DeviceGone):
        read_all(SimulatedNvml(gpu), device_of(gpu))


def test_a_function_the_driver_lacks_is_not_supported() -> None:
    assert reason_for(pynvml, pynvml.NVML_ERROR_FUNCTION_NOT_FOUND, "?") == "not supported"
