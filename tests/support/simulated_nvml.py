"""NVML as a machine with GPUs would answer; constants, structures and errors are pynvml's own."""

import ctypes
import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml


@dataclass(eq=False)
class SimulatedGpu:
    """A GPU, or a MIG instance of ``whole``. ``refusals`` maps a function to the NVML return code
    it answers with; ``counters`` are GPM's values by metric, or the code each is refused with."""

    uuid: str
    name: str = "NVIDIA H100 80GB HBM3"
    whole: "SimulatedGpu | None" = None
    gpu_instance_id: int = 0
    instances: list["SimulatedGpu"] = field(default_factory=list)
    has_gpm: bool = True
    refusals: dict[str, int] = field(default_factory=dict)
    counters: dict[int, float] = field(
        default_factory=lambda: {
            pynvml.NVML_GPM_METRIC_SM_UTIL: 41.5,
            pynvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL: 12.25,
            pynvml.NVML_GPM_METRIC_DRAM_BW_UTIL: 100.02,
        }
    )
    counter_codes: dict[int, int] = field(default_factory=dict)


class SimulatedNvml:
    """Stands for the module ``pynvml``. ``n_open`` counts inits without shutdown, ``n_samples`` GPM
    samples that were not given back, ``calls`` every device function in order. ``pairs`` are the
    seconds between the samples of each pair that counters were asked of; where they are no more
    than ``too_short_s`` the counters are no numbers, as on a real device. Time is ``now_s``, which
    is moved by hand."""

    def __init__(self, *gpus: SimulatedGpu, too_short_s: float = -1.0) -> None:
        self.gpus = list(gpus)
        self.now_s = 0.0
        self.too_short_s = too_short_s
        self.pairs: list[float] = []
        self._taken_s: dict[int | None, float] = {}  # by the address of the sample
        self._n_allocated = 0
        self.n_open = 0
        self.n_samples = 0
        self.calls: list[str] = []
        self.init_code = pynvml.NVML_SUCCESS  # what nvmlInit answers

    def __getattr__(self, name: str) -> Any:
        return getattr(pynvml, name)

    def _answer(self, function: str, gpu: SimulatedGpu) -> None:
        self.calls.append(function)
        code = gpu.refusals.get(function, pynvml.NVML_SUCCESS)
        if code != pynvml.NVML_SUCCESS:
            raise pynvml.NVMLError(code)

    def nvmlInit(self) -> None:
        if self.init_code != pynvml.NVML_SUCCESS:
            raise pynvml.NVMLError(self.init_code)
        self.n_open += 1

    def nvmlShutdown(self) -> None:
        self.n_open -= 1

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> SimulatedGpu:
        if index >= len(self.gpus):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        return self.gpus[index]

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> SimulatedGpu:
        for gpu in self.gpus:
            for handle in (gpu, *gpu.instances):
                if handle.uuid == uuid:
                    return handle
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)

    def nvmlDeviceGetUUID(self, handle: SimulatedGpu) -> str:
        return handle.uuid

    def nvmlDeviceGetName(self, handle: SimulatedGpu) -> str:
        return handle.name

    # --- MIG -------------------------------------------------------------------------------------

    def nvmlDeviceGetMaxMigDeviceCount(self, handle: SimulatedGpu) -> int:
        if not handle.instances:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, handle: SimulatedGpu, index: int) -> SimulatedGpu:
        if index >= len(handle.instances):
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return handle.instances[index]

    def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(self, handle: SimulatedGpu) -> SimulatedGpu:
        assert handle.whole is not None
        return handle.whole

    def nvmlDeviceGetGpuInstanceId(self, handle: SimulatedGpu) -> int:
        return handle.gpu_instance_id

    # --- readings --------------------------------------------------------------------------------

    def nvmlDeviceGetUtilizationRates(self, handle: SimulatedGpu) -> Any:
        self._answer("utilization", handle)
        return SimpleNamespace(gpu=87, memory=60)

    def nvmlDeviceGetMemoryInfo(self, handle: SimulatedGpu) -> Any:
        self._answer("memory", handle)
        return SimpleNamespace(used=20 << 30, total=80 << 30)

    def nvmlDeviceGetPowerUsage(self, handle: SimulatedGpu) -> int:
        self._answer("power", handle)
        return 412_000

    def nvmlDeviceGetTemperature(self, handle: SimulatedGpu, sensor: int) -> int:
        self._answer("temperature", handle)
        assert sensor == pynvml.NVML_TEMPERATURE_GPU
        return 54

    def nvmlDeviceGetClockInfo(self, handle: SimulatedGpu, clock: int) -> int:
        self._answer("clock", handle)
        assert clock == pynvml.NVML_CLOCK_SM
        return 1980

    # --- GPM -------------------------------------------------------------------------------------

    def nvmlGpmQueryDeviceSupport(self, handle: SimulatedGpu) -> Any:
        self._answer("gpm support", handle)
        return SimpleNamespace(isSupportedDevice=int(handle.has_gpm))

    def nvmlGpmSampleAlloc(self) -> Any:
        self.n_samples += 1
        self._n_allocated += 1
        return ctypes.cast(self._n_allocated, pynvml.c_nvmlGpmSample_t)

    def nvmlGpmSampleFree(self, sample: Any) -> None:
        self.n_samples -= 1

    def nvmlGpmSampleGet(self, handle: SimulatedGpu, sample: Any) -> Any:
        self._answer("gpm sample", handle)
        self._taken_s[_address(sample)] = self.now_s
        return sample

    def nvmlGpmMigSampleGet(self, handle: SimulatedGpu, instance: int, sample: Any) -> Any:
        self._answer(f"gpm sample of instance {instance}", handle)
        self._taken_s[_address(sample)] = self.now_s
        return sample

    def nvmlGpmMetricsGet(self, asked: Any) -> Any:
        (gpu,) = self.gpus
        self._answer("gpm metrics", gpu)
        assert asked.version == pynvml.NVML_GPM_METRICS_GET_VERSION
        older_s, newer_s = (self._taken_s[_address(s)] for s in (asked.sample1, asked.sample2))
        assert older_s <= newer_s
        self.pairs.append(newer_s - older_s)
        for metric in asked.metrics[: asked.numMetrics]:
            metric.nvmlReturn = gpu.counter_codes.get(metric.metricId, pynvml.NVML_SUCCESS)
            is_long_enough = newer_s - older_s > self.too_short_s
            metric.value = gpu.counters[metric.metricId] if is_long_enough else math.nan
        return asked


def _address(sample: Any) -> int | None:
    return ctypes.cast(sample, ctypes.c_void_p).value
