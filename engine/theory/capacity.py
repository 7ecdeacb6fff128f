"""The budget turned round: how many tokens fit in it, and which GPUs are large enough."""

import math
from dataclasses import dataclass, replace

from engine.theory.devices import KNOWN_DEVICES
from engine.theory.footprint import Footprint, footprint, kv_bytes_per_token
from engine.theory.shape import ModelShape
from engine.theory.validate import require_positive
from engine.theory.workload import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a budget holds on the fullest GPU, all else of the workload kept.

    ``n_tokens_before_buffers`` divides what the weights leave by the bytes of a token and knows
    nothing else; ``n_tokens`` is the room of the whole blocks left after buffers, activations and
    allowances, lookahead included. ``max_context_length`` is for every one of the batch's
    sequences at once, 0 when not even one token fits.
    """

    bytes_per_token: float
    n_tokens_before_buffers: int
    n_blocks: int
    n_tokens: int
    max_context_length: int


def capacity(
    target: ModelShape, draft: ModelShape | None, budget_bytes: float, *, workload: Workload
) -> Capacity:
    """How many tokens fit in ``budget_bytes`` of each GPU; a block holds both models' entries.

    ``workload.context_length`` does not matter here. ValueError: a budget that is not a finite
    number above 0, heads that cannot be shared among the GPUs.
    """
    require_positive("the budget", budget_bytes)
    longest = replace(workload, context_length=workload.prefill_chunk)
    need = footprint(target, draft, longest)
    per_token = kv_bytes_per_token(target, workload.bytes_per_kv, n_gpus=workload.tensor_parallel)
    if draft is not None:
        per_token += kv_bytes_per_token(draft, workload.bytes_per_kv, n_gpus=workload.n_draft_gpus)
    n_weights_bytes = need.target_weights_bytes + need.draft_weights_bytes
    left_bytes = max(0.0, budget_bytes - need.total_bytes + _cache_bytes(need))
    n_blocks = math.floor(left_bytes / (per_token * workload.block_size))
    per_sequence = n_blocks // workload.batch_size * workload.block_size
    return Capacity(
        bytes_per_token=per_token,
        n_tokens_before_buffers=math.floor(max(0.0, budget_bytes - n_weights_bytes) / per_token),
        n_blocks=n_blocks,
        n_tokens=n_blocks * workload.block_size,
        max_context_length=max(0, per_sequence - workload.gamma - 1),
    )


def gpus_that_fit(need: Footprint) -> tuple[str, ...]:
    """Names of the known GPUs whose memory holds ``need`` (per GPU), the smallest first."""
    fitting = [device for device in KNOWN_DEVICES if need.fits(device.memory_bytes or 0)]
    return tuple(device.name for device in sorted(fitting, key=lambda d: d.memory_bytes or 0))


def _cache_bytes(need: Footprint) -> int:
    return need.target_kv_bytes + need.draft_kv_bytes + need.lookahead_kv_bytes
