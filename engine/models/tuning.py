"""Choices made once per model by measuring: packed or plain layers, one CPU thread or all."""

import statistics
import time

import torch

from engine.models.packed import PackedLinear, PlainLinear, pack_where_faster
from engine.models.probe import Forward, ProbeStore, probe_batch
from engine.models.straight import LINEAR_PARTS, StraightForward

_MAX_MEASURED_PARAMETERS = 50_000_000  # above, every thread pays
_TRIAL_WIDTHS = (1, 1, 1, 5)  # plain or drafting steps mostly, a verification now and then
_N_TRIALS = 7
_LEAST_GAIN = 1.1  # below, the other cores are better left to others


def pack_straight(forward: StraightForward) -> int:
    """Exchange the linear layers of ``forward`` for packed ones where that is faster.

    Returns:
        How many were exchanged.
    """
    n_packed = 0
    for part in LINEAR_PARTS:
        group = [getattr(layer, part) for layer in forward.layers]
        for layer, linear in zip(forward.layers, pack_where_faster(group), strict=True):
            setattr(layer, part, linear)
            n_packed += isinstance(linear, PackedLinear)
    if isinstance(forward.head, PlainLinear):
        (forward.head,) = pack_where_faster([forward.head])
        n_packed += isinstance(forward.head, PackedLinear)
    return n_packed


def choose_threads(forward: Forward, *, n_parameters: int, n_ids: int) -> int:
    """How many CPU threads decode fastest: one, which small models want, or all that torch uses."""
    n_all = torch.get_num_threads()
    if n_all == 1 or n_parameters > _MAX_MEASURED_PARAMETERS:
        return n_all
    batches = [
        probe_batch(0, width, n_ids=n_ids, device=torch.device("cpu")) for width in _TRIAL_WIDTHS
    ]
    taken: dict[int, list[int]] = {1: [], n_all: []}
    try:
        for _ in range(_N_TRIALS):
            for n_threads, times in taken.items():
                torch.set_num_threads(n_threads)
                start = time.perf_counter_ns()
                for batch in batches:
                    forward(batch, ProbeStore(), batch.token_ids.shape[1])
                times.append(time.perf_counter_ns() - start)
    finally:
        torch.set_num_threads(n_all)
    gain = statistics.median(taken[1]) / statistics.median(taken[n_all])
    return n_all if gain >= _LEAST_GAIN else 1
