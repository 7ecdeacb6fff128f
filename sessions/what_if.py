"""What another gamma would have done with a recorded session's drafts.

A recorded draft says for every smaller gamma what that would have accepted: the beginning of what
was. So up to the recorded gamma the tokens of a step need no model: E[N] = 1 + R1 + R2 + ..., with
Ri the product, up to place i, of the share accepted of those tested there and of the share of
drafts that had a token there (an n-gram is not found in every step; where all drafts are equally
long this is the plain mean of min(accepted, gamma) + 1). Beyond, and only there, the i.i.d. model
goes on with the acceptance rate. A step costs its draft forwards, a verification of its width, and
what this session's steps spent besides, as they took while it decoded: at its own gamma, what it
did. Gamma 0 is a bare target forward, which samples nothing and keeps no books, as where a run is
held against no baseline.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.theory.speedup import expected_speedup
from sessions.columns import Array
from sessions.metrics.breakdown import acceptance_by_position
from sessions.metrics.costs import MeasuredCosts
from sessions.metrics.counts import count
from sessions.metrics.decoding_costs import decoding_costs
from sessions.metrics.interval import ratio
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.time_split import TimeSplit, time_split
from sessions.snapshot import Snapshot

MAX_GAMMA = 16
"""How far the search goes where the recorded gamma is smaller."""

_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaOption:
    """One gamma, by whole steps. ``speedup`` is relative to gamma 0; ``tokens_per_second`` is that
    of all sequences decoded together."""

    gamma: int
    tokens_per_step: float
    step_ns: float
    tokens_per_second: float
    speedup: float
    is_extrapolated: bool  # acceptance, or the cost of this width, was not seen


@dataclass(frozen=True, slots=True, kw_only=True)
class GammaWhatIf:
    """``options[g]`` is gamma g, from 0. ``best`` has the most tokens per second, the smallest
    gamma of equals; ``best_seen`` the same of those that nothing is extrapolated for."""

    options: tuple[GammaOption, ...]
    best: GammaOption
    best_seen: GammaOption
    recorded_gamma: int  # the longest draft whose acceptance is known throughout
    acceptance_rate: float
    n_tested: int
    costs: MeasuredCosts

    @property
    def longest_seen(self) -> int:
        """The largest gamma that nothing is extrapolated for."""
        return max(option.gamma for option in self.options if not option.is_extrapolated)

    def nearest(self, length: float) -> GammaOption:
        """The option whose gamma is nearest to drafts of that mean ``length``."""
        return self.options[min(round(length), len(self.options) - 1)]


@dataclass(frozen=True, slots=True)
class _Overhead:
    """ns a step spends outside the forwards: each, those that draft, and per draft forward."""

    step_ns: float = 0.0
    draft_ns: float = 0.0
    token_ns: float = 0.0


@dataclass(frozen=True, slots=True)
class _Places:
    """Of each place in a draft, from the first: the share of steps that accept up to it, and of
    those that have a token there. ``n_seen`` places are this session's own."""

    reached: list[float]
    drafted: list[float]
    n_seen: int


def gamma_what_if(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, max_gamma: int = MAX_GAMMA
) -> GammaWhatIf | None:
    """Every gamma up to ``max_gamma`` or the recorded one, whichever is more; None where nothing
    was tested or no cost of a forward is known."""
    counts, split = count(snapshot, selection), time_split(snapshot, selection)
    costs = decoding_costs(snapshot, selection, split=split)
    alpha = counts.acceptance_rate
    if alpha is None or costs is None:
        return None
    n_sequences = ratio(counts.n_steps, counts.n_engine_steps) or 1.0
    if costs.source == "calibration" and n_sequences > 1.0:
        return None  # a calibration times one sequence: it says nothing of several together
    places = _places(snapshot, selection, alpha=alpha, max_gamma=max_gamma)
    forwards_per_token = 1.0
    if split is not None and counts.n_drafted:  # n-grams take none
        per_step = split.n_draft_forwards / split.n_steps
        forwards_per_token = min(1.0, per_step / (counts.n_drafted / counts.n_engine_steps))
    overhead = _overhead(split)
    options: list[GammaOption] = []
    for gamma in range(len(places.reached) + 1):
        tokens = 1.0 + sum(places.reached[:gamma])
        step_ns = _verify_ns(costs, places.drafted[:gamma])
        if gamma:
            n_forwards = forwards_per_token * sum(places.drafted[:gamma])
            step_ns += n_forwards * (costs.draft_ns + overhead.token_ns)
            step_ns += overhead.step_ns + overhead.draft_ns
        options.append(
            GammaOption(
                gamma=gamma,
                tokens_per_step=tokens,
                step_ns=step_ns,
                tokens_per_second=n_sequences * tokens * 1e9 / step_ns,
                speedup=tokens * costs.plain_ns / step_ns,
                is_extrapolated=gamma > places.n_seen or gamma + 1 > costs.widths[-1],
            )
        )
    return GammaWhatIf(
        options=tuple(options),
        best=_best(options),
        best_seen=_best([option for option in options if not option.is_extrapolated]),
        recorded_gamma=places.n_seen,
        acceptance_rate=alpha,
        n_tested=counts.n_tested,
        costs=costs,
    )


