"""Moments worth going to: the next rejection, the step that cost the most per token, a step's end.
To be asked of the session as far as it goes, not of the part before the playhead."""

from dataclasses import dataclass

import numpy as np

from sessions.columns import Array
from sessions.metrics.over_time import engine_steps
from sessions.playhead import step_ends
from sessions.snapshot import Snapshot


def next_rejection(snapshot: Snapshot, t_ns: int) -> int | None:
    """The first moment behind ``t_ns`` at which a step with a rejected token is complete."""
    moments = _rejections(snapshot)
    place = int(np.searchsorted(moments, t_ns, side="right"))
    return int(moments[place]) if place < len(moments) else None


def previous_rejection(snapshot: Snapshot, t_ns: int) -> int | None:
    """The last such moment before ``t_ns``."""
    moments = _rejections(snapshot)
    place = int(np.searchsorted(moments, t_ns, side="left")) - 1
    return int(moments[place]) if place >= 0 else None


@dataclass(frozen=True, slots=True)
class WorstStep:
    """The engine step that took longest per committed token."""

    step: int
    ns: int
    n_committed: int


def worst_step(snapshot: Snapshot) -> WorstStep | None:
    """The first of equals; None before the first commit."""
    steps = engine_steps(snapshot)
    if not len(steps.step):
        return None
    place = int(np.argmax(steps.ns / np.maximum(steps.n_committed, 1)))
    return WorstStep(*(int(column[place]) for column in (steps.step, steps.ns, steps.n_committed)))


def step_moment(snapshot: Snapshot, step: int) -> int | None:
    """When a step is complete, its spans told; of one that is not committed, its newest proposal;
    None for a step that nobody has heard of."""
    steps, spans, drafts = snapshot.steps, snapshot.spans, snapshot.drafts
    tables = (steps, spans) if _last_row(steps["step"], step) is not None else (drafts,)
    rows = [(table, _last_row(table["step"], step)) for table in tables]
    moments = [int(table["t_ns"][row]) for table, row in rows if row is not None]
    return max(moments, default=None)


def _rejections(snapshot: Snapshot) -> Array:
    """When the steps with a rejected token were complete, ascending [n] int64. A draft that was
    not accepted whole had one token tested and refused."""
    verdicts, steps = snapshot.verdicts, snapshot.steps
    has_rejection = verdicts["n_accepted"] < verdicts["n_drafted"]
    rejecting = verdicts["step"][has_rejection]
    numbers = steps["step"]
    committed = numbers[np.diff(numbers, prepend=numbers[:1] - 1) != 0]
    place = np.searchsorted(committed, rejecting)
    is_known = place < len(committed)
    is_known[is_known] = committed[place[is_known]] == rejecting[is_known]
    ends: Array = step_ends(snapshot)[np.unique(place[is_known])]
    return ends


def _last_row(steps: Array, step: int) -> int | None:
    row = int(np.searchsorted(steps, step, side="right")) - 1
    return row if row >= 0 and int(steps[row]) == step else None
