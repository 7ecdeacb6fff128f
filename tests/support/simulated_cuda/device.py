"""A CUDA device that is not there: its numbers are computed by the CPU, its rules are kept.

Within ``simulated_cuda()`` torch sees one device. Tensors on it say so, functions that mix them
with tensors of the host fail, what waits for the device is counted and can be forbidden, pinned
memory must keep still until it was copied, and a graph plays the operators that were recorded, on
the tensors they were recorded with: whatever else the captured function read was read for good.
Nothing is asynchronous and no time means anything.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from engine.kv import pool_attention
from engine.kv.pool_attention import forget_modes
from tests.support.simulated_cuda.flash_attention import KERNELS, flash_attention
from tests.support.simulated_cuda.graphs import Capture, SimulatedGraph
from tests.support.simulated_cuda.rules import Rules
from tests.support.simulated_cuda.tensors import RULES, OnDevice

TOTAL_BYTES = 80 * 2**30


class SimulatedStream:
    """In place of ``torch.cuda.Stream``; all of them run at once."""

    def wait_stream(self, other: Any) -> None: ...

    def synchronize(self) -> None:
        RULES.wait("a stream")


class SimulatedEvent:
    """In place of ``torch.cuda.Event``, on the host's clock."""

    def __init__(self, *, enable_timing: bool = False) -> None:
        self._time_ns = 0

    def record(self) -> None:
        self._time_ns = time.perf_counter_ns()

    def synchronize(self) -> None:
        """Waits for what is done already: it is called behind the host's own wait."""

    def elapsed_time(self, end: "SimulatedEvent") -> float:
        return (end._time_ns - self._time_ns) / 1e6


PROPERTIES = SimpleNamespace(
    name="Simulated GPU",
    uuid="00000000-0000-0000-0000-000000000000",
    total_memory=TOTAL_BYTES,
    multi_processor_count=132,
    major=9,
    minor=0,
)


def _refuse_waits(mode: str) -> None:
    RULES.are_waits_refused = mode == "error"


_REPLACED: dict[str, Any] = {
    "is_available": lambda: True,
    "is_initialized": lambda: True,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "set_device": lambda device: None,
    "device": lambda device: nullcontext(),
    "get_device_properties": lambda device=None: PROPERTIES,
    "get_device_name": lambda device=None: PROPERTIES.name,
    "get_device_capability": lambda device=None: (PROPERTIES.major, PROPERTIES.minor),
    "Stream": SimulatedStream,
    "stream": lambda stream: nullcontext(),
    "current_stream": lambda device=None: SimulatedStream(),
    "Event": SimulatedEvent,
    "CUDAGraph": SimulatedGraph,
    "graph": Capture,
    "graph_pool_handle": lambda: (0, 1),
    "synchronize": lambda device=None: RULES.wait("the device"),
    "set_sync_debug_mode": _refuse_waits,
    "empty_cache": lambda: None,
    "mem_get_info": lambda device=None: (TOTAL_BYTES, TOTAL_BYTES),
    "memory_allocated": lambda device=None: 0,
    "memory_reserved": lambda device=None: 0,
    "_sleep": lambda cycles: None,
}


@contextmanager
def simulated_cuda() -> Iterator[Rules]:
    """Torch sees the device, in this thread. What was made on it is worth nothing afterwards."""
    forget_modes()
    with pytest.MonkeyPatch.context() as patch:
        for name, replacement in _REPLACED.items():
            patch.setattr(torch.cuda, name, replacement)
        patch.setattr(pool_attention, "_operator", lambda: flash_attention)
        # A parameter that is moved becomes another kind of tensor.
        patch.setattr(torch.__future__, "_overwrite_module_params_on_conversion", True)
        with OnDevice():
            yield RULES
    forget_modes()
    KERNELS.restore()
    RULES.forget()
