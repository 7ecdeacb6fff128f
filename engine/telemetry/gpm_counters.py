"""Hardware counters of Hopper and later through NVML's GPM: how busy SMs, tensor cores and memory
were between two samples."""

import math
import time
from collections.abc import Callable
from typing import Any

from engine.telemetry.nvml_device import NvmlDevice
from engine.telemetry.nvml_readings import (
    NO_PERMISSION,
    NOT_SUPPORTED,
    DeviceGone,
    Values,
    raise_if_gone,
    reason_for,
)

METRICS = {  # field of GpuSampled -> metric of NVML; all in per cent of what is possible
    "sm_active_pct": "SM_UTIL",
    "tensor_active_pct": "ANY_TENSOR_UTIL",
    "dram_active_pct": "DRAM_BW_UTIL",
}
SHORTEST_S = 0.12
"""Between the two samples of a reading, at least: of samples that are 100 ms apart or less NVML
makes what it made before, or no number."""

PROBE_S = 0.15
"""Between the two samples of the probe."""

RETRY_S = 5.0
"""After a probe that gave nothing, though it may yet: how long until the next."""

NOT_YET = "not measured yet"
_FINAL = (NOT_SUPPORTED, NO_PERMISSION)


class GpmCounters:
    """Samples of the hardware's counters, taken in turn; a reading is of the time between two.

    A device may say that it supports GPM and still give nothing (no permission, MIG, a driver too
    old), so two real samples are taken first. What is refused then is not asked for again; a probe
    that fails otherwise, or gives no number, is repeated every ``RETRY_S``, by ``read``.

    Attributes:
        reasons: why there is no reading now, for each field that has none.
    """

    def __init__(
        self,
        nvml: Any,
        device: NvmlDevice,
        *,
        pause: Callable[[float], object] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Probe ``device``; ``pause`` waits between the two samples.

        Args:
            clock: seconds, from any beginning.

        Raises:
            DeviceGone: the device or its driver is not there any more.
        """
        self._nvml = nvml
        self._device = device
        self._clock = clock
        self._samples: list[Any] = []  # the last one taken, and one to be taken; none: no probe yet
        self._values: Values = {}
        self.reasons: dict[str, str] = dict.fromkeys(METRICS, NOT_YET)
        self._has_read = False  # any counter, ever
        self._due_s = clock()  # when the next sample may be taken; infinity: never
        try:
            self._advance()
            if self._samples:
                pause(PROBE_S)
                self._advance()
        except DeviceGone:
            self.close()
            raise

    def read(self) -> tuple[Values, list[str]]:
        """Per cent of a stretch of at least ``SHORTEST_S``, and "field: reason" for each that is
        missing. The stretch ends now, and began with the reading before (or the probe); where that
        is too short a time ago, the reading before is given again.

        Raises: as the constructor.
        """
        self._advance()
        return (
            {field: self._values.get(field) for field in METRICS},
            [f"{field}: {reason}" for field, reason in self.reasons.items()],
        )

    def close(self) -> None:
        """Give the samples back; may be called again. Nothing is measured any more."""
        self._due_s = math.inf
        self._give_back()

    def _advance(self) -> None:
        """Take the sample that is due, if one is."""
        if self._clock() < self._due_s:
            return
        try:
            if self._samples:
                self._measure()
            else:
                self._begin()
        except self._nvml.NVMLError as error:
            raise_if_gone(self._nvml, error)
            reason = reason_for(self._nvml, error.value, str(error))
            self._values, self.reasons = {}, dict.fromkeys(METRICS, reason)
        if not self._has_read and self._is_refused():
            self._give_back()
            is_final = all(reason in _FINAL for reason in self.reasons.values())
            self._due_s = math.inf if is_final else self._clock() + RETRY_S

    def _is_refused(self) -> bool:
        """Whether all counters are missing, and not for want of a second sample."""
        return len(self.reasons) == len(METRICS) and NOT_YET not in self.reasons.values()

    def _begin(self) -> None:
        """The first sample."""
        nvml = self._nvml
        self._values, self.reasons = {}, dict.fromkeys(METRICS, NOT_YET)
        if not nvml.nvmlGpmQueryDeviceSupport(self._device.whole).isSupportedDevice:
            self.reasons = dict.fromkeys(METRICS, NOT_SUPPORTED)
            return
        for _ in range(2):
            self._samples.append(nvml.nvmlGpmSampleAlloc())
        self._take(self._samples[0])
        self._due_s = self._clock() + SHORTEST_S

    def _measure(self) -> None:
        """A further sample, and what was between it and the one before."""
        older, newer = self._samples
        self._take(newer)
        self._samples.reverse()  # not before: a sample that could not be taken is no beginning
        self._due_s = self._clock() + SHORTEST_S
        self._values, self.reasons = self._between(older, newer)
        self._has_read |= bool(self._values)

    def _take(self, sample: Any) -> None:
        nvml, device = self._nvml, self._device
        if device.gpu_instance_id is None:
            nvml.nvmlGpmSampleGet(device.handle, sample)
        else:
            nvml.nvmlGpmMigSampleGet(device.whole, device.gpu_instance_id, sample)

    def _between(self, older: Any, newer: Any) -> tuple[Values, dict[str, str]]:
        """Values of the time between two samples, and the reasons of those that are none."""
        nvml = self._nvml
        asked = nvml.c_nvmlGpmMetricsGet_t()
        asked.version = nvml.NVML_GPM_METRICS_GET_VERSION
        asked.sample1, asked.sample2 = older, newer
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

    def _give_back(self) -> None:
        while self._samples:
            sample = self._samples.pop()
            try:
                self._nvml.nvmlGpmSampleFree(sample)
            except self._nvml.NVMLError:  # with the driver gone there is nothing to give back
                continue
