"""What the machine's processor or GPU is called, found without loading torch."""

import importlib.metadata
import platform
from pathlib import Path


def torch_version() -> str:
    """The installed torch's version, its build included ("2.11.0+cpu")."""
    return importlib.metadata.version("torch")


def device_name(device: str) -> str:
    """The name of the device a ``RunConfig.device`` will mean: a GPU's, or else the processor's."""
    if device == "cpu" or "+cpu" in torch_version():
        return processor_name()
    return _gpu_name(device) or processor_name()


def processor_name() -> str:
    """As the system calls it; the architecture where it says nothing."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine()


def _gpu_name(device: str) -> str | None:
    import pynvml

    _, _, index = device.partition(":")
    try:
        pynvml.nvmlInit()
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(int(index or 0))
            name = pynvml.nvmlDeviceGetName(handle)
        finally:
            pynvml.nvmlShutdown()
    except (pynvml.NVMLError, ValueError):  # no driver, no such device: torch will say so
        return None
    return str(name)
