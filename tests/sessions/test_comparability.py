"""What sessions do not have in common is said; what they draft with is no such thing."""

import pytest
from msgspec.structs import replace

from engine.wire.events import Event, ModelLoaded, SettingsChanged
from sessions.comparability import comparison_notes, differences, is_sampled, prompts_begun
from sessions.snapshot import Snapshot
from tests.sessions.scripted import baseline, folded, speculative, with_settings
from tests.support.event_script import EventScript


def told(prompt: str = "ab", **settings: object) -> list[Event]:
    script = EventScript()
    script.sequence(prompt)
    script.step()
    script.finish()
    return with_settings(script.events, **settings)


def session(prompt: str = "ab", **settings: object) -> Snapshot:
    return folded(told(prompt, **settings))


def test_sessions_that_draft_otherwise_are_alike() -> None:
    assert comparison_notes([("fast", speculative()), ("plain", baseline())]) == ()
    assert comparison_notes([("one", session(draft="a", gamma=2)), ("two", session(seed=0))]) == ()


@pytest.mark.parametrize(
    ("setting", "one", "other", "sentence"),
    [
        ("seed", 0, 1, "The sessions differ in seed: a 0, b 1."),
        ("max_new_tokens", 8, 9, "The sessions differ in max new tokens: a 8, b 9."),
        ("stop_strings", [], ["x"], 'The sessions differ in stop strings: a [], b ["x"].'),
    ],
)
def test_a_difference_of_settings(setting: str, one: object, other: object, sentence: str) -> None:
    notes = comparison_notes([("a", session(**{setting: one})), ("b", session(**{setting: other}))])
    assert notes == (sentence,)


def test_what_differs_is_named() -> None:
    sessions = [("a", session("ab", seed=0, temperature=1)), ("b", session("cd", seed=1))]
    found = differences(sessions)
    assert [each.what for each in found] == ["prompts", "seed"]
    assert comparison_notes(sessions)[1:] == tuple(each.sentence for each in found)


def test_a_difference_of_prompts() -> None:
    (note,) = comparison_notes([("a", session("ab")), ("b", session("cd"))])
    assert note.startswith("The prompts differ: 0 of up to 1")


def test_missing_events_are_told() -> None:
    events = told()
    (note,) = comparison_notes([("a", session()), ("b", folded([*events[:9], *events[10:]]))])
    assert note == "1 event is missing from b: its figures are incomplete."


def test_prompts_come_in_the_order_they_began_and_once_for_each_sequence() -> None:
    script = EventScript()
    for prompt in ("cd", "ab", "cd"):
        script.sequence(prompt)
    assert prompts_begun(folded(script.events)) == ["cd", "ab", "cd"]


def test_a_difference_of_models() -> None:
    events = [
        replace(event, dtype="bfloat16") if isinstance(event, ModelLoaded) else event
        for event in told()
    ]
    notes = comparison_notes([("a", session()), ("b", folded(events))])
    assert "The sessions differ in target's dtype: a float32, b bfloat16." in notes


def test_sampling_is_said_also_where_it_began_later() -> None:
    assert not is_sampled(session(temperature=0.0))
    assert is_sampled(session(temperature=0.7))
    script = EventScript()
    script.say(SettingsChanged(gamma="4", temperature=0.5, top_k=0, top_p=1.0))
    assert is_sampled(folded(script.events))
    (note,) = comparison_notes([("a", session(temperature=1)), ("b", session(temperature=1))])
    assert "no loss" in note
    assert "a, b" in note
