"""Rates as they went along: the last few drafts' acceptance, the last few steps' speed."""

from dataclasses import dataclass

import numpy as np

from sessions.columns import Array
from sessions.metrics.interval import ratio
from sessions.metrics.selection import EVERYTHING, Selection, profiled_steps, without_steps
from sessions.snapshot import Snapshot
from sessions.tables import DISCARDED

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


def engine_steps(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, with_profiled: bool = False
) -> EngineSteps:
    """The committed steps, in order. Those whose kernels were recorded took longer for it, and are
    left out unless ``with_profiled``."""
    steps = snapshot.steps
    rows = selection.rows(steps)
    if not with_profiled:
        rows = without_steps(rows, steps["step"], profiled_steps(snapshot))
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


def tokens_per_step_over_time(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, window_steps: int = WINDOW_STEPS
) -> Series:
    """Committed tokens per sequence and step, over the last ``window_steps`` engine steps."""
    steps = engine_steps(snapshot, selection)
    return _rolling(steps.t_ns, steps.n_committed, steps.n_sequences, window_steps)


@dataclass(frozen=True, slots=True, eq=False)
class AcceptanceHistory:
    """One entry per verified draft. ``observed`` and ``expected`` are over the last drafts,
    ``so_far`` is accepted / tested of all drafts up to this one."""

    t_ns: Array  # [n] int64
    step: Array  # [n] int32
    observed: Array  # [n] float64
    expected: Array  # [n] float64, mean overlap of the tested tokens
    so_far: Array  # [n] float64


def acceptance_history(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, window_drafts: int = WINDOW_DRAFTS
) -> AcceptanceHistory:
    """Acceptance as it went along, beside what the two models' distributions give."""
    verdicts, tokens = snapshot.verdicts, snapshot.draft_tokens
    rows = selection.rows(verdicts)
    n_drafted = verdicts["n_drafted"][rows]
    has_draft = n_drafted > 0
    lengths = n_drafted[has_draft]
    accepted = verdicts["n_accepted"][rows][has_draft].astype(np.int64)
    t_ns, step = verdicts["t_ns"][rows][has_draft], verdicts["step"][rows][has_draft]
    tested = accepted + (accepted < lengths)
    if not len(t_ns):
        none = np.zeros(0)
        return AcceptanceHistory(t_ns, step, none, none, none)
    token_rows = selection.rows(tokens)
    is_tested = tokens["fate"][token_rows] != DISCARDED
    overlaps = np.where(is_tested, tokens["overlap"][token_rows], 0.0)
    firsts = np.cumsum(lengths, dtype=np.int64) - lengths  # a draft's tokens lie together
    overlap_sums = np.add.reduceat(overlaps, firsts)
    return AcceptanceHistory(
        t_ns=t_ns,
        step=step,
        observed=_rolling(t_ns, accepted, tested, window_drafts).values,
        expected=_rolling(t_ns, overlap_sums, tested, window_drafts).values,
        so_far=np.cumsum(accepted) / np.cumsum(tested),
    )


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
