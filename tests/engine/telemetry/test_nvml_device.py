import pynvml
import pytest
import torch

from engine.telemetry.nvml_device import (
    NoSuchDevice,
    cuda_uuid,
    find_by_cuda_uuid,
    find_by_entry,
)
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml


def machine() -> SimulatedNvml:
    """Two GPUs; the second is cut into two instances."""
    first, second = SimulatedGpu("GPU-aaaa-1"), SimulatedGpu("GPU-aabb-2")
    second.instances = [
        SimulatedGpu("MIG-cccc-3", whole=second, gpu_instance_id=7),
        SimulatedGpu("MIG-cddd-4", whole=second, gpu_instance_id=9),
    ]
    return SimulatedNvml(first, second)


def test_a_gpu_is_found_by_what_cuda_calls_it() -> None:
    device = find_by_cuda_uuid(machine(), "aabb-2")
    assert (device.uuid, device.gpu_instance_id) == ("GPU-aabb-2", None)
    assert device.handle is device.whole


def test_a_mig_instance_is_found_with_its_gpu() -> None:
    nvml = machine()
    device = find_by_cuda_uuid(nvml, "cddd-4")
    assert (device.uuid, device.gpu_instance_id) == ("MIG-cddd-4", 9)
    assert device.handle is nvml.gpus[1].instances[1]
    assert device.whole is nvml.gpus[1]


def test_an_unknown_device() -> None:
    with pytest.raises(NoSuchDevice, match="NVML knows no device eeee"):
        find_by_cuda_uuid(machine(), "eeee")


def test_a_driver_error_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    nvml = machine()

    def lost(uuid: str) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)

    monkeypatch.setattr(nvml, "nvmlDeviceGetHandleByUUID", lost)
    with pytest.raises(pynvml.NVMLError):
        find_by_cuda_uuid(nvml, "aabb-2")


@pytest.mark.parametrize(
    ("entry", "uuid"),
    [
        (0, "GPU-aaaa-1"),
        (1, "GPU-aabb-2"),
        ("GPU-aab", "GPU-aabb-2"),
        ("MIG-cc", "MIG-cccc-3"),
        ("MIG-cddd-4", "MIG-cddd-4"),
        ("MIG-GPU-aabb-2/9/0", "MIG-GPU-aabb-2/9/0"),
    ],
)
def test_an_entry_names_a_device(entry: int | str, uuid: str) -> None:
    assert find_by_entry(machine(), entry).uuid == uuid


@pytest.mark.parametrize("entry", [2, "GPU-aa", "GPU-b", "MIG-e", "MIG-GPU-aabb-2/8/0"])
def test_an_entry_that_names_none_or_several(entry: int | str) -> None:
    with pytest.raises(NoSuchDevice):
        find_by_entry(machine(), entry)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_the_device_torch_uses_is_known_to_nvml() -> None:
    uuid = cuda_uuid(torch.device("cuda", 0))
    assert len(uuid) == 36
    pynvml.nvmlInit()
    try:
        assert find_by_cuda_uuid(pynvml, uuid).uuid.endswith(uuid)
    finally:
        pynvml.nvmlShutdown()
