"""How many tokens to draft next: a fixed number, or what pays at the acceptance seen so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from engine.theory.speedup import expected_speedup


class GammaChoice(msgspec.Struct, frozen=True, gc=False):
    """``alpha`` is the acceptance rate the choice assumed; None where none was needed."""

    gamma: int
    reason: str
    alpha: float | None = None


@dataclass(frozen=True)
class StepCosts:
    """Times in units of one target forward of width 1: what a draft forward costs (``c``) and what
    a verify of each width costs (``verify_costs[width - 1]``)."""

    c: float
    verify_costs: Sequence[float]

    def verify(self, width: int) -> float:
        """Beyond the widest one measured, the last slope goes on."""
        known = self.verify_costs
        if width <= len(known):
            return known[width - 1]
        slope = known[-1] - known[-2] if len(known) > 1 else 0.0
        return known[-1] + max(0.0, slope) * (width - len(known))


class GammaPolicy(Protocol):
    """Chooses per sequence and step."""

    limit: int

    def choose(self, sequence_id: int) -> GammaChoice: ...

    def observe(self, sequence_id: int, *, n_tested: int, n_accepted: int) -> None: ...

    def learn_costs(self, costs: StepCosts) -> None: ...

    def forget(self, sequence_id: int) -> None: ...


class FixedGamma:
    """Always the same."""

    def __init__(self, gamma: int) -> None:
        self.limit = gamma
        self._choice = GammaChoice(gamma, "fixed" if gamma else "plain decoding")

    def choose(self, sequence_id: int) -> GammaChoice:
        return self._choice

    def observe(self, sequence_id: int, *, n_tested: int, n_accepted: int) -> None:
        """Nothing to learn."""

    def learn_costs(self, costs: StepCosts) -> None:
        """Nothing to learn."""

    def forget(self, sequence_id: int) -> None:
        """Nothing to forget."""


PRIOR_TESTED = 4.0
PRIOR_ALPHA = 0.7
MEMORY = 0.97
"""What is left of a tested token's weight after one more: a memory of some 33 tokens."""
PROBE_EVERY = 16
"""Steps of plain decoding before one token is drafted to see whether drafting pays again."""


@dataclass
class _Evidence:
    tested: float = PRIOR_TESTED
    accepted: float = PRIOR_TESTED * PRIOR_ALPHA
    n_plain: int = 0

    @property
    def alpha(self) -> float:
        return self.accepted / self.tested


class AdaptiveGamma:
    """The gamma with the highest expected speed-up E[N] / (gamma c + v) at the sequence's own
    acceptance rate: accepted over tested, older tokens counting less, starting from four tokens at
    0.7.

    Until costs are measured it assumes c = 0.1 and verify costs that do not grow with the width.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._costs = StepCosts(c=0.1, verify_costs=(1.0,))
        self._costs_word = "assumed"
        self._evidence: dict[int, _Evidence] = {}

    def learn_costs(self, costs: StepCosts) -> None:
        self._costs = costs
        self._costs_word = "measured"

    def choose(self, sequence_id: int) -> GammaChoice:
        evidence = self._evidence.setdefault(sequence_id, _Evidence())
        alpha = evidence.alpha
        costs = self._costs
        speedups = [1.0] + [
            expected_speedup(alpha, gamma, c=costs.c, v=costs.verify(gamma + 1))
            for gamma in range(1, self.limit + 1)
        ]
        gamma = max(range(self.limit + 1), key=lambda each: (speedups[each], -each))
        saw = (
            f"alpha {alpha:.2f} over {evidence.tested:.0f} tokens, "
            f"{self._costs_word} c {costs.c:.2f}"
        )
        if gamma == 0:
            evidence.n_plain += 1
            if evidence.n_plain % PROBE_EVERY == 0:
                return GammaChoice(1, f"probe after {PROBE_EVERY} plain steps; {saw}", alpha)
            return GammaChoice(0, f"drafting does not pay: S(1) = {speedups[1]:.2f}; {saw}", alpha)
        evidence.n_plain = 0
        return GammaChoice(gamma, f"S({gamma}) = {speedups[gamma]:.2f} is the most; {saw}", alpha)

    def observe(self, sequence_id: int, *, n_tested: int, n_accepted: int) -> None:
        evidence = self._evidence.setdefault(sequence_id, _Evidence())
        decay = MEMORY**n_tested
        evidence.tested = evidence.tested * decay + n_tested
        evidence.accepted = evidence.accepted * decay + n_accepted

    def forget(self, sequence_id: int) -> None:
        self._evidence.pop(sequence_id, None)


def make_gamma(gamma: int | str, *, max_gamma: int) -> GammaPolicy:
    """The policy a RunConfig asks for: a number, or "auto" for the adaptive one."""
    return AdaptiveGamma(max_gamma) if gamma == "auto" else FixedGamma(int(gamma))
