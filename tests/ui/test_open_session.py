"""One session the window holds."""

from pathlib import Path

import pytest

from sessions.run_facts import RunFacts, run_facts
from sessions.snapshot import Snapshot
from tests.support.scripted_sessions import script_of, session_of
from ui.open_session import OpenSession
from ui.workshop import Started


def opened(n_steps: int = 4) -> OpenSession:
    return OpenSession(Started("a", session_of(script_of(n_steps)), Path("a.specscope")))


def test_the_newest_snapshot_is_one_object_until_more_comes() -> None:
    session = opened()
    assert session.newest() is session.newest()
    script = script_of(1, is_finished=False)
    live = OpenSession(Started("a", session_of(script), None))
    before = live.newest()
    script.step()
    live.session.model.consume(script.events[-1:])
    assert live.newest() is not before


def test_only_a_recording_of_which_nothing_was_read_is_blank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = opened()
    assert not session.is_blank
    for share, is_blank in ((0.0, True), (0.1, False), (None, False)):
        monkeypatch.setattr(OpenSession, "share_read", share)
        assert session.is_blank is is_blank


def test_it_begins_when_its_first_sequence_starts() -> None:
    session = opened()
    sequences = session.newest().sequences
    assert session.begin_ns == int(sequences["t_ns"][0]) > 0


def test_an_earlier_moment_is_shorter() -> None:
    session = opened()
    half = (session.begin_ns + session.end_ns) // 2
    assert 0 < len(session.at(half).steps) < len(session.newest().steps)
    assert session.at(session.end_ns) is session.newest()


def test_nothing_has_begun_in_an_empty_session() -> None:
    script = script_of(0, n_sequences=0, is_finished=False)
    assert OpenSession(Started("a", session_of(script), None)).begin_ns == 0


def test_whether_it_is_a_baseline_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Snapshot] = []

    def count(snapshot: Snapshot) -> RunFacts:
        asked.append(snapshot)
        return run_facts(snapshot)

    monkeypatch.setattr("ui.open_session.run_facts", count)
    script = script_of(1, is_finished=False)
    unknown = OpenSession(Started("a", session_of(script, is_taken_in=False), None))
    assert not unknown.is_baseline
    assert asked == []
    known = opened()
    assert [known.is_baseline for _ in range(3)] == [False] * 3
    assert len(asked) == 1
