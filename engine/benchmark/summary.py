"""Medians and spreads: how figures of repeated runs are told."""

import statistics
from collections.abc import Sequence
from typing import Any


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, quartiles, minimum and maximum of at least one value."""
    ordered = sorted(values)
    if len(ordered) == 1:
        lower = upper = ordered[0]
    else:
        lower, _, upper = statistics.quantiles(ordered, n=4, method="inclusive")
    return {
        "median": statistics.median(ordered),
        "lower_quartile": lower,
        "upper_quartile": upper,
        "min": ordered[0],
        "max": ordered[-1],
        "n": len(ordered),
    }


def paired_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> dict[str, Any]:
    """The spread of the ratios pair by pair: a drift of the machine's speed touches both alike."""
    return spread([a / b for a, b in zip(numerators, denominators, strict=True)])
