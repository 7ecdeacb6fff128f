"""What the machine's processor or GPU is called, found without loading torch."""

import importlib.metadata
import os
from typing import Any

from engine.telemetry.nvml_device import NoSuchDevice, find_by_entry
from engine.telemetry.visible_devices import VARIABLE, is_in_bus_order, visible_entry
from engine.theory.host_peaks import processor_name

UNKNOWN = "CUDA device"


def torch_version() -> str:
    """The installed torch's version, its build included ("2.11.0+cpu")."""
    return importlib.metadata.version("torch")


def device_name(device: str) -> str:
    """The name of the device a ``RunConfig.device`` will mean: a GPU's, or else the processor's. A
    device of CUDA that was asked for and that NVML cannot tell of is not the processor: its peaks
    are other ones. Of "auto" it is not known before torch is loaded, and taken for the processor.
    """
    if device == "cpu" or "+cpu" in torch_version():
        return processor_name()
    return _gpu_name(device) or (processor_name() if device == "auto" else UNKNOWN)


def _gpu_name(device: str) -> str | None:
    """As NVML calls what CUDA will show under that number; None where that is not to be known."""
    import pynvml

    _, _, number = device.partition(":")
    try:
        index = int(number or 0)
        entry = visible_entry(index, os.environ.get(VARIABLE))
        if entry is None:  # hidden from CUDA: torch will say so
            return None
        pynvml.nvmlInit()
        try:
            if isinstance(entry, int) and not is_in_bus_order():
                return _one_of(pynvml, entry)
            return str(pynvml.nvmlDeviceGetName(find_by_entry(pynvml, entry).handle))
        finally:
            pynvml.nvmlShutdown()
    except (pynvml.NVMLError, NoSuchDevice, ValueError):  # no driver, no such device
        return None


def _one_of(nvml: Any, number: int) -> str | None:
    """The name all GPUs have. Where they differ, CUDA's fastest-first numbers are not NVML's, and
    which one it is shows only when torch has been loaded: then all of their names."""
    handles = [
        nvml.nvmlDeviceGetHandleByIndex(index) for index in range(int(nvml.nvmlDeviceGetCount()))
    ]
    names = dict.fromkeys(str(nvml.nvmlDeviceGetName(handle)) for handle in handles)
    return " or ".join(names) if number < len(handles) else None
