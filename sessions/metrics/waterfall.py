"""What lies between the tokens a draft ideally gains and the speed-up that is measured.

A step commits N tokens and takes D; a step of ordinary decoding commits one and takes B. The
speed-up is N B / D. The waterfall lets D grow from B to what it is, one cost after the other, and
notes how the speed-up falls:

    ideal             E[N] of the i.i.d. model at the acceptance rate and the lengths drafted
    pattern           N - E[N]: real acceptance is not i.i.d.
    draft             D gains the draft's forwards
    verify_width      D gains what the verification takes longer than the baseline's forward
    sampling          D gains what judging takes longer than the baseline's
    bookkeeping       D gains the rest: drawing drafts, caches, events

Additive: ``ideal`` and the five changes make the measured speed-up. The order matters - a cost
weighs less once others have slowed the step - and is always this one.
"""

from dataclasses import dataclass
from typing import Literal

from sessions.metrics.counts import count
from sessions.metrics.decoding_costs import decoding_costs
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.speedup import draft_lengths, expected_tokens
from sessions.metrics.time_split import TimeSplit, time_split
from sessions.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Change:
    """How much one cost changes the speed-up, and what the speed-up is with it."""

    key: str
    delta: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Waterfall:
    """``ideal`` plus all ``delta`` is ``measured``. ``baseline`` says what ordinary decoding was
    taken to be: another session, or a bare target forward, which has no sampling and no
    bookkeeping, so that all of ours count as loss."""

    baseline: Literal["session", "target forward"]
    ideal: float
    changes: tuple[Change, ...]
    measured: float


@dataclass(frozen=True, slots=True)
class _Step:
    """Mean ns of one engine step."""

    verify: float
    sample: float
    rest: float
    draft_forward: float = 0.0

    @property
    def whole(self) -> float:
        return self.draft_forward + self.verify + self.sample + self.rest


def waterfall(
    snapshot: Snapshot, baseline: Snapshot | None = None, selection: Selection = EVERYTHING
) -> Waterfall | None:
    """None where steps were not measured, nor the baseline's, or no cost of a forward is known.

    The baseline decodes as many sequences together as the session does.
    """
    split, counts = time_split(snapshot, selection), count(snapshot, selection)
    tokens = counts.tokens_per_step
    lengths = draft_lengths(snapshot, selection)
    plain = _plain_step(snapshot, baseline, selection, split)
    if split is None or tokens is None or plain is None or not lengths:
        return None
    step = _mean_step(split)
    if step.whole <= 0 or plain.whole <= 0:
        return None
    ideal = expected_tokens(counts.acceptance_rate or 0.0, lengths)
    growth_ns = (
        ("draft", step.draft_forward - plain.draft_forward),
        ("verify_width", step.verify - plain.verify),
        ("sampling", step.sample - plain.sample),
        ("bookkeeping", step.rest - plain.rest),
    )
    changes = [Change("pattern", tokens - ideal, tokens)]
    taken_ns = plain.whole
    for key, more_ns in growth_ns:
        taken_ns += more_ns
        if taken_ns <= 0:  # a clock too coarse for such a model
            return None
        after = tokens * plain.whole / taken_ns
        changes.append(Change(key, after - changes[-1].after, after))
    return Waterfall(
        baseline="target forward" if baseline is None else "session",
        ideal=ideal,
        changes=tuple(changes),
        measured=changes[-1].after,
    )


def _plain_step(
    snapshot: Snapshot,
    baseline: Snapshot | None,
    selection: Selection,
    split: TimeSplit | None,
) -> _Step | None:
    if baseline is not None:
        others = time_split(baseline)
        return None if others is None else _mean_step(others)
    costs = decoding_costs(snapshot, selection, split=split)
    return None if costs is None else _Step(verify=costs.plain_ns, sample=0.0, rest=0.0)


def _mean_step(split: TimeSplit) -> _Step:
    n = split.n_steps
    return _Step(
        draft_forward=split.draft_forward_ns / n,
        verify=split.verify_ns / n,
        sample=split.sample_ns / n,
        rest=(split.draft_rest_ns + split.commit_ns + split.other_ns) / n,
    )
