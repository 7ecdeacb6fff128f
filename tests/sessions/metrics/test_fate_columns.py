"""Fates over time: every judged token counted once, in the column of its verdict."""

import time

import numpy as np

from engine.wire.events import DraftProposed, Event
from sessions.metrics.fate_columns import PROPOSED, fate_counts, fates_within, longest_draft
from sessions.metrics.lanes import grid_over
from sessions.metrics.slots import sequence_slots
from sessions.tables import ACCEPTED, DISCARDED, REJECTED
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import EventScript
from tests.support.long_session import long_snapshot


def two_side_by_side() -> list[Event]:
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    for _ in range(3):
        script.step(0, drafted=3, accepted=1, more=True)
        script.step(1, drafted=2, accepted=2)
    return script.events


def test_counts_per_position_and_fate() -> None:
    snapshot = snapshot_of(drafted([0, 2, 3], 3))
    grid = grid_over(0, snapshot.t_ns, 1)
    counts = fate_counts(
        snapshot, sequence_slots(snapshot), grid, n_slots=1, n_positions=3
    ).sum(axis=3)[0]  # fmt: skip
    assert counts[:, ACCEPTED].tolist() == [2, 2, 1]
    assert counts[:, REJECTED].tolist() == [1, 0, 1]
    assert counts[:, DISCARDED].tolist() == [0, 1, 1]


def test_a_token_is_in_the_column_of_its_verdict() -> None:
    snapshot = snapshot_of(drafted([0, 2, 3], 3))
    slots = sequence_slots(snapshot)
    grid = grid_over(0, snapshot.t_ns, 500)
    counts = fate_counts(snapshot, slots, grid, n_slots=1, n_positions=3)
    columns = np.flatnonzero(counts.sum(axis=(0, 1, 2)))
    verdicts = (snapshot.verdicts["t_ns"] - grid.first_ns) // grid.column_ns
    assert columns.tolist() == verdicts.tolist()


def test_sequences_have_rows_of_their_own() -> None:
    snapshot = snapshot_of(two_side_by_side())
    slots, grid = sequence_slots(snapshot), grid_over(0, snapshot.t_ns, 9)
    counts = fate_counts(snapshot, slots, grid, n_slots=2, n_positions=3).sum(axis=3)
    assert counts[0].sum() == 9
    assert counts[1, :, ACCEPTED].tolist() == [3, 3, 0]
    alone = fate_counts(
        snapshot, slots, grid, n_slots=1, n_positions=3, sequence_id=1
    ).sum(axis=3)  # fmt: skip
    assert alone.tolist() == counts[1:].tolist()
    first = fate_counts(snapshot, slots, grid, n_slots=1, n_positions=2).sum(axis=3)
    assert first.tolist() == counts[:1, :2].tolist()


def test_tokens_one_by_one() -> None:
    snapshot = snapshot_of(two_side_by_side())
    slots = sequence_slots(snapshot)
    tokens = fates_within(snapshot, slots, 0, snapshot.t_ns + 1)
    table = snapshot.draft_tokens
    assert tokens.fate.tolist() == table["fate"].tolist()
    assert tokens.slot.tolist() == table["sequence_id"].tolist()
    assert tokens.texts == tuple(table.texts("text"))
    np.testing.assert_array_equal(tokens.uniform, table["uniform"])
    one = fates_within(snapshot, slots, 0, snapshot.t_ns + 1, sequence_id=1)
    assert one.slot.tolist() == [0] * 6
    assert one.picked(np.array([1, 3])).draft_index.tolist() == [1, 1]


def test_what_nobody_has_judged_yet_comes_last() -> None:
    events = two_side_by_side()
    cut = max(i for i, event in enumerate(events) if isinstance(event, DraftProposed))
    snapshot = snapshot_of(events[: cut + 1])
    tokens = fates_within(snapshot, sequence_slots(snapshot), 0, snapshot.t_ns + 1)
    assert tokens.fate[-2:].tolist() == [PROPOSED, PROPOSED]
    assert tokens.sequence_id[-2:].tolist() == [1, 1]
    assert PROPOSED not in tokens.fate[:-2]
    assert np.isnan(tokens.target_prob[-2:]).all()
    earlier = fates_within(snapshot, sequence_slots(snapshot), 0, 5)
    assert PROPOSED not in earlier.fate


def test_the_longest_draft() -> None:
    assert longest_draft(snapshot_of(drafted([0, 1], 3))) == 3
    assert longest_draft(snapshot_of([])) == 0


def test_a_long_session_counts_every_token_once() -> None:
    snapshot = long_snapshot(100_000)
    slots, grid = sequence_slots(snapshot), grid_over(0, snapshot.t_ns, 300)
    begun = time.thread_time()
    counts = fate_counts(snapshot, slots, grid, n_slots=1, n_positions=4)
    assert time.thread_time() - begun < 0.5
    fates = snapshot.draft_tokens["fate"]
    assert counts.sum(axis=(0, 1, 3)).tolist() == np.bincount(fates, minlength=3).tolist()
