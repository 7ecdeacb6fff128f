"""Nothing that came with a session file is run, followed or trusted."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engine.wire.codec import MAX_LINE_BYTES
from sessions.session_connection import connect_for_reading, sidecar
from sessions.session_errors import (
    DamagedSessionFile,
    NotASessionFile,
    SessionFileError,
    SessionFileUnwritable,
)
from sessions.session_file import SessionFile
from sessions.session_schema import APPLICATION_ID
from tests.sessions.recorded import lines, record, script, stored

ROOT = Path(__file__).resolve().parents[2]


def change(path: Path, *statements: str) -> Path:
    """What somebody with another tool does to the file."""
    database = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        database.execute(statement)
    database.close()
    return path


def test_only_the_two_tables_can_be_read(tmp_path: Path) -> None:
    record(tmp_path / "x.specscope", script())
    connection = connect_for_reading(tmp_path / "x.specscope", timeout_s=1)
    execute = connection.database.execute
    for allowed in ("SELECT name FROM session", "SELECT count(*), max(ordinal) FROM events"):
        execute(allowed).fetchone()
    for denied in (
        "SELECT * FROM steps",
        "SELECT load_extension('x')",
        "DELETE FROM events",
        "UPDATE session SET name = 'x'",
        "CREATE TABLE t (x)",
        "ATTACH 'other.db' AS other",
        "SELECT random()",
    ):
        with pytest.raises(sqlite3.DatabaseError):
            execute(denied).fetchall()
    connection.close()
    connection.close()


def test_a_view_in_the_place_of_a_table_is_refused(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    change(
        path,
        "ALTER TABLE events RENAME TO hidden",
        "CREATE VIEW events AS SELECT ordinal, t_ns, kind, sequence_id, step,"
        " payload || readfile('/etc/passwd') AS payload FROM hidden",
    )
    with pytest.raises(NotASessionFile, match="something else"):
        SessionFile.open(path)


def test_a_virtual_table_is_refused(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    change(
        path,
        "DROP TABLE events",
        "CREATE VIRTUAL TABLE events USING fts5(ordinal, t_ns, kind, sequence_id, step, payload)",
    )
    with pytest.raises(NotASessionFile, match="something else"):
        SessionFile.open(path)


def test_a_computed_column_is_refused(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    change(
        path,
        "DROP TABLE events",
        "CREATE TABLE events (ordinal INTEGER PRIMARY KEY, t_ns INTEGER NOT NULL,"
        " kind TEXT NOT NULL, sequence_id INTEGER, step INTEGER, payload TEXT AS (hex(ordinal)))",
    )
    with pytest.raises(DamagedSessionFile, match="other columns"):
        SessionFile.open(path)


def test_an_ordinal_that_is_not_the_key_is_refused(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    change(
        path,
        "DROP TABLE events",
        "CREATE TABLE events (ordinal TEXT, t_ns INTEGER, kind TEXT, sequence_id INTEGER,"
        " step INTEGER, payload TEXT)",
    )
    with pytest.raises(DamagedSessionFile, match="other columns"):
        SessionFile.open(path)


@pytest.mark.parametrize("table", ["session", "events"])
def test_a_missing_table_is_said(tmp_path: Path, table: str) -> None:
    path = record(tmp_path / "x.specscope", script())
    change(path, f"DROP TABLE {table}")
    with pytest.raises(DamagedSessionFile, match=f"table {table} is missing"):
        SessionFile.open(path)


def test_triggers_do_not_run(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    change(path, "CREATE TRIGGER trap AFTER UPDATE ON session BEGIN DELETE FROM events; END")
    with pytest.raises(NotASessionFile, match="holds triggers"):
        SessionFile.open(path, writable=True)
    assert stored(path) == script()


def test_views_and_tables_of_a_persons_own_do_no_harm(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    change(path, "CREATE VIEW mine AS SELECT * FROM steps", "CREATE TABLE also_mine (x)")
    with SessionFile.open(path, writable=True) as file:
        file.rename("still works")
    assert stored(path) == script()


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        ("UPDATE events SET payload = 'no' WHERE ordinal = 3", "event 3 cannot be read"),
        ("UPDATE events SET payload = x'00ff' WHERE ordinal = 3", "event 3 cannot be read"),
        ("UPDATE events SET payload = 17 WHERE ordinal = 3", "event 3"),
        ("UPDATE events SET ordinal = 100000 WHERE ordinal = 3", "event 100000 says it is 3"),
        ("UPDATE events SET ordinal = -5 WHERE ordinal = 0", "event -5 says it is 0"),
        (
            "UPDATE events SET payload = replace(payload, '\"position\":', '\"position\":-')"
            " WHERE kind = 'KvAdvanced'",
            "out of range",
        ),
        (
            'UPDATE events SET payload = replace(payload, \'"fates":[\', \'"fates":["accepted",\')'
            " WHERE kind = 'DraftVerified'",
            "differ in length",
        ),
        (
            "UPDATE events SET payload = replace(payload, '\"t_ns\":', '\"t_ns\":-')"
            " WHERE ordinal = 30",
            "time runs back",
        ),
        (
            "UPDATE events SET payload = replace(payload, '\"t_ns\":', '\"t_ns\":9999999999999')"
            " WHERE ordinal = 30",
            "time runs back|out of range",
        ),
        ("UPDATE events SET payload = zeroblob(100) WHERE ordinal = 3", "event 3 cannot be read"),
    ],
)
def test_an_event_no_engine_said_is_damage(tmp_path: Path, statement: str, match: str) -> None:
    path = change(record(tmp_path / "x.specscope", script()), statement)
    with SessionFile.open(path) as file, pytest.raises(DamagedSessionFile, match=match):
        list(file.events())


def test_an_event_longer_than_a_line_may_be_is_not_loaded(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    change(path, f"UPDATE events SET payload = zeroblob({MAX_LINE_BYTES * 2}) WHERE ordinal = 3")
    with SessionFile.open(path) as file, pytest.raises(DamagedSessionFile):
        list(file.events())


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM session",
        "UPDATE session SET id = 2",
        "UPDATE session SET schema_version = 7",
        "UPDATE session SET counts_json = '{'",
        "UPDATE session SET counts_json = '{\"n_events\": -1}'",
        "UPDATE session SET counts_json = '{\"n_events\": 99999999999999999999999}'",
        "UPDATE session SET environment_json = '[]'",
        "UPDATE session SET tags_json = '{}'",
        "UPDATE session SET summary_json = replace(hex(zeroblob(50000)), '00', '[')",
        "UPDATE session SET recorder_json = '{\"process_id\": -1}'",
        "UPDATE session SET name = x'ff'",
        "UPDATE session SET name = CAST(x'ff' AS TEXT)",
        "UPDATE session SET started_unix_ns = 'yesterday'",
    ],
)
def test_a_row_nobody_wrote_is_damage(tmp_path: Path, statement: str) -> None:
    path = change(record(tmp_path / "x.specscope", script()), statement)
    with SessionFile.open(path) as file, pytest.raises(DamagedSessionFile):
        file.summary()
    assert stored(path) == script()


def test_a_process_named_in_the_file_is_only_looked_at(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script(end=False))
    change(path, "UPDATE session SET ended = 0, recorder_json = '{\"process_id\": 1}'")
    with SessionFile.open(path) as file:
        assert not file.summary().is_recording


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="permissions hold for users"
)
def test_a_file_that_may_not_be_written_can_be_read(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    path.chmod(stat.S_IRUSR)
    assert stored(path) == script()
    with pytest.raises(SessionFileUnwritable):
        SessionFile.open(path, writable=True)


# --- journals ------------------------------------------------------------------------------------

DIE_IN_A_CHANGE = """
import os, sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("PRAGMA cache_size = 1")
held.execute("PRAGMA synchronous = OFF")
held.execute("BEGIN IMMEDIATE")
held.execute("UPDATE events SET payload = 'half done' WHERE ordinal > 20")
os._exit(0)
"""


def die_in_a_change(path: Path) -> None:
    subprocess.run([sys.executable, "-c", DIE_IN_A_CHANGE, str(path)], check=True)
    assert sidecar(path, "-journal").stat().st_size > 0
    assert b"half done" in path.read_bytes()


def test_a_change_that_was_cut_off_is_taken_back(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    die_in_a_change(path)
    assert stored(path) == script()
    assert not sidecar(path, "-journal").exists()


def test_a_journal_that_names_other_files_is_not_played(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    die_in_a_change(path)
    victim = tmp_path / "victim"
    victim.write_text("mine")
    name = str(victim).encode()
    with sidecar(path, "-journal").open("ab") as stream:
        stream.write(
            (0).to_bytes(4, "big")
            + name
            + len(name).to_bytes(4, "big")
            + sum(name).to_bytes(4, "big")
            + bytes.fromhex("d9d505f920a163d7")
        )
    for writable in (False, True):
        with pytest.raises(DamagedSessionFile, match="names other files"):
            SessionFile.open(path, writable=writable)
    assert victim.read_text() == "mine"


def test_a_journal_of_another_database_is_not_played(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE events (ordinal INTEGER PRIMARY KEY, payload TEXT)")
    database.executemany("INSERT INTO events VALUES (?, ?)", [(i, "x" * 500) for i in range(200)])
    database.commit()
    database.close()
    die_in_a_change(path)
    before = path.read_bytes()
    with pytest.raises(NotASessionFile):
        SessionFile.open(path)
    assert path.read_bytes() == before


def test_a_log_of_something_else_is_ignored(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    sidecar(path, "-wal").write_bytes(os.urandom(10_000))
    assert stored(path) == script()


def test_a_crashed_recording_is_read_without_changing_it(tmp_path: Path) -> None:
    events = script()
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(events))
        copy = tmp_path / "copy"
        copy.mkdir()
        for suffix in ("", "-wal"):
            shutil.copy(sidecar(tmp_path / "x.specscope", suffix), copy)
    path = copy / "x.specscope"
    before = [sidecar(path, suffix).read_bytes() for suffix in ("", "-wal")]
    assert stored(path) == events
    assert [sidecar(path, suffix).read_bytes() for suffix in ("", "-wal")] == before


# --- locks ---------------------------------------------------------------------------------------

TAKE_ALL = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
try:
    print(other.execute("PRAGMA journal_mode = DELETE").fetchone()[0])
except sqlite3.OperationalError as error:
    print(error)
"""


def test_looking_at_a_file_does_not_let_go_of_its_locks(tmp_path: Path) -> None:
    """On POSIX, closing a second handle on a file drops every lock the process holds on it."""
    path = tmp_path / "x.specscope"
    with SessionFile.create(path) as file:
        file.append(lines(script()))
        with SessionFile.open(path) as reader:
            reader.summary()
        done = subprocess.run(
            [sys.executable, "-c", TAKE_ALL, str(path)], capture_output=True, text=True, check=True
        )
        assert "locked" in done.stdout


def test_the_guard_of_a_reader_is_on_from_the_start(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    with SessionFile.open(path) as file:
        get = file._database.execute
        assert get("PRAGMA trusted_schema").fetchone() == (0,)
        assert get("PRAGMA cell_size_check").fetchone() == (1,)
        assert get("PRAGMA query_only").fetchone() == (1,)
        assert get("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        with pytest.raises(SessionFileError):
            file.set_end({})
