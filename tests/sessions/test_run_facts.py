"""What a session ran with."""

import pytest
from msgspec.structs import replace

from sessions.run_facts import run_facts
from tests.sessions.scripted import baseline, folded, speculative, with_settings
from tests.support.event_script import EventScript


def test_models_settings_and_memory_of_the_draft() -> None:
    facts = run_facts(speculative())
    assert facts.target is not None
    assert facts.draft is not None
    assert facts.target.name == "scripted-target"
    assert (facts.drafter, facts.gamma, facts.is_baseline) == ("small", "2", False)
    assert facts.draft_kv_bytes == 1024  # one block at a time: the first sequence gave its own back
    assert facts.draft_bytes == 4000 + 1024


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
    facts = run_facts(folded([]))
    assert facts.target is None
    assert facts.draft_bytes == 0
    assert run_facts(baseline()).is_baseline
