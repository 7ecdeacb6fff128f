"""Which sequence and which step a view is about, where the user has not said."""

from dataclasses import dataclass

import numpy as np

from sessions.snapshot import Snapshot
from sessions.step_verdict import sequences_of, steps_of
from sessions.tables import SequenceChange
from ui.moment import View


@dataclass(frozen=True, slots=True)
class NamedSequence:
    """``name`` is its number with the label that the user gave the prompt."""

    sequence_id: int
    name: str


def started_sequences(snapshot: Snapshot) -> tuple[NamedSequence, ...]:
    """Every sequence once, in the order first started."""
    sequences = snapshot.sequences
    rows = np.flatnonzero(sequences["change"] == SequenceChange.STARTED)
    ids = sequences["sequence_id"][rows]
    _, firsts = np.unique(ids, return_index=True)
    firsts.sort()
    names = sequences.texts("label", rows[firsts])
    return tuple(
        NamedSequence(number, f"{number} {name}" if name else str(number))
        for number, name in zip(ids[firsts].tolist(), names, strict=True)
    )


def sequence_of(snapshot: Snapshot, view: View) -> int | None:
    """The sequence looked at: the selected one; or else one of the selected step; or else the one
    that started last. None before the first."""
    sequences = snapshot.sequences
    ids = sequences["sequence_id"][sequences["change"] == SequenceChange.STARTED]
    if view.sequence_id is not None and (ids == view.sequence_id).any():
        return view.sequence_id
    if view.step is not None and len(here := sequences_of(snapshot, view.step)):
        return int(here[-1])
    if len(snapshot.drafts):  # a prompt that was stopped before its first step is not the newest
        return int(snapshot.drafts["sequence_id"][-1]) if _is_over(snapshot) else int(ids[-1])
    return int(ids[-1]) if len(ids) else None


def _is_over(snapshot: Snapshot) -> bool:
    return len(snapshot.ends) > 0


def newest_step(snapshot: Snapshot) -> int | None:
    """The step that is being made, or was last; steps are counted from 0. None before the first."""
    tables = (snapshot.drafts, snapshot.steps)
    return max((int(table["step"][-1]) for table in tables if len(table)), default=None)


def step_of(snapshot: Snapshot, view: View) -> tuple[int, int] | None:
    """The sequence and the step looked at: the selected step, of the sequence looked at if it took
    part; or else that one's newest step, or anybody's while the newest sequence has none. None
    before the first."""
    sequence_id = sequence_of(snapshot, view)
    if sequence_id is None:
        return None
    if view.step is not None and len(here := sequences_of(snapshot, view.step)):
        return (sequence_id if (here == sequence_id).any() else int(here[-1])), view.step
    steps = steps_of(snapshot, sequence_id)
    if len(steps):
        return sequence_id, int(steps[-1])
    drafts = snapshot.drafts
    if view.sequence_id is not None or not len(drafts):
        return None
    return int(drafts["sequence_id"][-1]), int(drafts["step"][-1])
