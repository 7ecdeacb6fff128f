"""Finds in NVML the device that CUDA decodes on: a GPU, or a MIG instance of one."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class NvmlDevice:
    """``handle`` is the device itself; ``whole`` the GPU it is a part of, which is the same where
    it is no MIG instance: power, temperature and clocks are of a whole GPU."""

    uuid: str
    handle: Any
    whole: Any
    gpu_instance_id: int | None = None  # of a MIG instance


class NoSuchDevice(LookupError):
    """NVML does not know the device; the message is a sentence."""


def cuda_uuid(device: Any) -> str:
    """The UUID of a ``torch.device`` as CUDA tells it: 36 characters, without "GPU-" or "MIG-"."""
    import torch

    return str(torch.cuda.get_device_properties(device).uuid)


def find_by_cuda_uuid(nvml: Any, uuid: str) -> NvmlDevice:
    """The device whose UUID ends in ``uuid``. Numbers are not compared: CUDA's are in an order of
    its own, and count what is visible only.

    Raises:
        NoSuchDevice: NVML has none, a GPU of another driver or container perhaps.
        nvml.NVMLError: NVML itself failed.
    """
    for start in ("GPU-", "MIG-"):
        try:
            handle = nvml.nvmlDeviceGetHandleByUUID(start + uuid)
        except nvml.NVMLError as error:
            if error.value not in (nvml.NVML_ERROR_NOT_FOUND, nvml.NVML_ERROR_INVALID_ARGUMENT):
                raise
        else:
            return _described(nvml, handle, start + uuid)
    raise NoSuchDevice(f"NVML knows no device {uuid}.")


def find_by_entry(nvml: Any, entry: int | str) -> NvmlDevice:
    """The device that an entry of CUDA_VISIBLE_DEVICES names; a number is taken as NVML's.

    Raises: as ``find_by_cuda_uuid``.
    """
    if isinstance(entry, int):
        if entry >= int(nvml.nvmlDeviceGetCount()):
            raise NoSuchDevice(f"There is no GPU {entry}.")
        handle = nvml.nvmlDeviceGetHandleByIndex(entry)
        return NvmlDevice(str(nvml.nvmlDeviceGetUUID(handle)), handle, handle)
    if entry.startswith("MIG-GPU-"):  # of old drivers: MIG-GPU-<UUID>/<GPU instance>/<compute one>
        gpu, *numbers = entry.removeprefix("MIG-").split("/")
        whole = _find_gpu(nvml, gpu)
        for handle in _mig_handles(nvml, whole):
            if numbers and numbers[0] == str(nvml.nvmlDeviceGetGpuInstanceId(handle)):
                return _described(nvml, handle, entry)
        raise NoSuchDevice(f"There is no MIG instance {entry}.")
    if entry.startswith("MIG-"):
        for gpu_handle in _gpu_handles(nvml):
            for handle in _mig_handles(nvml, gpu_handle):
                uuid = str(nvml.nvmlDeviceGetUUID(handle))
                if uuid.startswith(entry):
                    return _described(nvml, handle, uuid)
        raise NoSuchDevice(f"There is no MIG instance {entry}.")
    handle = _find_gpu(nvml, entry)
    return NvmlDevice(str(nvml.nvmlDeviceGetUUID(handle)), handle, handle)


def _described(nvml: Any, handle: Any, uuid: str) -> NvmlDevice:
    if not uuid.startswith("MIG-"):
        return NvmlDevice(uuid, handle, handle)
    whole = nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle)
    instance = int(nvml.nvmlDeviceGetGpuInstanceId(handle))
    return NvmlDevice(uuid, handle, whole, instance)


def _find_gpu(nvml: Any, start: str) -> Any:
    """The one GPU whose UUID begins with ``start``."""
    found = [
        handle
        for handle in _gpu_handles(nvml)
        if str(nvml.nvmlDeviceGetUUID(handle)).startswith(start)
    ]
    if len(found) != 1:
        raise NoSuchDevice(f"{len(found)} GPUs have a UUID that begins with {start}.")
    return found[0]


def _gpu_handles(nvml: Any) -> list[Any]:
    return [
        nvml.nvmlDeviceGetHandleByIndex(index) for index in range(int(nvml.nvmlDeviceGetCount()))
    ]


def _mig_handles(nvml: Any, gpu_handle: Any) -> list[Any]:
    """The instances of a GPU; none where it has no such mode, or has it off."""
    handles = []
    try:
        for index in range(int(nvml.nvmlDeviceGetMaxMigDeviceCount(gpu_handle))):
            try:
                handles.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu_handle, index))
            except nvml.NVMLError as error:
                if error.value != nvml.NVML_ERROR_NOT_FOUND:  # a place that is not taken
                    raise
    except nvml.NVMLError as error:
        absent = (nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_NOT_FOUND)
        if error.value not in absent:
            raise
    return handles
