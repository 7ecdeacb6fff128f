"""The checks made at the border, each failing with a sentence that says what to do."""

import math
from numbers import Integral


def require_fraction(name: str, value: float) -> float:
    """Return ``value`` as a float; ValueError unless it is finite and lies in [0, 1]."""
    if not math.isfinite(value) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must lie between 0 and 1 (write 0.8 for 80 %), got {value!r}.")
    return float(value)


def require_count(name: str, value: int, *, minimum: int = 0) -> int:
    """Return ``value`` as an int; ValueError unless it is a whole number >= ``minimum``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < minimum:
        raise ValueError(f"{name} must be a whole number of at least {minimum}, got {value!r}.")
    return int(value)


def require_at_least(name: str, value: float, *, minimum: float) -> float:
    """Return ``value`` as a float; ValueError unless it is finite and >= ``minimum``."""
    if not math.isfinite(value) or value < minimum:
        raise ValueError(f"{name} must be a finite number of at least {minimum:g}, got {value!r}.")
    return float(value)


def require_positive(name: str, value: float) -> float:
    """Return ``value`` as a float; ValueError unless it is finite and > 0."""
    if not math.isfinite(value) or value <= 0:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}.")
    return float(value)
