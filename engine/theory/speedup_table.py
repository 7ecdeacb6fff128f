"""The speedup formula at several gammas side by side."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.theory.speedup import (
    VerifyCost,
    break_even_alpha,
    expected_draft_efficiency,
    expected_speedup,
    expected_tokens_per_step,
    verify_cost,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedupPoint:
    """All that the model of ``engine.theory.speedup`` says about one gamma.

    ``draft_efficiency`` is accepted / drafted, None at gamma 0; ``break_even_alpha`` is None where
    the gamma cannot pay.
    """

    gamma: int
    v: float
    tokens_per_step: float
    speedup: float
    draft_efficiency: float | None
    break_even_alpha: float | None


def speedup_point(alpha: float, gamma: int, *, c: float, v: VerifyCost = 1.0) -> SpeedupPoint:
    """The point of one gamma. ValueError as in ``expected_speedup``, or a table too short."""
    cost = verify_cost(v, gamma)
    return SpeedupPoint(
        gamma=gamma,
        v=cost,
        tokens_per_step=expected_tokens_per_step(alpha, gamma),
        speedup=expected_speedup(alpha, gamma, c=c, v=cost),
        draft_efficiency=expected_draft_efficiency(alpha, gamma),
        break_even_alpha=break_even_alpha(gamma, c=c, v=cost),
    )


def speedup_table(
    alpha: float, gammas: Iterable[int], *, c: float, v: VerifyCost = 1.0
) -> tuple[SpeedupPoint, ...]:
    """One point for each of ``gammas``, in their order. ValueError as in ``speedup_point``."""
    return tuple(speedup_point(alpha, gamma, c=c, v=v) for gamma in gammas)
