"""Events become rows and come back, in pieces of bounded size."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine.wire.codec import encode
from engine.wire.events import Event, KvAdvanced, LogEmitted, SessionStarted
from sessions import session_rows
from sessions.environment import Environment
from sessions.recovery import recover
from sessions.session_errors import DamagedSessionFile, NewerSessionFile
from sessions.session_facts import SessionFacts
from sessions.session_file import SessionFile
from sessions.session_rows import checked_event, make_rows
from tests.sessions.recorded import lines, record, script, stored


def test_a_row_repeats_what_queries_look_for() -> None:
    events = script()
    batch = make_rows(lines(events), SessionFacts(Environment()))
    for event, row in zip(events, batch.rows, strict=True):
        assert row[0:3] == (event.ordinal, event.t_ns, type(event).__name__)
        assert row[3] == getattr(event, "sequence_id", None)
        assert row[4] == getattr(event, "step", None)
        assert row[5].encode() == encode(event)
    assert batch.n_bytes > sum(len(encode(event)) for event in events)


@pytest.mark.parametrize("limit", [1, 1000, 100_000])
def test_pieces_of_any_size_are_the_same_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    path = record(tmp_path / "x.specscope", script())
    monkeypatch.setattr(session_rows, "CHUNK_BYTES", limit)
    assert stored(path) == script()


def test_long_events_are_not_all_in_memory_at_once(tmp_path: Path) -> None:
    events: list[Event] = [
        LogEmitted(level="info", message="x" * 5_000_000, ordinal=ordinal, t_ns=0)
        for ordinal in range(6)
    ]
    path = record(tmp_path / "x.specscope", events)
    with SessionFile.open(path) as file:
        pieces = list(file.batches())
    assert [len(piece) for piece in pieces] == [4, 2]


def test_a_part_can_be_read(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    with SessionFile.open(path) as file:
        pieces = list(file.batches(after=9, until=29, at_once=8))
        with pytest.raises(DamagedSessionFile, match="time runs back at event 10"):
            next(file.batches(after=9, after_ns=10**18))
    assert [len(piece) for piece in pieces] == [8, 8, 4]
    assert [event for piece in pieces for event in piece] == script()[10:30]


def test_holes_are_kept(tmp_path: Path) -> None:
    events = [event for event in script() if event.ordinal % 7]
    assert stored(record(tmp_path / "x.specscope", events)) == events


def lose(path: Path, column: str, *statements: str) -> Path:
    """The file with NULL in the column of event 30, which its table then takes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')")
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in (*statements, f"UPDATE events SET {column} = NULL WHERE ordinal = 30"):
            database.execute(statement)
    return path


TWO_IN_ONE = (
    "UPDATE events SET payload = payload || ',' || (SELECT payload FROM events WHERE ordinal = 30)"
    " WHERE ordinal = 29"
)
"""The events 29 and 30 in the row of the first."""


@pytest.mark.parametrize(
    ("statements", "n_sound"), [((), 30), ((TWO_IN_ONE,), 29)], ids=["alone", "told by another"]
)
def test_a_row_without_a_payload_is_damage(
    tmp_path: Path, statements: tuple[str, ...], n_sound: int
) -> None:
    path = lose(record(tmp_path / "x.specscope", script()), "payload", *statements)
    with SessionFile.open(path) as file:
        batches = file.batches()
        assert next(batches) == script()[:n_sound]
        with pytest.raises(DamagedSessionFile, match=f"event {n_sound}"):
            next(batches)
    recovered = recover(path, tmp_path / "y.specscope")
    assert stored(recovered.out) == script()[:n_sound] + script()[31:]


def test_a_row_of_no_kind_is_not_passed_over(tmp_path: Path) -> None:
    path = lose(record(tmp_path / "x.specscope", script()), "kind")
    with SessionFile.open(path) as file:
        events = [event for part in file.batches(without=[KvAdvanced]) for event in part]
    assert [event for event in events if event.ordinal == 30] == [script()[30]]


@pytest.mark.parametrize(
    "more", ["", ',"unknown":[1,2]'], ids=["as it is", "with fields of its time"]
)
def test_events_of_a_later_version_are_said_to_be_so(more: str) -> None:
    started = script()[0]
    assert isinstance(started, SessionStarted)
    line = encode(started).decode().replace('"schema_version":1', '"schema_version":2' + more)
    with pytest.raises(NewerSessionFile, match="its events are of version 2"):
        checked_event(0, line.encode(), Path("x"))
    broken = line.replace('"started_unix_ns":', '"started":')
    with pytest.raises(NewerSessionFile):
        checked_event(0, broken.encode(), Path("x"))
