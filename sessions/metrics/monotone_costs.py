"""Costs of a forward that do not fall with its width: no single noisy timing decides on a gamma."""

from collections.abc import Sequence
from dataclasses import replace

from sessions.metrics.costs import MeasuredCosts


def non_decreasing(values: Sequence[float]) -> tuple[float, ...]:
    """The sequence that never falls and lies closest to ``values`` in least squares: neighbours
    that fall take their mean, again and again (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []  # mean, how many
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (one, n_one), (other, n_other) = pools[-2:]
            n = n_one + n_other
            pools[-2:] = [((one * n_one + other * n_other) / n, n)]
    return tuple(mean for mean, n in pools for _ in range(n))


def monotone(costs: MeasuredCosts) -> MeasuredCosts:
    """``costs`` as a best gamma is derived from: a wider forward is never the quicker one. Timings
    themselves are judged, and shown, as they were measured."""
    return replace(costs, target_ns=non_decreasing(costs.target_ns))
