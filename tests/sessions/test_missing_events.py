"""A session with holes says so."""

import pytest

from engine.wire.events import Event, LogEmitted
from sessions.missing_events import missing_events_note, n_missing_events
from tests.sessions.scripted import folded


def log(ordinal: int) -> Event:
    return LogEmitted(ordinal=ordinal, t_ns=ordinal, level="info", message="")


@pytest.mark.parametrize(
    ("ordinals", "n", "sentence"),
    [
        ((0, 1, 2), 0, ""),
        ((0, 2), 1, "1 event is missing from this session: its figures are incomplete."),
        (
            (0, 2, 2000),
            1998,
            "1,998 events are missing from this session: its figures are incomplete.",
        ),
    ],
)
def test_holes_are_told(ordinals: tuple[int, ...], n: int, sentence: str) -> None:
    snapshot = folded([log(ordinal) for ordinal in ordinals])
    assert n_missing_events(snapshot) == n
    assert missing_events_note(snapshot) == sentence


def test_by_a_name() -> None:
    snapshot = folded([log(0), log(2)])
    assert missing_events_note(snapshot, of="a").startswith("1 event is missing from a: ")
