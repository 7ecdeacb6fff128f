"""The row about a session is counted from its events."""

from msgspec.structs import replace

from engine.wire.events import SequenceStarted, SessionEnded, SettingsChanged, StepCommitted
from sessions.environment import Environment
from sessions.session_facts import SessionFacts
from tests.sessions.recorded import script
from tests.support.event_script import EventScript


def counted(events: list[object]) -> SessionFacts:
    facts = SessionFacts(Environment())
    facts.add(events[:5])  # type: ignore[arg-type]
    facts.add([])
    facts.add(events[5:])  # type: ignore[arg-type]
    return facts


def test_counts_are_those_of_the_stream() -> None:
    events = script(30)
    counts = counted([*events]).counts()
    assert counts.n_events == len(events)
    assert counts.n_sequences == sum(isinstance(event, SequenceStarted) for event in events)
    assert counts.n_output_tokens == sum(
        len(event.token_ids) for event in events if isinstance(event, StepCommitted)
    )
    assert counts.duration_ns == events[-1].t_ns


def test_a_sequence_that_came_back_is_one() -> None:
    told = EventScript()
    told.sequence()
    told.step()
    told.set_back()
    told.resume()
    told.step()
    told.finish()
    counts = counted([*told.events]).counts()
    assert (counts.n_sequences, counts.n_output_tokens) == (1, 6)


def test_the_end_is_the_newest_event_or_none() -> None:
    events = script()
    assert isinstance(counted([*events]).end, SessionEnded)
    late = replace(events[-2], ordinal=len(events))
    assert counted([*events, late]).end is None


def test_a_copy_does_not_go_on_counting() -> None:
    facts = counted([*script(end=False)])
    before = facts.snapshot()
    n_events = before.counts().n_events
    facts.add(script()[-1:])
    assert before.counts().n_events == n_events
    assert facts.counts().n_events == n_events + 1


def test_settings_that_were_changed_are_kept_once_each() -> None:
    told = EventScript()
    told.sequence()
    for gamma, temperature in (("7", 0.0), ("7", 0.8), ("4", 0.8)):
        told.step()
        told.say(SettingsChanged(gamma=gamma, temperature=temperature, top_k=0, top_p=1.0))
    counts = counted([*told.events]).counts()
    assert counts.gammas == ("7", "4")
    assert counts.temperatures == (0.0, 0.8)
    assert counted([*script()]).counts().gammas == ()
