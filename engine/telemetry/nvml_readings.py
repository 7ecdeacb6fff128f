"""One reading each of what NVML tells of a GPU: its value, or why there is none."""

from collections.abc import Callable
from typing import Any

from engine.telemetry.nvml_device import NvmlDevice

Values = dict[str, float | int | None]
"""By the names of ``GpuSampled``'s fields; None where there is no reading."""

NOT_SUPPORTED = "not supported"
NO_PERMISSION = "no permission"

_GONE = (
    "UNINITIALIZED",
    "DRIVER_NOT_LOADED",
    "LIBRARY_NOT_FOUND",
    "GPU_IS_LOST",
    "RESET_REQUIRED",
    "LIB_RM_VERSION_MISMATCH",  # the driver was replaced while this ran
    "IRQ_ISSUE",
)


class DeviceGone(RuntimeError):
    """The device or its driver answers nothing any more; the message is NVML's."""


def reason_for(nvml: Any, code: int, text: str) -> str:
    """In words what an NVML return code says of one reading."""
    if code in (nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_FUNCTION_NOT_FOUND):
        return NOT_SUPPORTED
    if code == nvml.NVML_ERROR_NO_PERMISSION:
        return NO_PERMISSION
    return f"error: {text}"


def raise_if_gone(nvml: Any, error: Any) -> None:
    """Raise DeviceGone where ``error`` is about the whole device and not about one reading."""
    if error.value in {getattr(nvml, f"NVML_ERROR_{name}") for name in _GONE}:
        raise DeviceGone(str(error)) from error


def read_all(nvml: Any, device: NvmlDevice) -> tuple[Values, list[str]]:
    """Every reading by its field, and "field: reason" for each that is missing.

    Raises:
        DeviceGone: nothing more will come of this device until its driver is back.
    """
    values: Values = {}
    missing: list[str] = []
    for fields, read in _READINGS:
        try:
            readings = read(nvml, device)
        except nvml.NVMLError as error:
            raise_if_gone(nvml, error)
            readings = (None,) * len(fields)
            reason = reason_for(nvml, error.value, str(error))
            missing += [f"{field}: {reason}" for field in fields]
        values.update(zip(fields, readings, strict=True))
    return values, missing


def _utilization(nvml: Any, device: NvmlDevice) -> tuple[float]:
    return (float(nvml.nvmlDeviceGetUtilizationRates(device.handle).gpu),)


def _memory(nvml: Any, device: NvmlDevice) -> tuple[int, int]:
    memory = nvml.nvmlDeviceGetMemoryInfo(device.handle)
    return int(memory.used), int(memory.total)


def _power(nvml: Any, device: NvmlDevice) -> tuple[int]:
    return (int(nvml.nvmlDeviceGetPowerUsage(device.whole)),)  # milliwatts


def _temperature(nvml: Any, device: NvmlDevice) -> tuple[int]:
    return (int(nvml.nvmlDeviceGetTemperature(device.whole, nvml.NVML_TEMPERATURE_GPU)),)


def _clock(nvml: Any, device: NvmlDevice) -> tuple[int]:
    return (int(nvml.nvmlDeviceGetClockInfo(device.whole, nvml.NVML_CLOCK_SM)),)  # MHz


_READINGS: tuple[tuple[tuple[str, ...], Callable[[Any, NvmlDevice], tuple[Any, ...]]], ...] = (
    (("utilization_pct",), _utilization),
    (("memory_used_bytes", "memory_total_bytes"), _memory),
    (("power_mw",), _power),
    (("temperature_c",), _temperature),
    (("sm_clock_mhz",), _clock),
)
