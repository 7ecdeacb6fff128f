"""Moments for panels: scripted streams folded, with or without a baseline."""

from collections.abc import Iterable, Iterator

import pytest

from engine.wire.events import EngineState, Event
from sessions.snapshot import Snapshot
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import EventScript
from ui.look import Look
from ui.moment import Moment, View
from ui.panels.base import Panel
from ui.view_state import ViewState

EVERYTHING = View()


def moment_of(
    events: Iterable[Event], *, baseline: Snapshot | None = None, is_live: bool = False
) -> Moment:
    snapshot = snapshot_of(events)
    return Moment(snapshot=snapshot, newest=snapshot, baseline=baseline, is_live=is_live)


def plain() -> list[Event]:
    """Steps without a draft."""
    return drafted([0, 0, 0], 0, with_spans=True)


def two_kinds() -> EventScript:
    """json: drafts of four, accepted 4 and 2; code: 0 and 1. One sequence each."""
    script = EventScript()
    for label, lengths in (("json", (4, 2)), ("code", (0, 1))):
        sequence_id = script.sequence("ab", label=label)
        for accepted in lengths:
            script.step(sequence_id, drafted=4, accepted=accepted)
        script.finish_sequence(sequence_id)
    return script


def stepped_by_hand() -> EventScript:
    """Thirty steps, then three that the engine was let go one at a time, after long rests."""
    script = EventScript()
    script.sequence()
    for place in range(33):
        if place >= 30:
            for _ in range(300):  # each is a millisecond, and a step takes six
                script.state(EngineState.PAUSED)
            script.state(EngineState.RUNNING)
        script.step(drafted=2, accepted=1)
    return script


def shown(panel: Panel, moment: Moment, view: View = EVERYTHING) -> list[str]:
    """Digest and draw; the notes that were given."""
    notes: list[str] = []
    panel.noted.connect(notes.append)
    panel.show_digest(panel.digest(moment, view))
    panel.noted.disconnect(notes.append)
    return notes


def in_both_themes(panel: Panel, look: Look) -> Iterator[str]:
    """The names of the themes, each in force while it is yielded."""
    for name in ("light", "dark"):
        look.choose(name)  # type: ignore[arg-type]
        yield name


@pytest.fixture
def look(qapp: object) -> Look:
    made = Look("dark")
    made.apply()
    return made


@pytest.fixture
def state() -> ViewState:
    return ViewState()
