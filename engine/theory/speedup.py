"""How much speculative decoding should gain: tokens per step, speedup, the best gamma, break-even.

The model is the i.i.d. one of Leviathan et al. 2023 ("Fast Inference from Transformers via
Speculative Decoding"): every draft token is accepted with the same probability alpha, whatever
came before. Its quantities:

alpha   acceptance rate: accepted / tested draft tokens, or the mean overlap of the draft's and the
        target's distributions. Not accepted / drafted: see ``expected_draft_efficiency``.
gamma   draft tokens per step; 0 is ordinary decoding.
c       time of one draft forward / time of one target forward, both one token wide. 0 is the limit
        of a free draft (an n-gram lookup comes close).
v       verify-width cost T(gamma + 1) / T(1): time of a target forward gamma + 1 tokens wide over
        that of one token. The published formula takes it as 1; a measured one belongs here.

Read published figures with care. The number often quoted for predictable text with gamma 5,
"E = 4.4 and 3.5 times faster for alpha 0.85 to 0.95", is one point, alpha = 0.874; over that range
E runs from 4.15 to 5.30 and S (c = 0.05) from 3.32 to 4.24. At alpha = 0.30, E is 1.43 and S 1.14
(c = 0.05) or 0.95 (c = 0.10). E counts the target's own token, so it is the tokens *committed* per
step, one more than the draft tokens accepted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from engine.theory.validate import (
    require_at_least,
    require_count,
    require_fraction,
    require_positive,
)

# Measured over predicted speedup, lowest and highest, in Leviathan et al. 2023, Table 2 (T5-XXL):
# the authors' own runs lie between -32 % and +29 % of the formula. A band, then, not a promise.
PUBLISHED_BAND = (0.68, 1.29)

DEFAULT_MAX_GAMMA = 64
_ROUNDING = 1e-12  # a gain smaller than this is rounding, so a tie


class CostTable(Protocol):
    """Verify-width costs: ``table[width - 1]`` is T(width) / T(1). Lists and arrays fit."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> float: ...


VerifyCost = float | CostTable | Callable[[int], float]


@dataclass(frozen=True, slots=True)
class BestGamma:
    """The gamma of the highest speedup; ``is_at_limit`` when the search ended there."""

    gamma: int
    speedup: float
    is_at_limit: bool


def expected_tokens_per_step(alpha: float, gamma: int) -> float:
    """E[N] = (1 - alpha^(gamma+1)) / (1 - alpha), the tokens committed by one step on average.

    Leviathan et al. 2023, equation 1. Counts the recovered or bonus token, so it runs from 1
    (alpha 0, or gamma 0) to gamma + 1 (alpha 1). ValueError: alpha outside [0, 1], gamma negative
    or not whole.
    """
    return _tokens(require_fraction("alpha", alpha), require_count("gamma", gamma))


def expected_draft_efficiency(alpha: float, gamma: int) -> float | None:
    """(E[N] - 1) / gamma, the share of *drafted* tokens that is accepted; None for gamma 0.

    This is what many servers log as "draft acceptance rate". It falls as gamma grows though the
    draft is the same (alpha 0.8: .800 at gamma 1, .416 at 8), because tokens after the first
    rejection count as drafted and were never tested. Never choose gamma by it.
    """
    tokens = expected_tokens_per_step(alpha, gamma)
    return None if gamma == 0 else (tokens - 1.0) / gamma


def expected_speedup(alpha: float, gamma: int, *, c: float, v: float = 1.0) -> float:
    """S = E[N] / (gamma*c + v), the speed relative to ordinary decoding; exactly 1 for gamma 0.

    With v = 1 this is Leviathan et al. 2023, Theorem 3.8. ValueError: alpha outside [0, 1], gamma
    negative or not whole, c negative, v not positive, anything not finite.
    """
    tokens = expected_tokens_per_step(alpha, gamma)
    cost = step_cost(gamma, c=c, v=v)
    return tokens / cost


def step_cost(gamma: int, *, c: float, v: float = 1.0) -> float:
    """gamma*c + v, the time of one step in target forwards; 1 for gamma 0, a plain forward."""
    require_count("gamma", gamma)
    require_at_least("c (draft time / target time)", c, minimum=0.0)
    require_positive("v (verify time / one-token time)", v)
    return 1.0 if gamma == 0 else gamma * c + v


