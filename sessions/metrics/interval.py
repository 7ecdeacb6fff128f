"""How sure a share or a mean is: Wilson's interval, and the bootstrap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Z_95 = 1.959963984540054
"""Two-sided 95 % of the normal distribution."""

BOOTSTRAP_SEED = 0
N_RESAMPLES = 4000


@dataclass(frozen=True, slots=True)
class Rate:
    """``n`` of ``n_of``, with the 95 % Wilson interval; all three None where ``n_of`` is 0."""

    n: int
    n_of: int
    value: float | None
    low: float | None
    high: float | None


def rate(n: int, n_of: int) -> Rate:
    """The share and its interval: (p + z²/2m ± z √(p(1-p)/m + z²/4m²)) / (1 + z²/m), m = n_of.

    Trials are taken as independent, which draft tokens of one text are only roughly: read the
    interval as the least uncertainty there is.
    """
    if not n_of:
        return Rate(n, n_of, None, None, None)
    share, squared = n / n_of, Z_95**2
    middle = share + squared / (2 * n_of)
    half = Z_95 * math.sqrt(share * (1 - share) / n_of + squared / (4 * n_of**2))
    scale = 1 + squared / n_of
    low, high = (middle - half) / scale, (middle + half) / scale
    return Rate(n, n_of, share, 0.0 if n == 0 else low, 1.0 if n == n_of else high)


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


def bootstrap_of_mean(values: Sequence[float]) -> Interval | None:
    """95 % percentile interval of the mean of ``values``, resampled with a fixed seed; None for
    fewer than two values."""
    if len(values) < 2:
        return None
    array = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    picks = generator.integers(len(array), size=(N_RESAMPLES, len(array)))
    low, high = np.percentile(array[picks].mean(axis=1), (2.5, 97.5)).tolist()
    return Interval(low, high)


def ratio(numerator: float, denominator: float) -> float | None:
    """None where there is nothing to divide by."""
    return numerator / denominator if denominator else None
