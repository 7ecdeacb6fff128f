"""Choices made once per model by measuring: the layers' layout, one CPU thread or all."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from engine.models.half import HalfLinear
from engine.models.packed import PlainLinear, pack_where_faster
from engine.models.probe import Forward, ProbeStore, probe_batch
from engine.models.straight import LINEAR_PARTS, StraightForward

# What torch chose for this machine: asked before any model sets a number of its own.
ALL_THREADS = torch.get_num_threads()

_MAX_MEASURED_PARAMETERS = 50_000_000  # above, every thread pays
_TRIAL_WIDTHS = (1, 1, 1, 5)  # plain or drafting steps mostly, a verification now and then
_N_TRIALS = 5
_HOPELESS = 2.0
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
            n_packed += not isinstance(linear, PlainLinear)
    if isinstance(forward.head, PlainLinear):
        (forward.head,) = pack_where_faster([forward.head])
        n_packed += not isinstance(forward.head, PlainLinear)
    _move_scales(forward)
    return n_packed


def _move_scales(forward: StraightForward) -> None:
    """Let the norms, which multiply anyway, take back the scales of the layers behind them."""
    pairs = [(forward.norm, forward.head)]
    for layer in forward.layers:
        pairs += [(layer.attention_norm, layer.qkv), (layer.mlp_norm, layer.gate_up)]
    for norm, linear in pairs:
        if isinstance(linear, HalfLinear):
            norm.scale(linear.give_up_scale())


def likely_threads(n_parameters: int) -> int:
    """How many CPU threads a model of that size will probably be given."""
    return 1 if n_parameters <= _MAX_MEASURED_PARAMETERS else ALL_THREADS


def choose_threads(forward: Forward, *, n_parameters: int, n_ids: int) -> int:
    """How many CPU threads decode fastest: one, as small models want, or all torch would use."""
    n_all = ALL_THREADS
    if n_all == 1 or n_parameters > _MAX_MEASURED_PARAMETERS:
        return n_all
    batches = [
        probe_batch(0, width, n_ids=n_ids, device=torch.device("cpu")) for width in _TRIAL_WIDTHS
    ]
    best = {1: math.inf, n_all: math.inf}
    for _ in range(_N_TRIALS):
        for n_threads in best:
            with cpu_threads(n_threads):
                start = time.perf_counter_ns()
                for batch in batches:
                    forward(batch, ProbeStore(), batch.token_ids.shape[1])
                best[n_threads] = min(best[n_threads], time.perf_counter_ns() - start)
        if best[n_all] > _HOPELESS * best[1]:  # others use the cores: no need to look again
            break
    return n_all if best[1] >= _LEAST_GAIN * best[n_all] else 1


@contextmanager
def cpu_threads(n_threads: int | None) -> Iterator[None]:
    """That many threads for torch inside; None leaves the number alone."""
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
