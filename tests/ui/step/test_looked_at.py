from engine.wire.events import DraftProposed
from sessions.snapshot import Snapshot
from tests.sessions.scripted import folded
from tests.support.event_script import EventScript
from ui.moment import View
from ui.step.looked_at import newest_step, sequence_of, started_sequences, step_of


def batch() -> Snapshot:
    script = EventScript()
    script.sequence("p", label="json")
    script.sequence("q")
    script.step(0, more=True)
    script.step(1)
    script.step(0)
    script.set_back(0)
    script.resume(0)
    script.sequence("r")
    return folded(script.events)


def test_every_sequence_is_named_once():
    names = [(each.sequence_id, each.name) for each in started_sequences(batch())]
    assert names == [(0, "0 json"), (1, "1"), (2, "2")]


def test_the_selected_sequence_or_one_of_the_step_or_the_newest():
    snapshot = batch()
    assert sequence_of(snapshot, View()) == 2
    assert sequence_of(snapshot, View(sequence_id=1)) == 1
    assert sequence_of(snapshot, View(sequence_id=9)) == 2
    assert sequence_of(snapshot, View(step=1)) == 0
    assert sequence_of(snapshot, View(step=0)) == 1
    assert sequence_of(folded(EventScript().events), View()) is None


def test_the_selected_step_or_the_newest_of_the_sequence():
    snapshot = batch()
    assert step_of(snapshot, View()) == (0, 1)  # the newest sequence has not begun
    assert step_of(snapshot, View(sequence_id=2)) is None
    assert step_of(snapshot, View(sequence_id=0)) == (0, 1)
    assert step_of(snapshot, View(sequence_id=1)) == (1, 0)
    assert step_of(snapshot, View(sequence_id=0, step=0)) == (0, 0)
    assert step_of(snapshot, View(sequence_id=1, step=1)) == (0, 1)
    assert step_of(folded(EventScript().events), View()) is None


def test_the_newest_step_is_the_one_being_made():
    snapshot = batch()
    assert newest_step(snapshot) == int(snapshot.steps["step"][-1]) == 1
    script = EventScript()
    assert newest_step(folded(script.events)) is None
    script.sequence()
    script.step()
    script.step()
    cut = max(i for i, event in enumerate(script.events) if isinstance(event, DraftProposed))
    assert newest_step(folded(script.events[: cut + 1])) == 1
