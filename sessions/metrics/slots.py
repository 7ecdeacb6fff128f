"""Which row of a picture each sequence takes: sequences that run at the same time never share
one, those that follow each other do."""

from dataclasses import dataclass

import numpy as np

from sessions.columns import Array
from sessions.snapshot import Snapshot
from sessions.tables import SequenceChange


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """``slots[i]`` is the row of ``sequence_ids[i]``, ascending by id."""

    sequence_ids: Array  # [n] int32
    slots: Array  # [n] int32
    n: int  # rows in all

    def of(self, sequence_ids: Array) -> Array:
        """The row of each; -1 for a sequence nobody started. [n] int32."""
        if not len(self.sequence_ids):
            return np.full(len(sequence_ids), -1, np.int32)
        place = np.searchsorted(self.sequence_ids, sequence_ids)
        place = place.clip(max=len(self.sequence_ids) - 1)
        return np.where(self.sequence_ids[place] == sequence_ids, self.slots[place], -1)


def sequence_slots(snapshot: Snapshot) -> Slots:
    """Each sequence takes the first free row when it starts and leaves it when it finishes; one
    that is set back keeps it."""
    ids, changes = snapshot.sequences["sequence_id"], snapshot.sequences["change"]
    is_start = changes == SequenceChange.STARTED
    is_one_by_one = bool(is_start[::2].all() and not is_start[1::2].any()) and bool(
        (changes[1::2] == SequenceChange.FINISHED).all()
    )
    if is_one_by_one:
        known = np.unique(ids)
        return Slots(known, np.zeros(len(known), np.int32), min(len(known), 1))
    taken: dict[int, int] = {}
    running: dict[int, int] = {}
    for sequence_id, change in zip(ids.tolist(), changes.tolist(), strict=True):
        if change == SequenceChange.STARTED and sequence_id not in running:
            used = set(running.values())
            slot = next(row for row in range(len(used) + 1) if row not in used)
            running[sequence_id] = taken[sequence_id] = slot
        elif change == SequenceChange.FINISHED:
            running.pop(sequence_id, None)
    known = np.array(sorted(taken), np.int32)
    slots = np.array([taken[sequence_id] for sequence_id in known.tolist()], np.int32)
    return Slots(known, slots, int(slots.max(initial=-1)) + 1)
