"""Paged against contiguous: memory reserved and not written, and the time of a roll-back as the
context grows. No model runs: the cache of the target's shape is filled with counted positions."""

import time
from collections.abc import Callable
from typing import Any

import torch

from engine.assembly import free_memory
from engine.benchmark.summary import spread
from engine.kv.base import ForwardRow
from engine.kv.block_table import blocks_for
from engine.kv.contiguous_cache import ContiguousCache
from engine.kv.paged_cache import PagedCache
from engine.kv.slot_cache import SlotCache
from engine.models.loading import load_pair
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import ConfigError
from engine.wire.events import Role

CONTEXTS = (64, 256, 1024, 4096, 16384)
SEQUENCE_TOKENS = (50, 101, 170, 251)
"""Lengths of the sequences whose memory is compared."""
N_REPEATS = 200


def run(settings: BenchmarkSettings, *, progress: Callable[[str], None]) -> dict[str, Any]:
    """Both allocations, and for scale what a cache that copies its kept part would take."""
    config = settings.config
    pair = load_pair(config, progress=progress)
    shapes = pair.target.layer_kv_shapes()
    gamma = config.gamma_limit or 4
    reservation = pair.target.context_length
    rows = []
    for context in CONTEXTS:
        progress(f"rolling back at a context of {context}")
        needed = 4 * sum(2 * heads * size for heads, size in shapes) * (context + gamma + 1)
        if 3 * needed > free_memory(torch.device("cpu")):
            raise ConfigError(f"A context of {context} tokens does not fit this machine's memory.")
        n_positions = context + gamma + 1
        caches = {
            "paged_us": _paged(shapes, n_positions, config.block_size),
            "contiguous_us": _contiguous(shapes, n_positions, config.block_size, n_sequences=1),
        }
        times = {name: _roll_back_us(cache, context, gamma) for name, cache in caches.items()}
        times["copying_us"] = _copy_us(shapes, context)
        rows.append({"context_length": context, **times})
    progress("comparing what is reserved with what is written")
    n_positions = len(SEQUENCE_TOKENS) * reservation
    memory = {}
    for name, cache in (
        ("paged", _paged(shapes, n_positions, config.block_size)),
        (
            "contiguous",
            _contiguous(shapes, reservation, config.block_size, n_sequences=len(SEQUENCE_TOKENS)),
        ),
    ):
        for sequence_id, n_tokens in enumerate(SEQUENCE_TOKENS):
            cache.open(sequence_id, n_positions=n_tokens)
            cache.batch([ForwardRow(sequence_id, [0] * n_tokens)], device=torch.device("cpu"))
        occupancy = cache.occupancy()
        memory[name] = {
            "reserved_bytes": occupancy.reserved_bytes,
            "written_bytes": occupancy.written_bytes,
            "unwritten_bytes": occupancy.reserved_bytes - occupancy.written_bytes,
            "unwritten_share": 1.0 - occupancy.written_bytes / occupancy.reserved_bytes,
        }
    return {
        "roll_back": rows,
        "memory": memory,
        "sequence_tokens": list(SEQUENCE_TOKENS),
        "reservation_tokens": reservation,
        "block_size": config.block_size,
        "gamma": gamma,
        "target": pair.target.name,
    }


def _paged(shapes: Any, n_positions: int, block_size: int) -> SlotCache:
    return PagedCache(Role.TARGET, shapes, **_options(n_positions, block_size))


def _contiguous(shapes: Any, n_positions: int, block_size: int, *, n_sequences: int) -> SlotCache:
    n_blocks = blocks_for(n_positions, block_size) * n_sequences
    options = _options(n_blocks * block_size, block_size)
    return ContiguousCache(Role.TARGET, shapes, reservation=n_positions, **options)


def _options(n_positions: int, block_size: int) -> dict[str, Any]:
    return {
        "n_blocks": blocks_for(n_positions, block_size),
        "block_size": block_size,
        "dtype": torch.float32,
        "device": torch.device("cpu"),
        "say": lambda event: None,
    }


def _roll_back_us(cache: SlotCache, context: int, gamma: int) -> dict[str, float]:
    """Write gamma + 1 positions behind ``context``, time taking gamma of them back."""
    device = torch.device("cpu")
    cache.open(0, n_positions=context)
    cache.batch([ForwardRow(0, [0] * context)], device=device)
    cache.settle(0, context, step=0)
    times = []
    for _ in range(N_REPEATS):
        cache.reserve(0, context + gamma + 1)
        cache.batch([ForwardRow(0, [0] * (gamma + 1))], device=device)
        start = time.perf_counter_ns()
        cache.settle(0, context, step=0)
        times.append((time.perf_counter_ns() - start) / 1e3)
    cache.close(0)
    return spread(times)


def _copy_us(shapes: Any, context: int) -> dict[str, float]:
    """What it takes to copy the kept keys and values of every layer, as a cache without slack
    must."""
    tensors = [
        torch.zeros((2, n_kv_heads, context + 1, head_dim)) for n_kv_heads, head_dim in shapes
    ]
    times = []
    for _ in range(max(5, N_REPEATS // 20)):
        start = time.perf_counter_ns()
        kept = [tensor[:, :, :context].clone() for tensor in tensors]
        times.append((time.perf_counter_ns() - start) / 1e3)
        del kept
    return spread(times)
