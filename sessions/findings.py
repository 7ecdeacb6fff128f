"""What a session's numbers amount to, in sentences; each carries the numbers it was made from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sessions.metrics.counts import Counts, count
from sessions.metrics.doubt import Doubt, calibration_doubt
from sessions.metrics.interval import ratio
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.speedup import PredictedSpeedup, measured_speedup, predicted_speedup
from sessions.metrics.time_split import TimeSplit, time_split
from sessions.metrics.waterfall import waterfall
from sessions.snapshot import Snapshot
from sessions.tables import DISCARDED
from sessions.what_if import GammaOption, GammaWhatIf, gamma_what_if

MIN_TESTED = 50
"""Tested draft tokens below which nothing is said of acceptance."""
MIN_STEPS = 20
"""Measured steps below which nothing is said of time."""
MIN_PROMPTS = 3
"""Prompts in common below which nothing is said against a baseline."""
LOW_ACCEPTANCE = 0.4
HIGH_ACCEPTANCE = 0.9
HIGH_OVERHEAD = 0.3
HIGH_DRAFT_SHARE = 0.25
HIGH_VERIFY_COST = 1.25
"""A verification that takes this many plain forwards is no longer nearly free."""
FEW_DRAFTED = 0.5
"""Share of steps with a draft below which drafting is rare."""
WORTH_CHANGING = 0.03
"""Gain in tokens per second below which another gamma is not worth a word."""
NEAR_ONE = 0.03
"""Of a speed-up: what lies within is neither faster nor slower."""
SAMPLER_DRIFT = 5.0
"""Standard deviations between observed and expected acceptance that chance does not explain."""


class Severity(StrEnum):
    INFO = "info"
    ADVICE = "advice"  # something could be faster
    WARNING = "warning"  # something is slow, or wrong


@dataclass(frozen=True, slots=True)
class Finding:
    """``values`` are the numbers in the sentence, by metric or by what they are; ``is_doubted``
    where they rest on costs that do not describe the decoding (see ``metrics.doubt``)."""

    key: str
    severity: Severity
    sentence: str
    values: Mapping[str, float]
    is_doubted: bool = False

    @property
    def words(self) -> str:
        """The sentence, and that it is in doubt where it is."""
        return f"in doubt: {self.sentence}" if self.is_doubted else self.sentence


@dataclass(frozen=True, slots=True)
class _Evidence:
    counts: Counts
    split: TimeSplit | None
    predicted: PredictedSpeedup | None
    what_if: GammaWhatIf | None
    doubt: Doubt | None
    mean_step_speedup: float | None
    """Against a bare target forward, which was timed for one sequence; None of several decoded
    together, or beside a baseline."""
    has_baseline: bool

    @property
    def has_acceptance(self) -> bool:
        return self.counts.n_tested >= MIN_TESTED

    @property
    def has_time(self) -> bool:
        return self.split is not None and self.split.n_steps >= MIN_STEPS


@dataclass(frozen=True, slots=True)
class MissingEvidence:
    """How much more must be seen before something is said; zeros where there is enough."""

    n_tested: int  # draft tokens: of acceptance
    n_steps: int  # measured steps: of time


def missing_evidence(snapshot: Snapshot, selection: Selection = EVERYTHING) -> MissingEvidence:
    """What keeps ``find`` silent."""
    tokens, spans = snapshot.draft_tokens, snapshot.spans
    fates = tokens["fate"][selection.rows(tokens)]
    names = spans["name"][selection.span_rows(snapshot)]
    n_tested = int(np.count_nonzero(fates != DISCARDED))
    n_steps = int(np.count_nonzero(names == spans.code("step")))
    return MissingEvidence(max(0, MIN_TESTED - n_tested), max(0, MIN_STEPS - n_steps))


def find(
    snapshot: Snapshot,
    selection: Selection = EVERYTHING,
    *,
    baseline: Snapshot | None = None,
) -> tuple[Finding, ...]:
    """The findings, gravest first; none where the evidence is thin."""
    counts = count(snapshot, selection)
    is_batched = counts.n_steps > counts.n_engine_steps
    has_none = baseline is not None or is_batched
    losses = None if has_none else waterfall(snapshot, None, selection)
    evidence = _Evidence(
        counts,
        time_split(snapshot, selection),
        predicted_speedup(snapshot, selection),
        gamma_what_if(snapshot, selection),
        calibration_doubt(snapshot, selection),
        None if losses is None else losses.measured,
        baseline is not None,
    )
    found = [finding for rule in _RULES for finding in rule(evidence)]
    if evidence.doubt is not None:
        found = [replace(each, is_doubted=each.key in _FROM_COSTS) for each in found]
    elif any(finding.key == "other_gamma" for finding in found):  # which says it better
        found = [finding for finding in found if finding.key not in _LESS_THAN_GAMMA]
    if baseline is not None and selection.is_everything:
        against = list(_against(snapshot, baseline))
        if any(each.values["low"] > 1.0 for each in against):  # whatever an estimate says
            found = [each for each in found if each.key != "drafting_does_not_pay"]
        found += against
    order = list(reversed(Severity))
    return tuple(sorted(found, key=lambda finding: order.index(finding.severity)))


def _acceptance(evidence: _Evidence) -> Iterator[Finding]:
    counts = evidence.counts
    alpha = counts.acceptance_rate
    if not evidence.has_acceptance or alpha is None:
        return
    values = {"acceptance_rate": alpha, "n_tested": counts.n_tested}
    if alpha < LOW_ACCEPTANCE:
        yield Finding(
            "acceptance_low",
            Severity.ADVICE,
            f"Only {alpha:.0%} of {counts.n_tested} tested draft tokens were accepted: a draft "
            "closer to the target, or a smaller gamma, would waste less.",
            values,
        )
    elif alpha > HIGH_ACCEPTANCE:
        yield Finding(
            "acceptance_high",
            Severity.INFO,
            f"{alpha:.0%} of {counts.n_tested} tested draft tokens were accepted: the draft "
            "follows the target closely, and longer drafts may pay.",
            values,
        )


def _sampler(evidence: _Evidence) -> Iterator[Finding]:
    """Observed against expected acceptance, in standard deviations of a binomial."""
    counts = evidence.counts
    alpha, expected = counts.acceptance_rate, counts.expected_acceptance_rate
    if not evidence.has_acceptance or alpha is None or expected is None:
        return
    spread = max(expected * (1 - expected), 1 / counts.n_tested) / counts.n_tested
    if (alpha - expected) ** 2 > SAMPLER_DRIFT**2 * spread:
        yield Finding(
            "acceptance_unexpected",
            Severity.WARNING,
            f"{alpha:.1%} of the tested draft tokens were accepted where the two models' "
            f"distributions give {expected:.1%}: more than chance explains.",
            {
                "acceptance_rate": alpha,
                "expected_acceptance_rate": expected,
                "n_tested": counts.n_tested,
            },
        )


def _few_drafted(evidence: _Evidence) -> Iterator[Finding]:
    counts = evidence.counts
    share = ratio(counts.n_steps_drafted, counts.n_steps)
    if share and counts.n_steps >= MIN_STEPS and share < FEW_DRAFTED:
        yield Finding(
            "few_drafted",
            Severity.INFO,
            f"Only {counts.n_steps_drafted} of {counts.n_steps} steps had a draft: the others "
            "ran at the speed of ordinary decoding.",
            {"n_steps_drafted": counts.n_steps_drafted, "n_steps": counts.n_steps},
        )


def _gamma(evidence: _Evidence) -> Iterator[Finding]:
    """Drafting that does not pay, another gamma that would pay more, or longer drafts that may.
    A gain is told of gammas alone whose acceptance and cost were seen; beyond, only that it is
    worth a try."""
    what_if, length = evidence.what_if, evidence.counts.mean_draft_length
    if what_if is None or length is None or not evidence.has_acceptance:
        return
    now, best = what_if.nearest(length), what_if.best_seen
    gain = _gain(best, now)
    values = {
        "acceptance_rate": what_if.acceptance_rate,
        "c": what_if.costs.c,
        "gamma": now.gamma,
        "best_gamma": best.gamma,
        "gain": gain,
    }
    if best.gamma == 0 and now.speedup < 1.0 - NEAR_ONE:
        yield Finding(
            "drafting_does_not_pay",
            Severity.WARNING,
            f"Drafting does not pay here: at {what_if.acceptance_rate:.0%} acceptance and a draft "
            f"cost of {what_if.costs.c:.2f} target forwards, ordinary decoding would be up to "
            f"{gain:.0%} faster.",
            values,
        )
        return
    longer = gamma_to_try(what_if, length)
    split = evidence.split if evidence.has_time else None
    share = split.share(split.draft_ns) if split else None
    cost = "" if share is None else f"Drafting costs {share:.0%} of a step. "
    if share is not None:
        values["draft_share"] = share
    if best.gamma != now.gamma and gain > WORTH_CHANGING:
        yield Finding(
            "other_gamma",
            Severity.ADVICE,
            f"{cost}At this acceptance gamma {best.gamma} would be {gain:.0%} faster than "
            f"{now.gamma}.",
            values,
        )
    elif longer is not None:
        seen = what_if.longest_seen
        yield Finding(
            "other_gamma",
            Severity.ADVICE,
            f"{cost}Longer drafts may pay: try gamma {longer}. How much they gain is not known: "
            f"the drafts of this run tell of gammas up to {seen}.",
            {**_without(values, "best_gamma", "gain"), "longest_seen": seen, "try_gamma": longer},
        )


def gamma_to_try(what_if: GammaWhatIf, length: float) -> int | None:
    """A gamma beyond those seen that may pay more than drafts of the mean ``length``, at most twice
    the longest seen; None where the evidence is thin, where nothing suggests one, or where a gamma
    that was seen is worth changing to."""
    now, best, longest = what_if.nearest(length), what_if.best, what_if.longest_seen
    if what_if.n_tested < MIN_TESTED or _gain(what_if.best_seen, now) > WORTH_CHANGING:
        return None
    longer = min(best.gamma, 2 * longest)
    is_longer = best.is_extrapolated and longer > max(now.gamma, longest)
    return longer if is_longer and _gain(best, now) > WORTH_CHANGING else None


def _gain(option: GammaOption, now: GammaOption) -> float:
    return option.tokens_per_second / now.tokens_per_second - 1


def _without(values: Mapping[str, float], *keys: str) -> dict[str, float]:
    return {key: value for key, value in values.items() if key not in keys}


def _time(evidence: _Evidence) -> Iterator[Finding]:
    split = evidence.split
    if split is None or not evidence.has_time:
        return
    draft, overhead = split.share(split.draft_ns), split.overhead_share
    if draft is not None and draft > HIGH_DRAFT_SHARE:
        yield Finding(
            "draft_share_high",
            Severity.INFO,
            f"Drafting takes {draft:.0%} of a step.",
            {"draft_share": draft, "n_steps": split.n_steps},
        )
    if overhead is not None and overhead > HIGH_OVERHEAD:
        yield Finding(
            "overhead_high",
            Severity.ADVICE,
            f"{overhead:.0%} of a step is spent outside the two models' forwards, so the formula "
            "promises more than can be had.",
            {"overhead_share": overhead, "n_steps": split.n_steps},
        )


def _verify_width(evidence: _Evidence) -> Iterator[Finding]:
    predicted, length = evidence.predicted, evidence.counts.mean_draft_length
    if predicted is None or length is None or evidence.counts.n_steps < MIN_STEPS:
        return
    width = round(length) + 1
    cost = predicted.costs.v(width)
    if cost > HIGH_VERIFY_COST:
        yield Finding(
            "verify_width_cost_high",
            Severity.INFO,
            f"A verification {width} tokens wide takes {cost:.2f} times as long as a forward over "
            "one token; the published formula takes it as free.",
            {"verify_width_cost": cost, "width": width},
        )


def _not_reached(evidence: _Evidence) -> Iterator[Finding]:
    """A prediction above 1 and mean steps below it: which of both is looked at would decide."""
    predicted, reached = evidence.predicted, evidence.mean_step_speedup
    if predicted is None or reached is None or not evidence.has_time:
        return
    is_apart = predicted.value > 1.0 + NEAR_ONE and reached < 1.0 - NEAR_ONE
    if is_apart and evidence.has_acceptance:
        yield Finding(
            "prediction_not_reached",
            Severity.ADVICE,
            f"By the formula this run is {predicted.value:.2f} times as fast as ordinary decoding; "
            f"its mean step reaches {reached:.2f} times a bare target forward, which samples "
            "nothing and keeps no books. Only a baseline beside it decides.",
            {"predicted_speedup": predicted.value, "mean_step_speedup": reached},
        )


def _doubt(evidence: _Evidence) -> Iterator[Finding]:
    if evidence.doubt is not None:
        yield Finding(
            "timing_doubtful",
            Severity.WARNING,
            evidence.doubt.sentence
            + ("" if evidence.has_baseline else " A baseline beside it measures instead."),
            {"drift": evidence.doubt.drift},
        )


_RULES: tuple[Callable[[_Evidence], Iterator[Finding]], ...] = (
    _acceptance,
    _sampler,
    _few_drafted,
    _gamma,
    _time,
    _verify_width,
    _not_reached,
    _doubt,
)
_FROM_COSTS = (
    "drafting_does_not_pay",
    "other_gamma",
    "verify_width_cost_high",
    "prediction_not_reached",
)
_LESS_THAN_GAMMA = ("draft_share_high", "acceptance_high")


def _against(snapshot: Snapshot, baseline: Snapshot) -> Iterator[Finding]:
    measured = measured_speedup(snapshot, baseline)
    n_prompts = len(measured.prompts) if measured else 0
    if measured is None or n_prompts < MIN_PROMPTS:
        return
    low, high = measured.low or measured.value, measured.high or measured.value
    is_slower = high < 1.0
    verdict = "slower" if is_slower else "faster" if low > 1.0 else "neither faster nor slower"
    yield Finding(
        "measured_speedup",
        Severity.WARNING if is_slower else Severity.INFO,
        f"Against the baseline {measured.value:.2f} times the speed over "
        f"{n_prompts} prompts (95 %: {low:.2f} to {high:.2f}): {verdict}.",
        {"measured_speedup": measured.value, "low": low, "high": high, "n_prompts": n_prompts},
    )