def _best(options: Sequence[GammaOption]) -> GammaOption:
    best = options[0]
    for option in options:
        if option.tokens_per_second > best.tokens_per_second * (1 + _ROUNDING):
            best = option
    return best


def by_formula(what_if: GammaWhatIf) -> tuple[float, ...]:
    """What the i.i.d. formula alone says of each of the options' gammas, to compare with."""
    costs = what_if.costs
    return tuple(
        expected_speedup(
            what_if.acceptance_rate, option.gamma, c=costs.c, v=costs.v(option.gamma + 1)
        )
        for option in what_if.options
    )


def _verify_ns(costs: MeasuredCosts, drafted: list[float]) -> float:
    """The mean verification, where those shares of the steps have a token at each place."""
    longer = [*drafted[1:], 0.0] if drafted else []
    shares = [share - more for share, more in zip(drafted, longer, strict=True)]
    undrafted = 1.0 - (drafted[0] if drafted else 0.0)
    return undrafted * costs.plain_ns + sum(
        share * costs.verify_ns(length + 1) for length, share in enumerate(shares, start=1)
    )


def _places(snapshot: Snapshot, selection: Selection, *, alpha: float, max_gamma: int) -> _Places:
    steps = snapshot.steps
    rows = selection.rows(steps)
    wanted, n_drafted = steps["gamma"][rows], steps["n_drafted"][rows]
    n_accepted = steps["n_accepted"][rows]
    reached: list[float] = []
    drafted: list[float] = []
    has_token = 1.0  # of the drafts that were accepted so far, the share that goes on
    for index, place in enumerate(acceptance_by_position(snapshot, selection)):
        before = reached[-1] if reached else 1.0
        if before and not place.conditional.n_of:
            break  # drafts long enough were never accepted this far
        is_wanted = wanted > index
        is_reached = is_wanted & (n_accepted >= index)
        has_token = _share(n_drafted > index, is_reached, otherwise=1.0)
        reached.append(before * has_token * (place.conditional.value or 0.0))
        share = _share(n_drafted > index, is_wanted, otherwise=1.0)
        drafted.append(min(share, drafted[-1] if drafted else 1.0))
    n_seen = len(reached)
    goes_on = has_token if n_seen > 1 else 1.0
    for _ in range(n_seen, max_gamma):
        reached.append((reached[-1] if reached else 1.0) * alpha * goes_on)
        drafted.append((drafted[-1] if drafted else 1.0) * goes_on)
    return _Places(reached, drafted, n_seen)


def _share(is_one: Array, is_of: Array, *, otherwise: float) -> float:
    n_of = int(np.count_nonzero(is_of))
    return int(np.count_nonzero(is_one & is_of)) / n_of if n_of else otherwise


def _overhead(split: TimeSplit | None) -> _Overhead:
    if split is None:
        return _Overhead()
    rest_ns = max(0.0, (split.sample_ns + split.commit_ns + split.other_ns) / split.n_steps)
    if split.n_draft_forwards:
        return _Overhead(rest_ns, 0.0, split.draft_rest_ns / split.n_draft_forwards)
    return _Overhead(rest_ns, split.draft_rest_ns / split.n_steps, 0.0)
