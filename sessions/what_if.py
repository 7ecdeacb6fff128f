"""What another gamma would have done with a recorded session's drafts.

A recorded draft says for every smaller gamma what that would have accepted: the beginning of what
was. So up to the recorded gamma the tokens of a step need no model: E[N] = 1 + P1 + P1 P2 + ...,
with Pi the share accepted of those tested at place i (where all drafts are equally long this is
the plain mean of min(accepted, gamma) + 1). Beyond, and only there, the i.i.d. model goes on with
the acceptance rate. A step costs gamma draft forwards, a verification of width gamma + 1, and what
this session's steps spent besides.
"""

from dataclasses import dataclass

from engine.theory.speedup import expected_speedup
from sessions.metrics.breakdown import acceptance_by_position
from sessions.metrics.costs import MeasuredCosts, measured_costs
from sessions.metrics.counts import count
from sessions.metrics.interval import ratio
from sessions.metrics.monotone_costs import monotone
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.time_split import time_split
from sessions.snapshot import Snapshot

MAX_GAMMA = 16
"""How far the search goes where the recorded gamma is smaller."""

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaOption:
    """One gamma. ``speedup`` is relative to gamma 0 by the forwards alone, E / (gamma c + v);
    ``tokens_per_second`` counts what the steps spend besides, for the sequences decoded together.
    """

    gamma: int
    tokens_per_step: float
    step_ns: float
    tokens_per_second: float
    speedup: float
    is_extrapolated: bool  # acceptance, or the cost of this width, was not seen


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaWhatIf:
    """``options[g]`` is gamma g, from 0. ``best`` has the most tokens per second, the smallest
    gamma of equals."""

    options: tuple[GammaOption, ...]
    best: GammaOption
    recorded_gamma: int  # the longest draft whose acceptance is known throughout
    acceptance_rate: float
    n_tested: int
    costs: MeasuredCosts


@dataclass(frozen=True, slots=True)
class _Overhead:
    """ns a step spends outside the forwards: each, those that draft, and per draft forward."""

    step_ns: float = 0.0
    draft_ns: float = 0.0
    token_ns: float = 0.0

    def of(self, gamma: int) -> float:
        return self.step_ns + (self.draft_ns if gamma else 0.0) + gamma * self.token_ns


def gamma_what_if(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, max_gamma: int = MAX_GAMMA
) -> GammaWhatIf | None:
    """Every gamma up to ``max_gamma`` or the recorded one, whichever is more; None where nothing
    was tested or no cost of a forward is known."""
    counts, costs = count(snapshot, selection), measured_costs(snapshot, selection)
    alpha = counts.acceptance_rate
    if alpha is None or costs is None:
        return None
    n_sequences = ratio(counts.n_steps, counts.n_engine_steps) or 1.0
    if costs.source == "calibration" and n_sequences > 1.0:
        return None  # a calibration times one sequence: it says nothing of several together
    even = monotone(costs)  # decides which is best; the figures are those of the costs as timed
    reached = _reach_shares(snapshot, selection)
    recorded = len(reached)
    for _ in range(recorded, max_gamma):
        reached.append((reached[-1] if reached else 1.0) * alpha)
    overhead = _overhead(snapshot, selection)
    options, rates, tokens = [], [], 1.0
    for gamma in range(len(reached) + 1):
        tokens += reached[gamma - 1] if gamma else 0.0
        step_ns = gamma * costs.draft_ns + costs.verify_ns(gamma + 1) + overhead.of(gamma)
        plain_ns = gamma * costs.draft_ns + costs.verify_ns(gamma + 1)
        options.append(
            GammaOption(
                gamma=gamma,
                tokens_per_step=tokens,
                step_ns=step_ns,
                tokens_per_second=n_sequences * tokens * 1e9 / step_ns,
                speedup=tokens * costs.plain_ns / plain_ns,
                is_extrapolated=gamma > recorded or gamma + 1 > costs.widths[-1],
            )
        )
        even_ns = gamma * even.draft_ns + even.verify_ns(gamma + 1) + overhead.of(gamma)
        rates.append(tokens / even_ns)
    best = 0
    for gamma, rate in enumerate(rates):
        if rate > rates[best] * (1 + _ROUNDING):
            best = gamma
    return GammaWhatIf(
        options=tuple(options),
        best=options[best],
        recorded_gamma=recorded,
        acceptance_rate=alpha,
        n_tested=counts.n_tested,
        costs=costs,
    )


def by_formula(what_if: GammaWhatIf) -> tuple[float, ...]:
    """What the i.i.d. formula alone says of each of the options' gammas, to compare with."""
    costs = what_if.costs
    return tuple(
        expected_speedup(
            what_if.acceptance_rate, option.gamma, c=costs.c, v=costs.v(option.gamma + 1)
        )
        for option in what_if.options
    )


def _reach_shares(snapshot: Snapshot, selection: Selection) -> list[float]:
    """The share of drafts accepted at least up to each place, as far as it is known."""
    shares, share = [], 1.0
    for place in acceptance_by_position(snapshot, selection):
        if share and not place.conditional.n_of:
            break  # drafts long enough were never accepted this far
        share *= place.conditional.value or 0.0
        shares.append(share)
    return shares


def _overhead(snapshot: Snapshot, selection: Selection) -> _Overhead:
    split = time_split(snapshot, selection)
    if split is None:
        return _Overhead()
    rest_ns = max(0.0, (split.sample_ns + split.commit_ns + split.other_ns) / split.n_steps)
    if split.n_draft_forwards:
        return _Overhead(rest_ns, 0.0, split.draft_rest_ns / split.n_draft_forwards)
    return _Overhead(rest_ns, split.draft_rest_ns / split.n_steps, 0.0)
