"""Choices made once per model: the layers' layout, one CPU thread or all."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from engine.models.choices import Choices
from engine.models.half import HalfLinear
from engine.models.linear import Linear, PlainLinear
from engine.models.packed import pack_where_faster
from engine.models.straight import LINEAR_PARTS, StraightForward

# What torch chose for this machine: asked before any model sets a number of its own.
ALL_THREADS = torch.get_num_threads()

_MAX_NARROW_PARAMETERS = 50_000_000


def pack_straight(forward: StraightForward, choices: Choices) -> list[Linear]:
    """Exchange the linear layers of ``forward`` for packed ones where that is faster.

    Returns:
        Those that were exchanged.
    """
    forward.pair_up()
    linears: list[Linear] = []
    for part in LINEAR_PARTS:
        group = [getattr(layer, part) for layer in forward.layers]
        packed = pack_where_faster(group, choices)
        for layer, linear in zip(forward.layers, packed, strict=True):
            setattr(layer, part, linear)
        linears += packed
    if isinstance(forward.head, PlainLinear):
        (forward.head,) = pack_where_faster([forward.head], choices)
        linears.append(forward.head)
    _move_scales(forward)
    return [linear for linear in linears if not isinstance(linear, PlainLinear)]


def _move_scales(forward: StraightForward) -> None:
    """Let the norms, which multiply anyway, take back the scales of the layers behind them."""
    pairs = [(forward.norm, forward.head)]
    for layer in forward.layers:
        pairs += [(layer.attention_norm, layer.qkv), (layer.mlp_norm, layer.gate_up)]
    for norm, linear in pairs:
        if isinstance(linear, HalfLinear):
            norm.scale(linear.give_up_scale())


def threads_for(n_parameters: int) -> int:
    """How many CPU threads a model of that size is given: one where the threads would spend their
    time waiting for each other, all that torch would use where they share real work.

    By a rule and not by measuring: other numbers of threads round differently, and on shared cores
    a second thread that won a trial loses by far as soon as somebody else needs the core.
    """
    return 1 if n_parameters <= _MAX_NARROW_PARAMETERS else ALL_THREADS


@contextmanager
def cpu_threads(n_threads: int | None) -> Iterator[None]:
    """That many threads for torch inside; None leaves the number alone."""
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