def best_gamma(
    alpha: float, c: float, *, v: VerifyCost = 1.0, max_gamma: int | None = None
) -> BestGamma:
    """The gamma with the highest speedup; the smallest one of a tie, 0 when drafting never pays.

    ``v`` is a number for every width, or the measured cost of each: a callable of the width
    gamma + 1, or a table with the cost of width w at index w - 1. Searched up to ``max_gamma``,
    by default 64 or as far as the table goes. ValueError as in ``expected_speedup``, and when
    ``max_gamma`` asks for more than the table holds.
    """
    limit = _gamma_limit(v, max_gamma)
    best = BestGamma(gamma=0, speedup=1.0, is_at_limit=limit == 0)
    for gamma in range(1, limit + 1):
        speed = expected_speedup(alpha, gamma, c=c, v=verify_cost(v, gamma))
        if speed > best.speedup * (1.0 + _ROUNDING):
            best = BestGamma(gamma=gamma, speedup=speed, is_at_limit=gamma == limit)
    return best


def verify_cost(v: VerifyCost, gamma: int) -> float:
    """The verify-width cost that ``v`` holds for gamma draft tokens, that is width gamma + 1.

    A plain number stands for every gamma but 0, which verifies nothing and costs 1.
    ValueError: a table that does not reach that width, a gamma that is negative or not whole.
    """
    require_count("gamma", gamma)
    if isinstance(v, (int, float)):
        return float(v) if gamma else 1.0
    if callable(v):
        return float(v(gamma + 1))
    if gamma >= len(v):
        raise ValueError(
            f"The verify-width costs cover {len(v)} widths (1, 2, ...), but gamma {gamma} needs "
            f"{gamma + 1}: measure more widths or choose a smaller gamma."
        )
    return float(v[gamma])


def break_even_alpha(gamma: int, *, c: float, v: float = 1.0) -> float | None:
    """The acceptance rate at which S = 1: above it this gamma pays, below it it costs.

    None when it cannot pay even if every draft token is accepted (and for gamma 0, where nothing
    is drafted); 0.0 when it pays at any acceptance. Accurate to rounding. For gamma 1 and
    v = 1 it is c (Leviathan et al. 2023, Corollary 3.9). ValueError as in ``expected_speedup``.
    """
    cost = step_cost(gamma, c=c, v=v)
    if gamma == 0 or cost >= gamma + 1:
        return None
    return 0.0 if cost <= 1.0 else alpha_for_tokens_per_step(cost, gamma)


def alpha_for_tokens_per_step(tokens_per_step: float, gamma: int) -> float:
    """The alpha whose E[N] is ``tokens_per_step``: the inverse of ``expected_tokens_per_step``.

    Turns a reported mean acceptance length (with the bonus token counted) into an acceptance rate.
    ValueError unless gamma >= 1 and 1 <= tokens_per_step <= gamma + 1.
    """
    require_count("gamma", gamma, minimum=1)
    if not 1.0 <= tokens_per_step <= gamma + 1:
        raise ValueError(
            f"tokens per step must lie between 1 and gamma + 1 = {gamma + 1}, "
            f"got {tokens_per_step!r}: check gamma, and that the bonus token is counted."
        )
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2.0) < high:  # until the two are neighbouring floats
        if _tokens(middle, gamma) < tokens_per_step:
            low = middle
        else:
            high = middle
    return min(low, high, key=lambda alpha: abs(_tokens(alpha, gamma) - tokens_per_step))


def _tokens(alpha: float, gamma: int) -> float:
    total = 1.0
    for _ in range(gamma):  # the sum itself: exact at both ends, no digits lost near alpha = 1
        total = 1.0 + alpha * total
    return total


def _gamma_limit(v: VerifyCost, max_gamma: int | None) -> int:
    asked = None if max_gamma is None else require_count("max_gamma", max_gamma)
    if isinstance(v, (int, float)) or callable(v):
        return DEFAULT_MAX_GAMMA if asked is None else asked
    verify_cost(v, asked or 0)  # the table reaches that far, or says so
    return len(v) - 1 if asked is None else asked
