"""Whether the machine kept its speed while something was timed on it.

On shared processors it may not: with another program on the same core, arithmetic slows down more
than waiting for memory does, so a wide forward loses more than a narrow one, and their ratio moves
with whoever else is there.
"""

import statistics
import time
from typing import Any

import torch

from engine.models.tuning import cpu_threads

UNSTEADY = 1.3
"""A slow twentieth this many times as long as a fast one is worth a word."""
_SIZE = 256  # a product of some 0.2 ms
_AT_ONCE = 3  # the quickest of so many: a single one may be interrupted


class Steadiness:
    """Times the same product of two matrices (fp32, one thread) whenever it is asked to look."""

    def __init__(self) -> None:
        self._matrix = torch.full((_SIZE, _SIZE), 0.5)
        self._looks_us: list[float] = []

    def look(self) -> None:
        """Time it now; takes less than a millisecond."""
        with cpu_threads(1), torch.inference_mode():
            self._looks_us.append(min(self._once_us() for _ in range(_AT_ONCE)))

    def _once_us(self) -> float:
        start_ns = time.perf_counter_ns()
        self._matrix.mm(self._matrix)
        return (time.perf_counter_ns() - start_ns) / 1e3

    def summary(self) -> dict[str, Any] | None:
        """Microseconds of a fast and of a slow twentieth of the looks, their ratio, and whether
        that is steady; None for fewer than two looks."""
        if len(self._looks_us) < 2:
            return None
        twentieths = statistics.quantiles(self._looks_us, n=20, method="inclusive")
        fast, slow = twentieths[0], twentieths[-1]
        return {
            "fast_us": fast,
            "slow_us": slow,
            "slow_vs_fast": slow / fast,
            "is_steady": slow / fast < UNSTEADY,
            "n": len(self._looks_us),
        }
