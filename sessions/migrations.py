"""Brings session files of earlier versions up to date: a copy first, then one transaction."""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from sqlite_utils import Database

from engine.wire.codec import encode
from engine.wire.events import Event
from sessions.environment import Environment
from sessions.session_connection import Connection, connect_for_writing
from sessions.session_errors import NewerSessionFile, SessionFileUnwritable, damaged, sqlite_errors
from sessions.session_facts import SessionFacts
from sessions.session_header import read_header
from sessions.session_rows import INSERT, checked_event, make_rows
from sessions.session_schema import SCHEMA_VERSION, Tables, check_tables, create_schema

BATCH_EVENTS = 5000

V0_TABLES: Tables = {
    "session": ("id", {"id": int, "started_unix_ns": int, "config_json": str, "name": str}),
    "events": ("ordinal", {"ordinal": int, "payload": str}),
}
"""Format 0, which was never released: an event is only its line."""


def bring_up_to_date(path: Path) -> Path | None:
    """Change an older session file into one of this version, in place.

    Returns:
        The copy of the old file that was kept beside it; None when the file was of this version.

    Raises:
        SessionFileError: it cannot be changed, and is as it was.
    """
    version = read_header(path, any_version=True).schema_version
    if version == SCHEMA_VERSION:
        return None
    if version > SCHEMA_VERSION:
        raise NewerSessionFile(
            f"{path} was written by a later version of SpecScope: update SpecScope to open it."
        )
    connection = connect_for_writing(path, timeout_s=5.0, any_version=True)
    with contextlib.closing(connection), sqlite_errors(path):
        kept = _back_up(connection, version)
        try:
            _migrate(connection.database, path)
        except BaseException:
            kept.unlink()
            raise
    return kept


def _migrate(database: Database, path: Path) -> None:
    """All steps that are due, or none."""
    database.execute("BEGIN IMMEDIATE")
    try:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        for step in range(version, SCHEMA_VERSION):
            STEPS[step](database, path)
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        database.execute("COMMIT")
    except BaseException:
        if database.conn.in_transaction:
            database.execute("ROLLBACK")
        raise


def _back_up(connection: Connection, version: int) -> Path:
    """A copy of the file as it is, under a name that is free."""
    path = connection.path
    for number in count(1):
        kept = path.with_name(f"{path.name}.v{version}" + (f"-{number}" if number > 1 else ""))
        try:
            kept.open("xb").close()
        except FileExistsError:
            continue
        except OSError as error:
            raise SessionFileUnwritable(
                f"{path} is of an earlier version, and no copy of it can be kept as {kept} "
                f"({error.strerror}): it is left as it is."
            ) from error
        break
    try:
        with contextlib.closing(sqlite3.connect(kept)) as copy:
            connection.database.conn.backup(copy)
        with kept.open("rb+") as stream:
            os.fsync(stream.fileno())
    except BaseException:
        kept.unlink()
        raise
    return kept


def _from_0_to_1(database: Database, path: Path) -> None:
    """Format 1: an event's time, kind, sequence and step are columns; the session has notes, tags,
    counts and an end; there are views."""
    check_tables(database, path, for_writing=True, tables=V0_TABLES)
    for table in V0_TABLES:
        database.execute(f"ALTER TABLE {table} RENAME TO {table}_v0")
    create_schema(database)
    old = database.execute("SELECT name FROM session_v0 WHERE id = 1").fetchone()
    if old is None or not isinstance(old[0], str):
        raise damaged(path, "it has no row in the table session")
    facts = SessionFacts(Environment())
    for batch in _batches(_events_of_0(database, path)):
        rows = make_rows(((event, encode(event)) for event in batch), facts)
        database.conn.executemany(INSERT, rows.rows)
    columns = {**facts.columns(), "name": old[0], "ended": int(facts.end is not None)}
    assignments = ", ".join(f"{name} = ?" for name in columns)
    database.execute(f"UPDATE session SET {assignments} WHERE id = 1", list(columns.values()))
    for table in V0_TABLES:
        database.execute(f"DROP TABLE {table}_v0")


def _events_of_0(database: Database, path: Path) -> Iterator[Event]:
    query = "SELECT ordinal, CAST(payload AS BLOB) FROM events_v0 ORDER BY ordinal"
    with contextlib.closing(database.execute(query)) as rows:
        for ordinal, payload in rows:
            yield checked_event(ordinal, payload, path)


def _batches(events: Iterator[Event]) -> Iterator[list[Event]]:
    batch: list[Event] = []
    for event in events:
        batch.append(event)
        if len(batch) == BATCH_EVENTS:
            yield batch
            batch = []
    yield batch


STEPS: dict[int, Callable[[Database, Path], None]] = {0: _from_0_to_1}
"""From the version that is the key to the next one."""
