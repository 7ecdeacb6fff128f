"""What a session ran with."""

import pytest
from msgspec.structs import replace

from sessions.run_facts import peak_kv_bytes, run_facts, with_later
from sessions.tables import DRAFT
from tests.sessions.scripted import baseline, folded, speculative, with_settings
from tests.support.event_script import EventScript


def test_models_settings_and_memory_of_the_draft() -> None:
    snapshot = speculative()
    facts = run_facts(snapshot)
    assert facts.target is not None
    assert facts.draft is not None
    assert facts.target.name == "scripted-target"
    assert (facts.drafter, facts.gamma, facts.is_baseline) == ("small", "2", False)
    # One block at a time: the first sequence gave its own back.
    assert peak_kv_bytes(snapshot, DRAFT) == 1024


@pytest.mark.parametrize(
    ("settings", "is_baseline"),
    [
        ({"draft": "none", "gamma": 4}, True),
        ({"draft": "small", "gamma": 0}, True),
        ({"draft": "ngram", "gamma": "auto"}, False),
    ],
)
def test_a_baseline_drafts_nothing(settings: dict[str, object], is_baseline: bool) -> None:
    snapshot = folded(with_settings(EventScript().events, **settings))
    assert run_facts(snapshot).is_baseline is is_baseline


def test_settings_that_are_no_object_are_none() -> None:
    script = EventScript()
    events = with_settings(script.events)
    for text in ("[1]", "not json", "[" * 100_000):
        facts = run_facts(folded([replace(events[0], config_json=text), *events[1:]]))
        assert facts.settings == {}
        assert facts.drafter == "unknown"


def test_before_anything_was_said() -> None:
    nothing = folded([])
    assert run_facts(nothing).target is None
    assert peak_kv_bytes(nothing, DRAFT) == 0
    assert run_facts(baseline()).is_baseline


def test_a_setting_says_what_it_was_changed_to() -> None:
    assert with_later(4, ()) == "4"
    assert with_later(4, ("4",)) == "4"
    assert with_later(4, ("7", "4", "auto")) == "4, later 7, auto"
    assert with_later(0.0, (0.0, 0.8)) == "0.0, later 0.8"
    assert with_later(None, ()) == ""
    assert with_later(None, ("7",)) == "7"
