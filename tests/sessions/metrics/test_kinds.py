"""Kinds of text: sequences by their labels."""

from sessions.metrics.counts import count
from sessions.metrics.kinds import kinds, selections, spells
from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript


def test_sequences_are_grouped_by_their_labels_in_the_order_started() -> None:
    script = EventScript()
    for label in ("prose", "json", "", "prose"):
        script.sequence("ab", label=label)
    found = kinds(snapshot_of(script.events))
    assert list(found.items()) == [("prose", (0, 3)), ("json", (1,))]


def test_a_sequence_set_back_and_resumed_is_counted_once() -> None:
    script = EventScript()
    script.sequence("ab", label="json")
    script.step(drafted=2, accepted=1)
    script.set_back()
    script.resume()  # starts again, told without its label
    assert dict(kinds(snapshot_of(script.events))) == {"json": (0,)}


def test_each_kind_is_a_part_of_the_session() -> None:
    script = EventScript()
    for label, accepted in (("json", 4), ("code", 1), ("json", 3)):
        sequence_id = script.sequence("ab", label=label)
        script.step(sequence_id, drafted=4, accepted=accepted)
    snapshot = snapshot_of(script.events)
    accepted_of = {
        label: count(snapshot, selection).n_accepted
        for label, selection in selections(snapshot).items()
    }
    assert accepted_of == {"json": 7, "code": 1}


def test_one_kind_alone_is_not_compared() -> None:
    script = EventScript()
    script.sequence("ab", label="json")
    script.sequence("cd")
    snapshot = snapshot_of(script.events)
    assert list(kinds(snapshot)) == ["json"]
    assert selections(snapshot) == {}
    assert kinds(snapshot_of([])) == {}


def test_a_kind_is_decoded_from_its_first_start_to_its_last_finish() -> None:
    script = EventScript()
    first = script.sequence("ab", label="json")
    second = script.sequence("cd", label="json")
    script.finish_sequence(first)
    script.finish_sequence(second)
    third = script.sequence("ef", label="code")
    fourth = script.sequence("gh", label="json")
    snapshot = snapshot_of(script.events)
    rows = snapshot.sequences["t_ns"].tolist()  # starts, finishes and starts, in that order
    found = {label: spell.tolist() for label, spell in spells(snapshot).items()}
    assert (third, fourth) == (2, 3)
    assert found == {
        "json": [[rows[0], rows[3]], [rows[5], snapshot.t_ns]],
        "code": [[rows[4], snapshot.t_ns]],
    }
    assert spells(snapshot_of([])) == {}
