"""Rows of draft tokens know their proposal, or that it is not known."""

import msgspec

from engine.wire.events import DraftProposed, DraftVerified
from sessions.export.options import WHOLE
from sessions.export.token_rows import token_rows
from tests.support.export_streams import two_sequences


def test_a_proposal_of_another_step_is_not_taken() -> None:
    events = two_sequences()
    index = max(i for i, event in enumerate(events) if isinstance(event, DraftProposed))
    lost = [*events[:index], *events[index + 1 :]]
    rows = list(token_rows(lost, WHOLE))
    assert [row.gamma for row in rows if row.gamma is None] == [None] * 4
    assert rows[-1].gamma is None


def test_a_sequence_keeps_its_own_proposal() -> None:
    events = [
        msgspec.structs.replace(event, gamma=4 + event.sequence_id)
        if isinstance(event, DraftProposed)
        else event
        for event in two_sequences()
    ]
    rows = list(token_rows(events, WHOLE))
    assert {(row.sequence_id, row.gamma) for row in rows} == {(0, 4), (1, 5)}
    verdicts = [event for event in events if isinstance(event, DraftVerified)]
    assert [row.step for row in rows] == [e.step for e in verdicts for _ in e.fates]
