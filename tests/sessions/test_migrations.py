"""An older file is copied and then changed as a whole, or not at all."""

import os
import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from engine.wire.codec import encode
from engine.wire.events import EndReason, Event
from sessions import migrations
from sessions.library import Library
from sessions.migrations import STEPS, bring_up_to_date
from sessions.session_errors import (
    DamagedSessionFile,
    NewerSessionFile,
    NotASessionFile,
    OlderSessionFile,
    SessionFileError,
)
from sessions.session_file import SessionFile
from sessions.session_schema import APPLICATION_ID, SCHEMA_VERSION
from tests.sessions.recorded import record, script, stored


def write_version_0(path: Path, events: list[Event]) -> None:
    """A file of format 0."""
    database = Database(path)
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    columns = {"id": int, "started_unix_ns": int, "config_json": str, "name": str}
    database.table("session").create(columns, pk="id")
    database.table("events").create({"ordinal": int, "payload": str}, pk="ordinal")
    row = {"id": 1, "started_unix_ns": 5, "config_json": "{}", "name": "an old one"}
    database.table("session").insert(row)
    database.table("events").insert_all(
        {"ordinal": event.ordinal, "payload": encode(event).decode()} for event in events
    )
    database.close()


def test_there_is_a_step_from_every_version() -> None:
    assert sorted(STEPS) == list(range(SCHEMA_VERSION))


def test_an_old_file_is_not_opened_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    write_version_0(path, script())
    before = path.read_bytes()
    with pytest.raises(OlderSessionFile, match="brought up to date"):
        SessionFile.open(path)
    assert path.read_bytes() == before


def test_an_old_file_becomes_a_new_one_and_the_old_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    write_version_0(path, script())
    kept = bring_up_to_date(path)
    assert kept == tmp_path / "x.specscope.v0"
    assert stored(path) == script()
    with SessionFile.open(path) as file:
        summary = file.summary()
    assert summary.name == "an old one"
    assert summary.counts.n_events == len(script())
    assert summary.end_reason is EndReason.FINISHED
    database = Database(path)
    assert database["draft_tokens"].count > 0
    database.close()
    database = Database(kept)
    assert database.table("events").columns_dict == {"ordinal": int, "payload": str}
    assert database.table("events").count == len(script())
    database.close()


def test_a_file_of_this_version_is_left_alone(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    before = path.read_bytes()
    assert bring_up_to_date(path) is None
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.specscope"]


def test_an_earlier_copy_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    write_version_0(path, script())
    (tmp_path / "x.specscope.v0").write_text("mine")
    assert bring_up_to_date(path) == tmp_path / "x.specscope.v0-2"
    assert (tmp_path / "x.specscope.v0").read_text() == "mine"


def test_a_step_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.specscope"
    write_version_0(path, script())
    before = path.read_bytes()
    step = STEPS[0]

    def half(database: Database, path: Path) -> None:
        step(database, path)
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setitem(migrations.STEPS, 0, half)
    with pytest.raises(SessionFileError):
        bring_up_to_date(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.specscope"]


def test_an_event_that_cannot_be_read_stops_it(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    write_version_0(path, script())
    database = sqlite3.connect(path)
    database.execute("UPDATE events SET payload = 'no' WHERE ordinal = 9")
    database.commit()
    database.close()
    before = path.read_bytes()
    with pytest.raises(DamagedSessionFile, match="event 9"):
        bring_up_to_date(path)
    assert path.read_bytes() == before


def test_a_half_changed_file_is_called_damaged(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    write_version_0(path, script())
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    database.close()
    before = path.read_bytes()
    with pytest.raises(DamagedSessionFile, match="cut off"):
        SessionFile.open(path)
    assert path.read_bytes() == before


def test_a_new_file_that_claims_to_be_old_is_called_damaged(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 0")
    database.close()
    before = path.read_bytes()
    with pytest.raises(DamagedSessionFile):
        bring_up_to_date(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.specscope"]


def test_a_newer_file_is_left_to_a_newer_program(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    database.close()
    for open_it in (SessionFile.open, bring_up_to_date):
        with pytest.raises(NewerSessionFile, match="update SpecScope"):
            open_it(path)


def test_triggers_of_an_old_file_never_run(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    write_version_0(path, script())
    database = sqlite3.connect(path)
    database.execute("CREATE TRIGGER trap AFTER DELETE ON events BEGIN DELETE FROM session; END")
    database.close()
    with pytest.raises(NotASessionFile, match="trigger"):
        bring_up_to_date(path)


def test_the_library_brings_a_file_up_to_date_when_it_opens_it(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    write_version_0(path, script())
    with Library(tmp_path).open(path) as file:
        assert list(file.events()) == script()
