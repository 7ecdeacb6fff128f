"""Sequences that ended early: told with their reason, and at their text."""

import pytest

from engine.wire.events import FinishReason
from sessions.snapshot import Snapshot
from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript
from ui.moment import Moment, View
from ui.panels.token_stream import TokensDigest, TokensPanel
from ui.step.cut_short import cut_short, notice


def ended(*reasons: FinishReason) -> Snapshot:
    script = EventScript()
    for reason in reasons:
        number = script.sequence()
        script.step(number, drafted=2, accepted=2)
        script.finish_sequence(number, reason=reason)
    return snapshot_of(script.events)


@pytest.mark.parametrize("reason", [FinishReason.EOS, FinishReason.LENGTH, FinishReason.STOPPED])
def test_an_end_that_was_to_be_is_no_news(reason: FinishReason) -> None:
    assert cut_short(ended(reason)) == {}
    assert notice(ended(reason)) == ""


def test_a_full_context_is_told() -> None:
    snapshot = ended(FinishReason.LENGTH, FinishReason.CONTEXT)
    sentence = "Ended after 3 tokens: the target's context is full."
    assert cut_short(snapshot) == {1: sentence}
    assert notice(snapshot) == f"Sequence 1: {sentence}"
    assert notice(ended(*[FinishReason.CACHE_FULL] * 5)).endswith("2 more ended early.")


def test_it_stands_at_the_sequence() -> None:
    snapshot = ended(FinishReason.LENGTH, FinishReason.CONTEXT)
    digest = TokensPanel.digest(Moment(snapshot=snapshot, newest=snapshot), View())
    assert isinstance(digest, TokensDigest)
    assert [bool(text.end) for text in digest.texts] == [False, True]
