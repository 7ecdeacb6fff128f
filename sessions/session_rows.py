"""Events as rows of the table ``events``, and back."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from engine.wire.codec import CodecError, decode_event, decode_events
from engine.wire.events import SCHEMA_VERSION, Event, SessionStarted
from sessions.lines_digest import LinesDigest
from sessions.session_errors import NewerSessionFile, SessionFileError, damaged, sqlite_errors
from sessions.session_facts import SessionFacts
from sessions.session_limits import LimitError, check_limits

Row = tuple[int, int, str, int | None, int | None, str]

ROW_BYTES = 300
"""About what a row takes in memory beside its payload."""

CHUNK_EVENTS = 512
CHUNK_BYTES = 16 * 1024 * 1024
"""Events are read in pieces of at most so many, and no lock is held between two pieces."""

INSERT = "INSERT INTO events (ordinal, t_ns, kind, sequence_id, step, payload) VALUES (?,?,?,?,?,?)"
_BEFORE_ALL = -(2**63)
"""A row below zero is not passed over: it is damage."""

_FROM = "SELECT ordinal, CAST(payload AS BLOB) FROM events"
_AFTER = f"{_FROM} WHERE ordinal > ? ORDER BY ordinal LIMIT {CHUNK_EVENTS}"
_LAST = f"{_FROM} ORDER BY ordinal DESC LIMIT 1"


_KINDS = {
    kind: (kind.__name__, "sequence_id" in kind.__struct_fields__, "step" in kind.__struct_fields__)
    for kind in Event.__args__
}
"""Name of a kind, and whether its events have a sequence and a step."""


class RowBatch(msgspec.Struct, frozen=True):
    """Rows that are written together, and what the session's row says once they are."""

    rows: list[Row]
    facts: SessionFacts
    n_bytes: int  # about what it takes in memory


def make_rows(batch: Iterable[tuple[Event, bytes]], facts: SessionFacts) -> RowBatch:
    """Rows of events and their encoded lines; ``facts`` goes on counting with them."""
    rows: list[Row] = []
    events: list[Event] = []
    n_bytes = 0
    for event, line in batch:
        events.append(event)
        n_bytes += len(line)
        kind, has_sequence, has_step = _KINDS[event.__class__]
        rows.append(
            (
                event.ordinal,
                event.t_ns,
                kind,
                event.sequence_id if has_sequence else None,  # type: ignore[union-attr]
                event.step if has_step else None,  # type: ignore[union-attr]
                line.decode(),
            )
        )
    facts.add(events)
    return RowBatch(rows, facts.snapshot(), n_bytes + ROW_BYTES * len(rows))


def read_events(
    connection: sqlite3.Connection, path: Path, *, after: int, digest: LinesDigest | None = None
) -> Iterator[list[Event]]:
    """Every event behind the ordinal ``after``, in order, each one checked, a few hundred at a
    time; ``digest`` is given their lines.

    Raises:
        SessionFileError: the file is damaged or busy; what came before is sound.
    """
    ordinal, t_ns = after if after >= 0 else _BEFORE_ALL, 0
    while events := _read_chunk(connection, path, ordinal, t_ns, digest):
        ordinal, t_ns = events[-1].ordinal, events[-1].t_ns
        yield events


def read_last(connection: sqlite3.Connection, path: Path) -> Event | None:
    """The newest event; None when there is none."""
    with sqlite_errors(path):
        row = connection.execute(_LAST).fetchone()
    return None if row is None else checked_event(row[0], row[1], path)


