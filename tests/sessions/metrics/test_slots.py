"""Rows of sequences: never two that run at once in one row."""

import numpy as np

from sessions.metrics.slots import sequence_slots
from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript


def test_one_after_the_other_share_a_row() -> None:
    script = EventScript()
    for _ in range(3):
        sequence_id = script.sequence()
        script.step(sequence_id)
        script.finish_sequence(sequence_id)
    slots = sequence_slots(snapshot_of(script.events))
    assert slots.n == 1
    assert slots.of(np.array([2, 0, 5])).tolist() == [0, 0, -1]


def test_the_first_free_row_is_taken() -> None:
    script = EventScript()
    for _ in range(3):
        script.sequence()
    script.finish_sequence(1)
    script.sequence()
    script.finish()
    slots = sequence_slots(snapshot_of(script.events))
    assert slots.sequence_ids.tolist() == [0, 1, 2, 3]
    assert slots.slots.tolist() == [0, 1, 2, 1]
    assert slots.n == 3


def test_a_sequence_that_is_set_back_keeps_its_row() -> None:
    script = EventScript()
    script.sequence()
    script.sequence()
    script.set_back(0)
    script.sequence()
    script.resume(0)
    slots = sequence_slots(snapshot_of(script.events))
    assert slots.slots.tolist() == [0, 1, 2]


def test_no_sequence_has_no_row() -> None:
    slots = sequence_slots(snapshot_of([]))
    assert slots.n == 0
    assert slots.of(np.array([0])).tolist() == [-1]
