"""Rows of the device: kernels and copies with their launches, and sampled readings."""

import re

from engine.wire.events import GpuSampled
from sessions.export.facts import ExportFacts
from sessions.export.kernels import Kernel
from sessions.export.nsys_sqlite_file import VM_ID, NsysFile
from sessions.export.nsys_sqlite_schema import COPY_KINDS, MEMORY_KINDS, UNKNOWN_MEMORY

DEVICE_ID = 0
CONTEXT_ID = 1
NULL_STREAM_ID = 7
"""The number CUPTI gives the default stream of the first context."""

METRICS = {  # name -> field of GpuSampled
    # The hardware's own counters, under the names readers know them by.
    "SMs Active [Throughput %]": "sm_active_pct",
    "Tensor Active [Throughput %]": "tensor_active_pct",
    # Read and write together, which no name that readers know means.
    "GPM DRAM Active [%]": "dram_active_pct",
    # What the driver reports is not what the counters measure: names of its own.
    "NVML GPU Utilization [%]": "utilization_pct",
    "NVML Memory Used [bytes]": "memory_used_bytes",
    "NVML Power [mW]": "power_mw",
    "NVML Temperature [C]": "temperature_c",
    "NVML SM Clock [MHz]": "sm_clock_mhz",
}

_SOURCE_ID = VM_ID | 1 << 32
_SAMPLED = 1 << 8
_HEAD = (
    "start", "end", "deviceId", "contextId", "greenContextId", "streamId", "correlationId",
    "globalPid",
)  # fmt: skip
_UNKNOWN = (
    "registersPerThread", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ",
    "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread", "localMemoryTotal",
)  # fmt: skip
_COPY = re.compile(r"Memcpy (\w+)(?: \((\w+) -> (\w+)\))?")


