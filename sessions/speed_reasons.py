"""Why one session is slower than the fastest, in a sentence: arithmetic on what was recorded.

The ratio of two speeds is the ratio of the tokens per step over that of the step times
(``metrics.speed_ratio``); which of both it comes from is computed. More tokens per step come from
more accepted, from longer drafts, and from more steps that have a draft: those that differ are
named, and those that differ the other way with a "despite". What chance explains is not explained.
Sessions that did not do the same work are not held against each other: each is told of beside the
fastest that did the same.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from sessions.comparability import differences, prompts_begun
from sessions.findings import MIN_PROMPTS, NEAR_ONE
from sessions.metrics.counts import Counts, count
from sessions.metrics.doubt import calibration_doubt
from sessions.metrics.interval import ratio
from sessions.metrics.speed_ratio import MeanStep, SpeedRatio, StepParts, mean_step, speed_ratio
from sessions.metrics.speedup import MeasuredSpeedup, measured_speedup
from sessions.snapshot import Snapshot

OTHER_WORK = ("prompts", "target")
"""What sessions may not differ in: their speeds would be those of different work."""
_OF_THE_DRAFT = ("draft's dtype", "draft's device")
"""Differences that come with another draft, and need no reserve."""
_WORTH_NAMING = 0.03
"""Relative difference of a figure below which the tokens per step hardly come from it."""
_ALIKE = 0.005
"""Of a factor: what lies so close to 1 is printed as 1.00."""


class ReasonKind(StrEnum):
    REASON = "reason"
    NO_DIFFERENCE = "no_difference"  # that chance does not explain, or that matters
    OTHER_WORK = "other_work"  # the two cannot be held against each other
    PART_OF_THE_WORK = "part_of_the_work"  # one began only the first of the other's prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedReason:
    """``sentence`` begins with ``name``. ``best`` is the fastest that did the same work, or of all
    where none did. ``ratio`` is this session's speed over that of ``best``, with its factors;
    ``is_doubted`` where the machine was busier while either decoded than when it was timed before,
    so that the steps may have been longer for that."""

    name: str
    best: str
    kind: ReasonKind
    sentence: str
    ratio: SpeedRatio
    is_best_of_all: bool = True  # whether no session at all is faster than ``best``
    is_doubted: bool = False

    @property
    def words(self) -> str:
        """The sentence, and that it is in doubt where it is."""
        return f"in doubt: {self.sentence}" if self.is_doubted else self.sentence


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    name: str
    snapshot: Snapshot
    step: MeanStep


def speed_reasons(sessions: Sequence[tuple[str, Snapshot]]) -> tuple[SpeedReason, ...]:
    """One for each session but the fastest (most tokens per second, the first of equals) of those
    that did the same work, in the order given; those that have committed nothing are left out."""
    steps = [(name, snapshot, mean_step(snapshot)) for name, snapshot in sessions]
    sides = [_Side(name, snapshot, step) for name, snapshot, step in steps if step is not None]
    ranked = sorted(sides, key=lambda side: -side.step.tokens_per_second)  # equals as they came
    reasons = (_reason(side, ranked) for side in sides)
    return tuple(reason for reason in reasons if reason is not None)


def _reason(side: _Side, ranked: Sequence[_Side]) -> SpeedReason | None:
    """``ranked``: the fastest first. None of the fastest of those that did the same work."""
    slower = ranked[ranked.index(side) + 1 :]
    for other in ranked:
        if other is not side and not _apart(side, other).words:
            return None if other in slower else _against(side, other, ranked[0])
    return None if side is ranked[0] else _against(side, ranked[0], ranked[0])


def _against(side: _Side, best: _Side, fastest: _Side) -> SpeedReason:
    found, apart = speed_ratio(side.step, best.step), _apart(side, best)
    sentence, kind, is_doubted = apart.words, apart.kind, False
    if not sentence:
        sentence, kind = _compared_words(side, best, found, apart.others)
        is_doubted = _was_busy(side.snapshot) or _was_busy(best.snapshot)
    return SpeedReason(
        name=side.name,
        best=best.name,
        kind=kind,
        sentence=sentence,
        ratio=found,
        is_best_of_all=best is fastest,
        is_doubted=is_doubted,
    )


def _compared_words(
    side: _Side, best: _Side, found: SpeedRatio, others: Sequence[str]
) -> tuple[str, ReasonKind]:
    """Of two that did the same work; ``others`` is what else they differ in."""
    measured = measured_speedup(side.snapshot, best.snapshot)
    alike = _alike_words(side.name, best.name, found.value, measured)
    if alike:
        return alike, ReasonKind.NO_DIFFERENCE
    factors = _factor_words(found, count(side.snapshot), count(best.snapshot), best.name)
    words = f"{side.name} has {_times(found.value)} times the speed of {best.name}: {factors}."
    return f"{words}{_reserve(measured, others)}", ReasonKind.REASON


# --- whether they did the same work ------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Apart:
    """``words`` say why two sessions cannot be held against each other: "" where they can.
    ``others`` is what they differ in besides, that may have changed their speeds."""

    words: str
    kind: ReasonKind
    others: Sequence[str]


def _apart(side: _Side, other: _Side) -> _Apart:
    found = differences([(side.name, side.snapshot), (other.name, other.snapshot)])
    what = [each.what for each in found if each.what not in _OF_THE_DRAFT]
    forbidding = [each for each in what if each in OTHER_WORK]
    others = [each for each in what if each not in OTHER_WORK]
    part = _part_words(side, other) if forbidding == ["prompts"] else ""
    if part:
        return _Apart(part, ReasonKind.PART_OF_THE_WORK, others)
    words = (
        f"{side.name} cannot be held against {other.name}: they differ in {_listed(forbidding)}."
    )
    return _Apart(words if forbidding else "", ReasonKind.OTHER_WORK, others)


def _part_words(side: _Side, other: _Side) -> str:
    """That the one began only the first of the other's prompts, as where it was cut short or both
    are looked at before their end; "" where neither did."""
    mine, theirs = prompts_begun(side.snapshot), prompts_begun(other.snapshot)
    n = min(len(mine), len(theirs))
    if not n or mine[:n] != theirs[:n]:
        return ""
    if len(mine) < len(theirs):
        began = f"{n} of the {len(theirs)} prompts that {other.name} began"
    else:
        first = "the first" if n == 1 else f"the first {n}"
        began = f"{len(mine)} prompts, {other.name} only {first} of them"
    return f"{side.name} began {began}: as a whole, the two cannot be held against each other."


# --- the sentence ----------------------------------------------------------------------------


def _alike_words(name: str, best: str, value: float, measured: MeasuredSpeedup | None) -> str:
    """That the two do not differ, with the interval over prompts; "" where they do."""
    if _has_interval(measured):
        assert measured is not None
        low, high = measured.low or measured.value, measured.high or measured.value
        by_prompt = (
            f"{_times(value)} times the speed over all tokens, prompt by prompt "
            f"{_times(measured.value)} "
            f"(95 % over {len(measured.prompts)} prompts: {_times(low)} to {_times(high)})"
        )
        if low <= 1.0 <= high:
            return f"{name} and {best} differ by no more than chance explains: {by_prompt}."
        if low > 1.0:  # than the one that has more tokens per second
            return (
                f"{name} is slower or faster than {best}, by how prompts are weighed: {by_prompt}."
            )
    if value > 1.0 - NEAR_ONE:
        return f"{name} is about as fast as {best}: {_times(value)} times the speed."
    return ""


def _has_interval(measured: MeasuredSpeedup | None) -> bool:
    return measured is not None and len(measured.prompts) >= MIN_PROMPTS


def _was_busy(snapshot: Snapshot) -> bool:
    doubt = calibration_doubt(snapshot)
    return doubt is not None and doubt.drift > 1.0


def _reserve(measured: MeasuredSpeedup | None, what: Sequence[str]) -> str:
    """What else it may come from: chance, and other differences."""
    words = f" They also differ in {_listed(what)}, which may be why." if what else ""
    if _has_interval(measured):
        return words
    n = len(measured.prompts) if measured is not None else 0
    are = "prompt is" if n == 1 else "prompts are"
    return f"{words} {n} {are} too few to tell it from chance."


# --- the factors -----------------------------------------------------------------------------


def _factor_words(found: SpeedRatio, mine: Counts, theirs: Counts, best: str) -> str:
    """What makes it slower, the most first, and what that outweighs."""
    tokens, sequences = found.tokens_per_step, found.sequences_per_step
    factors = sorted(
        (
            (math.log(tokens), _tokens_words(tokens, mine, theirs, best)),
            (math.log(sequences), f"{_times(sequences)} times the sequences per step"),
            (-math.log(found.step_time), _time_words(found)),
        )
    )
    slower = [words for size, words in factors if size < -_ALIKE]
    faster = [words for size, words in reversed(factors) if size > _ALIKE]
    words = _listed(slower)
    if faster:
        return f"{words} outweigh {_listed(faster)}"
    return f"{words}{_alike_factors(found)}"


def _alike_factors(found: SpeedRatio) -> str:
    words = ""
    if abs(math.log(found.tokens_per_step)) <= _ALIKE:
        words += ", tokens per step alike"
    if abs(math.log(found.step_time)) <= _ALIKE:
        words += ", steps equally long"
    return words


def _time_words(found: SpeedRatio) -> str:
    parts = "" if found.parts is None else _parts_words(found.parts)
    return f"steps {_times(found.step_time)} times as long{parts}"


def _parts_words(parts: StepParts) -> str:
    """Those that are not zero at the digits that the largest deserves."""
    named = (
        ("drafting", parts.draft_ms),
        ("verifying", parts.verify_ms),
        ("the rest", parts.rest_ms),
    )
    largest = max(abs(ms) for _, ms in named)
    digits = 0 if largest >= 50.0 else 1 if largest >= 0.5 else 2 if largest >= 0.05 else 3
    told = [f"{name} {ms:+.{digits}f} ms" for name, ms in named if round(ms, digits)]
    return f" ({', '.join(told)})" if told else ""


def _tokens_words(factor: float, mine: Counts, theirs: Counts, best: str) -> str:
    words = f"{_times(factor)} times the tokens per step"
    if not mine.n_drafted and not theirs.n_drafted:
        return words
    if not mine.n_drafted:
        return f"{words} (it drafted nothing)"
    if not theirs.n_drafted:
        return f"{words} (acceptance {mine.acceptance_rate:.2f}; {best} drafted nothing)"
    why = _draft_words(factor, mine, theirs)
    return f"{words} ({why})" if why else words


def _draft_words(factor: float, mine: Counts, theirs: Counts) -> str:
    """Which figures of the drafts differ: first those that go the way of the tokens per step."""
    figures = (
        ("acceptance {}", ".2f", mine.acceptance_rate, theirs.acceptance_rate),
        ("drafts of {} tokens", ".1f", mine.mean_draft_length, theirs.mean_draft_length),
        ("a draft in {} of the steps", ".0%", _drafted_share(mine), _drafted_share(theirs)),
    )
    seen = [
        (form.format(format(one, digits)) + f" against {other:{digits}}", one, other)
        for form, digits, one, other in figures
        if one is not None and other is not None and f"{one:{digits}}" != f"{other:{digits}}"
    ]
    told = [each for each in seen if abs(each[1] - each[2]) > _WORTH_NAMING * each[2]] or seen
    along = [words for words, one, other in told if (one > other) == (factor > 1.0)]
    against = [words for words, one, other in told if (one > other) != (factor > 1.0)]
    parts = [*along, f"despite {_listed(against)}"] if against else along
    return ", ".join(parts)


def _drafted_share(counts: Counts) -> float | None:
    return ratio(counts.n_steps_drafted, counts.n_steps)


def _times(value: float) -> str:
    """A ratio at the digits it deserves: 0.0033, 0.67, 12.5, 300."""
    if value < 0.1:
        return f"{Decimal(f'{value:.2g}'):f}"
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}"


def _listed(words: Sequence[str]) -> str:
    """As a person lists them."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
