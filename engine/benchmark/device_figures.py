"""What a pair's forwards cost on a CUDA device, captured and launched kernel by kernel, beside what
the device's memory gives."""

from collections.abc import Callable
from typing import Any

import torch
from msgspec.structs import replace

from engine.assembly import Parts
from engine.benchmark.bandwidth import copy_bytes_per_s
from engine.benchmark.loaded import load
from engine.benchmark.rehearsal import CONTEXT, Rehearsal
from engine.calibration import Calibration
from engine.device.graphs import GraphBackend
from engine.models.loading import Shelf
from engine.telemetry.cuda_timer import CudaTimer
from engine.telemetry.spans import GpuTimer
from engine.wire.config import RunConfig


def run(
    config: RunConfig, *, progress: Callable[[str], None], shelf: Shelf
) -> dict[str, Any] | None:
    """The figures of the pair that ``config`` names, where it is on CUDA; None elsewhere."""
    _, parts = load(config, progress=progress, shelf=shelf)
    device = parts.target.device
    if device.type != "cuda":
        return None
    timer = CudaTimer()
    progress("copying memory")
    bytes_per_s = copy_bytes_per_s(device, timer)
    progress("timing forwards, captured and not")
    return {
        "name": torch.cuda.get_device_name(device),
        "copy_bytes_per_s": bytes_per_s,
        "flash_attention": flash_attention(),
        **forward_figures(config, parts, timer=timer),
    }


def none_because(trace: str) -> dict[str, Any]:
    """What stands for figures that could not be had; ``trace`` is the traceback."""
    last_line = trace.strip().splitlines()[-1]
    return {"why_not_captured": f"The device's figures could not be had: {last_line}"}


def forward_figures(
    config: RunConfig,
    parts: Parts,
    *,
    timer: GpuTimer | None,
    backend: GraphBackend | None = None,
) -> dict[str, Any]:
    """Both ways of running, at ``CONTEXT`` cached tokens. ``captured`` is None where graphs are not
    wanted or cannot be had, and ``why_not_captured`` then says why."""
    eager = Rehearsal(replace(config, graphs=False), parts, timer=timer)
    figures: dict[str, Any] = {
        "context_length": CONTEXT,
        "gamma": eager.gamma,
        "attention": eager.attention,
        "eager": _told(eager.costs()),
        "captured": None,
        "why_not_captured": "",
        "draft_launch_share": None,
        "uncaptured_launch_share": None,
    }
    rehearsal = Rehearsal(config, parts, timer=timer, backend=backend)
    if not rehearsal.is_captured:
        return figures | {"why_not_captured": "The run was told to capture no graphs."}
    costs = rehearsal.costs()
    is_captured, why_not = rehearsal.is_captured, rehearsal.why_not_captured
    rehearsal.close()
    if not is_captured:
        return figures | {"why_not_captured": why_not}
    return figures | {
        "captured": _told(costs),
        "draft_launch_share": costs.draft_launch_share,
        "uncaptured_launch_share": costs.uncaptured_launch_share,
    }


def flash_attention() -> str | None:
    """The package that torch's FlashAttention was replaced by, for all of this process; None for
    torch's own."""
    from torch.nn import attention

    current = getattr(attention, "current_flash_attention_impl", None)
    return None if current is None else current()


def _told(costs: Calibration) -> dict[str, Any]:
    """Nanoseconds; the target's by width, as words, since keys of JSON are."""
    return {
        "draft_forward_ns": costs.draft_forward_ns,
        "target_forward_ns": {
            str(index + 1): ns for index, ns in enumerate(costs.target_forward_ns)
        },
    }
