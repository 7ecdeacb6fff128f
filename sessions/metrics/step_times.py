"""When each engine step began and ended, for the steps of a time."""

from dataclasses import dataclass

import numpy as np

from sessions.columns import Array
from sessions.metrics.lanes import rows_within
from sessions.snapshot import Snapshot

N_USUAL = 32
"""Steps that ``usual_step_ns`` looks at."""


@dataclass(frozen=True, slots=True, eq=False)
class StepTimes:
    """One entry per engine step, in order."""

    step: Array  # [n] int32
    start_ns: Array  # [n] int64
    end_ns: Array  # [n] int64
    is_open: bool = False
    """Whether the newest is not committed yet: it ends where it was last heard of."""

    def place_of(self, steps: Array) -> Array:
        """The entry of each of ``steps``; -1 where there is none."""
        if not len(self.step):
            return np.full(len(steps), -1)
        place = np.searchsorted(self.step, steps).clip(max=len(self.step) - 1)
        return np.where(self.step[place] == steps, place, -1)


def steps_within(snapshot: Snapshot, start_ns: int, end_ns: int) -> StepTimes:
    """The steps that may lie within a time: their own span where it was measured, else the wall
    time up to the last commit."""
    spans, steps = snapshot.spans, snapshot.steps
    rows = rows_within(steps, start_ns, end_ns)
    numbers, commit_ns, took_ns = (steps[name][rows] for name in ("step", "t_ns", "step_ns"))
    firsts = np.flatnonzero(np.diff(numbers, prepend=numbers[:1] - 1))
    committed = numbers[firsts]
    starts, ends = commit_ns[:0], commit_ns[:0]
    if len(firsts):
        starts = np.minimum.reduceat(commit_ns - took_ns, firsts)
        ends = np.maximum.reduceat(commit_ns, firsts)
    rows = rows_within(spans, start_ns, end_ns)
    is_step = spans["name"][rows] == spans.code("step")
    measured = spans["step"][rows][is_step]
    span_start_ns = spans["start_ns"][rows][is_step]
    span_end_ns = span_start_ns + spans["host_ns"][rows][is_step]
    # Of a step in both the first is kept: the span.
    merged, picks = np.unique(np.concatenate((measured, committed)), return_index=True)
    start = np.concatenate((span_start_ns, starts))[picks]
    end = np.concatenate((span_end_ns, ends))[picks]
    return _with_open_step(snapshot, StepTimes(merged, start, end), end_ns)


def step_bounds(snapshot: Snapshot, step: int) -> tuple[int, int] | None:
    """When a step began and ended; None for one that nobody has heard of."""
    numbers, t_ns = snapshot.steps["step"], snapshot.steps["t_ns"]
    place = int(np.searchsorted(numbers, step))
    is_known = place < len(numbers) and int(numbers[place]) == step
    moment = int(t_ns[place]) if is_known else snapshot.t_ns
    times = steps_within(snapshot, moment, moment + 1)
    entry = int(times.place_of(np.array([step]))[0])
    return None if entry < 0 else (int(times.start_ns[entry]), int(times.end_ns[entry]))


def first_and_last_step(snapshot: Snapshot, start_ns: int, end_ns: int) -> tuple[int, int] | None:
    """The steps committed within a time, the one under way at its end included; None where none
    was."""
    steps = snapshot.steps
    rows = rows_within(steps, start_ns, end_ns)
    if rows.start >= rows.stop:
        return None
    last = rows.stop - 1
    began_ns = int(steps["t_ns"][last]) - int(steps["step_ns"][last])
    if began_ns >= end_ns and last > rows.start:
        last = int(np.searchsorted(steps["step"][: last + 1], steps["step"][last])) - 1
    return int(steps["step"][rows.start]), int(steps["step"][max(last, rows.start)])


def usual_step_ns(snapshot: Snapshot) -> int | None:
    """From one step's end to the next one's, the median of the newest; None before the first."""
    steps = snapshot.steps
    n = len(steps)
    if not n:
        return None
    tail = slice(max(0, n - 8 * N_USUAL), n)
    numbers, t_ns, took_ns = (steps[name][tail] for name in ("step", "t_ns", "step_ns"))
    lasts = np.flatnonzero(np.diff(numbers, append=numbers[-1:] + 1))[-N_USUAL - 1 :]
    between = np.diff(t_ns[lasts])
    return max(1, int(np.median(between)) if len(between) else int(took_ns[-1]))


def _with_open_step(snapshot: Snapshot, times: StepTimes, end_ns: int) -> StepTimes:
    """With the step that was proposed and is not committed, if it lies before ``end_ns``."""
    drafts, steps, verdicts = snapshot.drafts, snapshot.steps, snapshot.verdicts
    if not len(drafts):
        return times
    newest = int(drafts["step"][-1])
    is_committed = len(steps) > 0 and int(steps["step"][-1]) >= newest
    if is_committed or (len(times.step) and int(times.step[-1]) >= newest):
        return times
    heard = [int(table["t_ns"][-1]) for table in (drafts, verdicts) if len(table)]
    before = [int(table["t_ns"][-1]) for table in (steps, snapshot.prefills) if len(table)]
    start = min(max(before, default=0), max(heard))
    if start >= end_ns:
        return times
    return StepTimes(
        np.append(times.step, np.int32(newest)),
        np.append(times.start_ns, np.int64(start)),
        np.append(times.end_ns, np.int64(max(heard))),
        is_open=True,
    )