class KernelRows:
    """Writes each kernel or copy and the call that launched it, joined by a correlation id.

    What was not recorded (grid, registers, bytes) is 0, as the columns allow no NULL. A launch
    takes no time. Launches outside all spans are on a thread of their own, which has no ranges.
    """

    def __init__(self, file: NsysFile) -> None:
        self._file = file
        kernel = (*_HEAD, "demangledName", "shortName", "launchType", *_UNKNOWN, "gridId")
        copy = (*_HEAD, "bytes", "copyKind", "srcKind", "dstKind")
        launch = (
            "start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue",
        )  # fmt: skip
        prefix = "CUPTI_ACTIVITY_KIND_"
        self._kernel = file.statement(f"{prefix}KERNEL", kernel)
        self._copy = file.statement(f"{prefix}MEMCPY", copy)
        self._set = file.statement(f"{prefix}MEMSET", (*_HEAD, "value", "bytes", "memKind"))
        self._launch = file.statement(f"{prefix}RUNTIME", launch)
        self._short_names: dict[str, str] = {}
        self._has_outsiders = False
        self.streams: set[int] = set()
        self.n_written = 0
        self.last_ns = 0

    def add(self, kernel: Kernel) -> None:
        file = self._file
        self.n_written += 1
        correlation_id = self.n_written
        end_ns = max(kernel.end_ns, kernel.start_ns + 1)  # readers refuse what takes no time
        self.last_ns = max(self.last_ns, end_ns)
        self.streams.add(kernel.stream)
        head = (
            kernel.start_ns, end_ns, DEVICE_ID, CONTEXT_ID, 0, kernel.stream, correlation_id,
            file.global_pid,
        )  # fmt: skip
        name = kernel.name
        if match := _COPY.match(name):
            call = "cudaMemcpyAsync_v3020"
            kinds = [MEMORY_KINDS.get(match[side], UNKNOWN_MEMORY) for side in (2, 3)]
            file.add(self._copy, (*head, 0, COPY_KINDS.get(match[1], 0), *kinds))
        elif name.startswith("Memset"):
            call = "cudaMemsetAsync_v3020"
            file.add(self._set, (*head, 0, 0, UNKNOWN_MEMORY))
        else:
            call = "cudaLaunchKernel_v7000"
            names = file.string_id(name), file.string_id(self._short_name(name))
            file.add(self._kernel, (*head, *names, 1, *(0,) * len(_UNKNOWN), correlation_id))
        thread = file.global_tid
        if kernel.span_name is None:
            self._has_outsiders = True
            thread += 1
        at = kernel.launch_ns
        file.add(self._launch, (at, at, 0, thread, correlation_id, file.string_id(call), 0))

    def describe(self, facts: ExportFacts) -> None:
        """The device, its context and its streams, where there is one."""
        file, pid = self._file, self._file.process_id
        if self._has_outsiders:
            name_id = file.string_id("launches outside all spans")
            file.add_named(
                "ThreadNames", nameId=name_id, priority=20, globalTid=file.global_tid + 1
            )
        name = facts.started.device_name if facts.started else ""
        gpus = list(facts.gpus.values())
        for index in range(len(gpus) or bool(self.n_written)):
            uuid = gpus[index].uuid if gpus else None
            memory = gpus[index].total_memory_bytes if gpus else None
            file.add_named(
                "TARGET_INFO_GPU",
                vmId=VM_ID, id=index, name=name, totalMemory=memory, uuid=uuid, cuDevice=index,
                busLocation="",
            )  # fmt: skip
            file.add_named("TARGET_INFO_CUDA_DEVICE", gpuId=index, cudaId=index, pid=pid, uuid=uuid)
        if not self.n_written:
            return
        file.add_named(
            "TARGET_INFO_CUDA_CONTEXT_INFO",
            nullStreamId=NULL_STREAM_ID, hwId=0, vmId=1, processId=pid, deviceId=DEVICE_ID,
            contextId=CONTEXT_ID, parentContextId=0, isGreenContext=0,
        )  # fmt: skip
        for stream in sorted(self.streams):
            file.add_named(
                "TARGET_INFO_CUDA_STREAM",
                streamId=stream, hwId=0, vmId=1, processId=pid, contextId=CONTEXT_ID, priority=0,
                flag=3 if stream == NULL_STREAM_ID else 0,
            )  # fmt: skip

    def _short_name(self, name: str) -> str:
        known = self._short_names.get(name)
        if known is None:
            known = self._short_names[name] = short_name(name)
        return known


class MetricRows:
    """Writes one row per reading that is there; shares in whole per cent, as readers expect."""

    def __init__(self, file: NsysFile) -> None:
        self._file = file
        columns = ("rawTimestamp", "timestamp", "typeId", "metricId", "value")
        self._statement = file.statement("GPU_METRICS", columns)
        self._type_ids: dict[str, int] = {}

    def add(self, event: GpuSampled) -> None:
        known = self._type_ids
        type_id = known.setdefault(event.device_uuid, VM_ID | 1 << 32 | _SAMPLED | len(known))
        for metric_id, name in enumerate(METRICS.values()):
            value = getattr(event, name)
            if value is not None:
                row = (event.t_ns, event.t_ns, type_id, metric_id, round(value))
                self._file.add(self._statement, row)

    def describe(self) -> None:
        for type_id in self._type_ids.values():
            for metric_id, name in enumerate(METRICS):
                self._file.add_named(
                    "TARGET_INFO_GPU_METRICS",
                    typeId=type_id, sourceId=_SOURCE_ID, typeName="GPU readings by SpecScope",
                    metricId=metric_id, metricName=name,
                )  # fmt: skip


def short_name(demangled: str) -> str:
    """The function's own name: ``void a::b<int>(float*)`` is ``b``."""
    depth = 0
    head = ""
    for letter in demangled.replace("(anonymous namespace)::", ""):
        if letter == "(" and depth == 0:
            break
        depth += (letter == "<") - (letter == ">")
        if depth == 0 and letter != ">":
            head += letter
    return re.split(r"::|\s", head.strip())[-1] or demangled
