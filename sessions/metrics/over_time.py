"""Rates as they went along: the last few drafts' acceptance, the last few steps' speed."""

from dataclasses import dataclass

import numpy as np

from sessions.columns import Array
from sessions.metrics.interval import ratio
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.snapshot import Snapshot

WINDOW_DRAFTS = 32
WINDOW_STEPS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """``values[i]`` at ``t_ns[i]``; no point where there is no value."""

    t_ns: Array  # [n] int64
    values: Array  # [n] float64


@dataclass(frozen=True, slots=True, eq=False)
class EngineSteps:
    """One entry per engine step: sequences decoded together are counted once.

    ``ns`` is the step's wall time up to its last commit: pauses, prefill and calibration are
    apart. Of one sequence alone it is that sequence's own.
    """

    step: Array  # [n] int32
    t_ns: Array  # [n] int64, of the last commit
    ns: Array  # [n] int64
    n_committed: Array  # [n] int64, of all sequences
    n_sequences: Array  # [n] int64

    @property
    def total_ns(self) -> int:
        return int(self.ns.sum())


def engine_steps(snapshot: Snapshot, selection: Selection = EVERYTHING) -> EngineSteps:
    """The committed steps, in order."""
    steps = snapshot.steps
    rows = selection.rows(steps)
    numbers = steps["step"][rows]
    if not len(numbers):
        none = np.zeros(0, np.int64)
        return EngineSteps(numbers, none, none, none, none)
    firsts = np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1])))
    return EngineSteps(
        step=numbers[firsts],
        t_ns=np.maximum.reduceat(steps["t_ns"][rows], firsts),
        ns=np.maximum.reduceat(steps["step_ns"][rows], firsts),
        n_committed=np.add.reduceat(steps["n_committed"][rows].astype(np.int64), firsts),
        n_sequences=np.diff(firsts, append=len(numbers)),
    )


def tokens_per_second(snapshot: Snapshot, selection: Selection = EVERYTHING) -> float | None:
    """Committed tokens / time in steps."""
    steps = engine_steps(snapshot, selection)
    return ratio(int(steps.n_committed.sum()) * 1e9, steps.total_ns)


def throughput_over_time(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, window_steps: int = WINDOW_STEPS
) -> Series:
    """Tokens per second of time in steps, over the last ``window_steps`` engine steps."""
    steps = engine_steps(snapshot, selection)
    return _rolling(steps.t_ns, steps.n_committed * 1e9, steps.ns, window_steps)


def acceptance_over_time(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, window_drafts: int = WINDOW_DRAFTS
) -> Series:
    """Accepted / tested over the last ``window_drafts`` verified drafts.

    A draft that was not accepted whole had one token tested and refused.
    """
    verdicts = snapshot.verdicts
    rows = selection.rows(verdicts)
    n_accepted, n_drafted = verdicts["n_accepted"][rows], verdicts["n_drafted"][rows]
    has_draft = n_drafted > 0
    accepted = n_accepted[has_draft].astype(np.int64)
    tested = accepted + (accepted < n_drafted[has_draft])
    return _rolling(verdicts["t_ns"][rows][has_draft], accepted, tested, window_drafts)


def _rolling(t_ns: Array, numerators: Array, denominators: Array, window: int) -> Series:
    """Sums over the last ``window`` entries, divided; at the beginning over as many as there
    are."""
    ends = np.arange(1, len(t_ns) + 1)
    starts = np.maximum(ends - window, 0)
    above = np.concatenate(([0], np.cumsum(numerators)))
    below = np.concatenate(([0], np.cumsum(denominators)))
    total = below[ends] - below[starts]
    has_value = total > 0
    values = (above[ends] - above[starts])[has_value] / total[has_value]
    return Series(t_ns[has_value], values)
