"""Puts the parts of a step on the device together, and says what was chosen."""

from collections.abc import Callable

import torch

from engine.device.draft_loop import DraftLoop
from engine.device.graphs import CudaGraphs, GraphBackend, GraphShelf
from engine.device.step import DeviceDrafting, DeviceStep
from engine.device.verification import Verification
from engine.device.warm_up import GraphWarmUp
from engine.drafters.base import Drafter
from engine.drafters.composite import CompositeDrafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.forward import RoleRunner
from engine.kv.pool_attention import GATHER_ONLY, PoolModes, find_modes
from engine.kv.slot_cache import SlotCache
from engine.models.base import CausalModel
from engine.telemetry.spans import SpanRecorder
from engine.wire.config import RunConfig
from engine.wire.events import Event

STRAIGHT_NOTE = "straight-line forward"
"""What a model notes whose attention can read the pool in place."""


def make_device_step(
    config: RunConfig,
    *,
    target: RoleRunner,
    draft: RoleRunner | None,
    drafter: Drafter,
    spans: SpanRecorder,
    say: Callable[[Event], None],
    backend: GraphBackend | None = None,
) -> DeviceStep:
    """A step for models on CUDA. ``backend`` None captures with torch, if ``config`` wants it."""
    device = target.model.device
    if backend is None and config.graphs and device.type == "cuda":
        backend = CudaGraphs(device)
    shelf = GraphShelf(backend, say=say, on_capture=spans.hold_up)
    drafting = None
    model_drafter = drafter.model if isinstance(drafter, CompositeDrafter) else drafter
    if draft is not None and isinstance(model_drafter, DraftModelDrafter):
        loop = DraftLoop(draft, slot_cache(draft), shelf, modes=modes_of(draft), spans=spans)
        drafting = DeviceDrafting(draft, loop, batch=config.batch)
        model_drafter.on_device = drafting
    verification = Verification(
        target, slot_cache(target), shelf, modes=modes_of(target), spans=spans
    )
    return DeviceStep(
        drafter=drafter,
        drafting=drafting,
        verification=verification,
        shelf=shelf,
        spans=spans,
        batch=config.batch,
        n_tokens=target.n_tokens,
        warm_up=GraphWarmUp(
            shelf,
            drafting.loop if drafting is not None else None,
            verification,
            has_host_drafts=not isinstance(drafter, DraftModelDrafter),
            free_bytes=lambda: free_bytes(device),
        ),
    )


def slot_cache(runner: RoleRunner) -> SlotCache:
    """The runner's cache, whose slots functions of fixed tensors address."""
    cache = runner.cache
    assert isinstance(cache, SlotCache), "only a cache addressed by slot can be captured"
    return cache


def modes_of(runner: RoleRunner) -> PoolModes:
    """What attention this role's model can use."""
    return model_modes(runner.model, block_size=slot_cache(runner).block_size)


def model_modes(model: CausalModel, *, block_size: int) -> PoolModes:
    """What attention a model can use over blocks of that size, tried on its device."""
    shapes = set(model.layer_kv_shapes())
    is_straight = STRAIGHT_NOTE in model.notes and len(shapes) == 1
    if model.device.type != "cuda" or not is_straight:
        return GATHER_ONLY
    ((n_kv_heads, head_dim),) = shapes
    return find_modes(
        model.device,
        model.dtype,
        n_heads=model.shape.n_heads,
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        block_size=block_size,
    )


def free_bytes(device: torch.device) -> int | None:
    """Bytes that can be taken on the device now; None on a CPU, where nobody asks."""
    if device.type != "cuda":
        return None
    free, _ = torch.cuda.mem_get_info(device)
    held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(free) + int(held)
