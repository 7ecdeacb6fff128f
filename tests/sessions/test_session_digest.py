"""The digest of a file's lines is that of the events as they are read."""

import sqlite3
from pathlib import Path

import pytest

from engine.wire.codec import encode
from sessions import session_digest
from sessions.lines_digest import EventsIdentity, LinesDigest
from sessions.session_file import SessionFile
from tests.sessions.recorded import record, script


def identity(path: Path) -> EventsIdentity:
    with SessionFile.open(path) as file:
        return file.identity()


@pytest.mark.parametrize("at_once", [1, 7, 2048])
def test_it_is_that_of_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(session_digest, "_AT_ONCE", at_once)
    path = record(tmp_path / "x.specscope", script(200))
    digest = LinesDigest()
    with SessionFile.open(path) as file:
        events = list(file.events())
        digest.add(map(encode, events), n=len(events), last_ordinal=events[-1].ordinal)
        told: list[int] = []
        assert file.identity(on_event=told.append) == digest.identity
    assert digest.identity.n_events == told[-1] == len(events)
    assert told == sorted(told)


def test_lines_too_long_to_be_joined_are_joined_in_smaller_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record(tmp_path / "x.specscope", script(200))
    whole = identity(path)
    with SessionFile.open(path) as file:
        file._database.conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 5000)
        assert file.identity() == whole


def test_one_changed_letter_is_another_identity(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    before = identity(path)
    database = sqlite3.connect(path)
    database.execute(
        "UPDATE events SET payload = replace(payload, '\"gamma\":4', '\"gamma\":5')"
        " WHERE ordinal = (SELECT min(ordinal) FROM events WHERE kind = 'DraftProposed')"
    )
    database.commit()
    database.close()
    assert identity(path) != before


def test_a_file_without_events(tmp_path: Path) -> None:
    SessionFile.create(tmp_path / "x.specscope").close()
    assert identity(tmp_path / "x.specscope") == LinesDigest().identity
