"""Hardware counters of Hopper and later through NVML's GPM: how busy SMs, tensor cores and memory
were between two samples."""

import math
import time
from collections.abc import Callable
from typing import Any

from engine.telemetry.nvml_device import NvmlDevice
from engine.telemetry.nvml_readings import NOT_SUPPORTED, Values, raise_if_gone, reason_for

METRICS = {  # field of GpuSampled -> metric of NVML; all in per cent of what is possible
    "sm_active_pct": "SM_UTIL",
    "tensor_active_pct": "ANY_TENSOR_UTIL",
    "dram_active_pct": "DRAM_BW_UTIL",
}
PROBE_S = 0.1
"""Between the two samples of the probe; counters of shorter stretches are refused by some
drivers."""


class GpmCounters:
    """Two samples of the hardware's counters, taken in turn; a reading is of the time between.

    A device may say that it supports GPM and still give nothing (no permission, MIG, a driver too
    old), so two real samples are taken first: ``reasons`` says for each field that will never be
    there why that is so.
    """

    def __init__(
        self, nvml: Any, device: NvmlDevice, *, pause: Callable[[float], object] = time.sleep
    ) -> None:
        """Probe ``device``; ``pause`` waits between the two samples.

        Raises:
            DeviceGone: the device or its driver is not there any more.
        """
        self._nvml = nvml
        self._device = device
        self._samples: list[Any] = []  # older, newer
        self.reasons: dict[str, str] = {}
        try:
            if not nvml.nvmlGpmQueryDeviceSupport(device.whole).isSupportedDevice:
                self.reasons = dict.fromkeys(METRICS, NOT_SUPPORTED)
                return
            for _ in range(2):
                self._samples.append(nvml.nvmlGpmSampleAlloc())
            self._take(self._samples[0])
            pause(PROBE_S)
            self._take(self._samples[1])
            _, self.reasons = self._between()
        except nvml.NVMLError as error:
            self.close()
            raise_if_gone(nvml, error)
            reason = reason_for(nvml, error.value, str(error))
            self.reasons = dict.fromkeys(METRICS, reason)

    @property
    def is_available(self) -> bool:
        """Whether any counter can be read."""
        return len(self.reasons) < len(METRICS)

    def read(self) -> tuple[Values, list[str]]:
        """Per cent since the reading before (or since the probe), and "field: reason" for each
        that is missing.

        Raises: as the constructor.
        """
        reasons = dict(self.reasons)
        values: Values = {}
        if self.is_available:
            self._samples.reverse()
            try:
                self._take(self._samples[1])
                values, reasons = self._between()
            except self._nvml.NVMLError as error:
                raise_if_gone(self._nvml, error)
                reason = reason_for(self._nvml, error.value, str(error))
                reasons = dict.fromkeys(METRICS, reason)
        return (
            {field: values.get(field) for field in METRICS},
            [f"{field}: {reason}" for field, reason in reasons.items()],
        )

    def close(self) -> None:
        """Give the samples back; may be called again."""
        while self._samples:
            sample = self._samples.pop()
            try:
                self._nvml.nvmlGpmSampleFree(sample)
            except self._nvml.NVMLError:  # with the driver gone there is nothing to give back
                continue

    def _take(self, sample: Any) -> None:
        nvml, device = self._nvml, self._device
        if device.gpu_instance_id is None:
            nvml.nvmlGpmSampleGet(device.handle, sample)
        else:
            nvml.nvmlGpmMigSampleGet(device.whole, device.gpu_instance_id, sample)

    def _between(self) -> tuple[Values, dict[str, str]]:
        """Values of the time between the two samples, and the reasons of those that are none."""
        nvml = self._nvml
        asked = nvml.c_nvmlGpmMetricsGet_t()
        asked.version = nvml.NVML_GPM_METRICS_GET_VERSION
        asked.sample1, asked.sample2 = self._samples
        asked.numMetrics = len(METRICS)
        for place, name in enumerate(METRICS.values()):
            asked.metrics[place].metricId = getattr(nvml, f"NVML_GPM_METRIC_{name}")
        nvml.nvmlGpmMetricsGet(asked)
        values: Values = {}
        reasons: dict[str, str] = {}
        for place, field in enumerate(METRICS):
            metric = asked.metrics[place]
            code, value = int(metric.nvmlReturn), float(metric.value)
            if code != nvml.NVML_SUCCESS:
                reasons[field] = reason_for(nvml, code, f"NVML returned {code}")
            elif not math.isfinite(value) or value < 0:
                reasons[field] = f"error: the counter reads {value}"
            else:
                values[field] = min(100.0, value)  # rounding may go a little above
        return values, reasons
