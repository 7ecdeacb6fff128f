"""What the speeds of two sessions differ by, split without a remainder.

tokens per second   tokens per step * sequences per step / step time
step time           drafting + verifying + the rest

So the ratio of two speeds is the ratio of their tokens per step, times that of their sequences per
step, over that of their step times; and the difference of two step times is the sum of what each
part takes more, or less.
"""

from dataclasses import dataclass

from sessions.metrics.over_time import engine_steps
from sessions.metrics.time_split import Clock, time_split
from sessions.snapshot import Snapshot

_NS_PER_MS = 1e6
_UNMEASURED = 0.02
"""Share of the steps that may lack spans, as the newest does while it is committed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepParts:
    """Milliseconds of a mean step, or what two of them differ by. ``rest_ms`` is sampling,
    committing and whatever else is neither of the two: step - draft - verify."""

    clock: Clock
    draft_ms: float
    verify_ms: float
    rest_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanStep:
    """Of the committed steps, those whose kernels were recorded apart. Sequences that are decoded
    together share an engine step."""

    tokens_per_step: float  # committed / steps of a sequence
    sequences_per_step: float  # steps of a sequence / engine steps
    step_ms: float  # time in steps / engine steps
    parts: StepParts | None  # None where they were not measured

    @property
    def tokens_per_second(self) -> float:
        return self.tokens_per_step * self.sequences_per_step * 1e3 / self.step_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedRatio:
    """One session / another: ``value`` = ``tokens_per_step`` * ``sequences_per_step`` /
    ``step_time``. ``parts`` are what the one's step takes more than the other's, in ms; None where
    either has none, or where they were timed by different clocks."""

    value: float
    tokens_per_step: float
    sequences_per_step: float
    step_time: float
    parts: StepParts | None


def mean_step(snapshot: Snapshot) -> MeanStep | None:
    """None where no step was committed, or none took time."""
    steps = engine_steps(snapshot)
    n_engine_steps, n_committed = len(steps.step), int(steps.n_committed.sum())
    if not n_committed or not steps.total_ns:
        return None
    n_steps = int(steps.n_sequences.sum())
    step_ms = steps.total_ns / n_engine_steps / _NS_PER_MS
    return MeanStep(
        tokens_per_step=n_committed / n_steps,
        sequences_per_step=n_steps / n_engine_steps,
        step_ms=step_ms,
        parts=_parts(snapshot, n_engine_steps, step_ms),
    )


def speed_ratio(one: MeanStep, other: MeanStep) -> SpeedRatio:
    """How many times as fast the one is, and what that is made of."""
    mine, theirs = one.parts, other.parts
    parts = None
    if mine is not None and theirs is not None and mine.clock == theirs.clock:
        parts = StepParts(
            clock=mine.clock,
            draft_ms=mine.draft_ms - theirs.draft_ms,
            verify_ms=mine.verify_ms - theirs.verify_ms,
            rest_ms=mine.rest_ms - theirs.rest_ms,
        )
    return SpeedRatio(
        value=one.tokens_per_second / other.tokens_per_second,
        tokens_per_step=one.tokens_per_step / other.tokens_per_step,
        sequences_per_step=one.sequences_per_step / other.sequences_per_step,
        step_time=one.step_ms / other.step_ms,
        parts=parts,
    )


def _parts(snapshot: Snapshot, n_engine_steps: int, step_ms: float) -> StepParts | None:
    """Means over the steps that have spans; None where these are not all, but for the newest."""
    split = time_split(snapshot)
    if split is None:
        return None
    n_apart = abs(split.n_steps - n_engine_steps)
    if n_apart > max(1.0, _UNMEASURED * n_engine_steps):
        return None
    draft_ms = split.draft_ns / split.n_steps / _NS_PER_MS
    verify_ms = split.verify_ns / split.n_steps / _NS_PER_MS
    return StepParts(
        clock=split.clock,
        draft_ms=draft_ms,
        verify_ms=verify_ms,
        rest_ms=step_ms - draft_ms - verify_ms,
    )