def _read_chunk(
    connection: sqlite3.Connection,
    path: Path,
    ordinal: int,
    t_ns: int,
    digest: LinesDigest | None = None,
) -> list[Event]:
    """Events as far as they are sound; raises only when not even the first one is."""
    rows: list[tuple[int, Any]] = []
    n_bytes = 0
    try:
        # Closed even when an error keeps this frame alive: an open cursor is a lock on the file.
        with sqlite_errors(path), closing(connection.execute(_AFTER, (ordinal,))) as cursor:
            for row in cursor:
                rows.append(row)
                n_bytes += len(row[1] or b"")
                if n_bytes > CHUNK_BYTES:
                    break
    except SessionFileError:
        if not rows:
            raise
        # What could be read is given; the next chunk begins at the bad place and says so.
    events = _all_sound(rows, ordinal, t_ns)
    if events is None:
        events = _first_sound(rows, ordinal, t_ns, path)
    if digest is not None and events:
        lines = [payload for _, payload in rows[: len(events)]]
        digest.add(lines, n=len(events), last_ordinal=events[-1].ordinal)
    return events


def _all_sound(rows: list[tuple[int, Any]], ordinal: int, t_ns: int) -> list[Event] | None:
    """The rows' events decoded together, the quick way for sound ones; None where anything is not
    as it must be."""
    ordinal = max(ordinal, -1)
    try:
        events = decode_events([payload for _, payload in rows])
        if len(events) != len(rows):
            return None
        for (row_ordinal, payload), event in zip(rows, events, strict=True):
            if not (event.ordinal == row_ordinal > ordinal and event.t_ns >= t_ns):
                return None
            check_limits(event, payload)
            if event.__class__ is SessionStarted:
                return None  # its version is looked at
            ordinal, t_ns = row_ordinal, event.t_ns
    except (CodecError, LimitError, TypeError):  # a payload may be anything
        return None
    return events


def _first_sound(rows: list[tuple[int, Any]], ordinal: int, t_ns: int, path: Path) -> list[Event]:
    """One by one, as far as they are sound; raises only when not even the first one is."""
    events: list[Event] = []
    try:
        for row_ordinal, payload in rows:
            event = checked_event(row_ordinal, payload, path)
            # SQL saw to it that ordinals grow; a damaged index of pages may repeat them.
            if row_ordinal <= ordinal:
                raise damaged(path, f"its events are out of order after {ordinal}")
            if event.t_ns < t_ns:
                raise damaged(path, f"time runs back at event {row_ordinal}")
            ordinal, t_ns = row_ordinal, event.t_ns
            events.append(event)
    except SessionFileError:
        if not events:
            raise
        # The next chunk begins at the bad place and says so.
    return events


def checked_event(ordinal: int, payload: Any, path: Path) -> Event:
    """One row's event, as an engine could have said it; raises SessionFileError otherwise."""
    if payload.__class__ is not bytes:
        raise damaged(path, f"event {ordinal} has no payload")
    try:
        event = decode_event(payload)
        check_limits(event, payload)
    except (CodecError, LimitError) as error:
        raise _unreadable(payload, path, f"event {ordinal} cannot be read: {error}") from error
    if event.ordinal != ordinal or event.ordinal < 0:
        raise damaged(path, f"event {ordinal} says it is {event.ordinal}")
    if event.__class__ is SessionStarted:
        _check_version(event.schema_version, path)
    return event


class _Version(msgspec.Struct, frozen=True):
    kind: str
    schema_version: int = 0


def _unreadable(payload: bytes, path: Path, what: str) -> SessionFileError:
    """A first event of a later version may have fields this one does not understand."""
    try:
        version = msgspec.json.decode(payload, type=_Version)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return damaged(path, what)
    if version.kind == "SessionStarted" and version.schema_version > SCHEMA_VERSION:
        return _newer(version.schema_version, path)
    return damaged(path, what)


def _check_version(version: int, path: Path) -> None:
    if version > SCHEMA_VERSION:
        raise _newer(version, path)


def _newer(version: int, path: Path) -> NewerSessionFile:
    return NewerSessionFile(
        f"{path} was recorded by a later version of SpecScope (its events are of version {version},"
        f" this one reads up to {SCHEMA_VERSION}): update SpecScope to open it."
    )
