"""Events as rows of the table ``events``, and back."""

import sqlite3
from collections.abc import Collection, Generator, Iterable
from contextlib import closing
from itertools import islice
from operator import le, lt
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from engine.wire.codec import CodecError, decode_event, decode_events
from engine.wire.events import SCHEMA_VERSION, Event, EventBase, SessionStarted
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
MAX_ORDINAL = 2**63 - 1

_LAST = "SELECT ordinal, CAST(payload AS BLOB) FROM events ORDER BY ordinal DESC LIMIT 1"

_decode_ordinals = msgspec.json.Decoder(list[int]).decode

_KINDS = {
    kind: (kind.__name__, "sequence_id" in kind.__struct_fields__, "step" in kind.__struct_fields__)
    for kind in Event.__args__
}
"""Name of a kind, and whether its events have a sequence and a step."""


class _Queries(NamedTuple):
    """Of the rows between two ordinals, so many of them."""

    rows: str
    joined: str  # SQLite joins what is read, so that Python sees three values for hundreds of rows

    @classmethod
    def without(cls, kinds: Iterable[type[EventBase]]) -> Self:
        passed_over = ", ".join(f"'{kind.__name__}'" for kind in kinds)
        between = (
            "FROM events WHERE ordinal > ? AND ordinal <= ?"
            f" AND (kind NOT IN ({passed_over}) OR kind IS NULL)"  # which is no kind
            " ORDER BY ordinal LIMIT ?"
        )
        return cls(
            f"SELECT ordinal, CAST(payload AS BLOB) {between}",
            "SELECT CAST(group_concat(ordinal) AS BLOB), CAST(group_concat(payload) AS BLOB),"
            f" count(payload) FROM (SELECT ordinal, payload {between})",
        )


class _Place(NamedTuple):
    """Of an event, or before all of them: where to go on."""

    ordinal: int
    t_ns: int


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
    connection: sqlite3.Connection,
    path: Path,
    *,
    after: int,
    after_ns: int = 0,
    until: int = MAX_ORDINAL,
    at_once: int = CHUNK_EVENTS,
    without: Collection[type[EventBase]] = (),
) -> Generator[list[Event]]:
    """Every event behind the ordinal ``after``, in order, each one checked, up to ``at_once`` at a
    time.

    Args:
        after_ns: time of the event ``after``: none that follows may be earlier.
        until: the last ordinal to be read.
        without: kinds that are passed over, by what their rows say.

    Raises:
        SessionFileError: the file is damaged or busy; what came before is sound.
    """
    place = _Place(after if after >= 0 else _BEFORE_ALL, after_ns)
    queries = _Queries.without(without)
    while events := _read_chunk(connection, path, queries, place, until, at_once):
        place = _Place(events[-1].ordinal, events[-1].t_ns)
        yield events


def read_last(connection: sqlite3.Connection, path: Path) -> Event | None:
    """The newest event; None when there is none."""
    with sqlite_errors(path):
        row = connection.execute(_LAST).fetchone()
    return None if row is None else checked_event(row[0], row[1], path)


def _read_chunk(
    connection: sqlite3.Connection,
    path: Path,
    queries: _Queries,
    after: _Place,
    until: int,
    n: int,
) -> list[Event]:
    """Up to ``n`` events as far as they are sound; raises only when not even the first one is."""
    events = _all_sound(connection, queries.joined, after, until, n)
    if events is None:
        return _first_sound(connection, path, queries.rows, after, until)
    return events


def _all_sound(
    connection: sqlite3.Connection, query: str, after: _Place, until: int, n: int
) -> list[Event] | None:
    """Events decoded together, the quick way for sound ones; None where anything is not as it must
    be, or too long to be joined."""
    try:
        bounds = (after.ordinal, until, n)
        ordinals, lines, n_payloads = connection.execute(query, bounds).fetchone()
        if ordinals is None:
            return []
        told = _decode_ordinals(b"[%b]" % ordinals)
        events = decode_events([lines])
        check_limits(events)
    except (sqlite3.Error, CodecError, LimitError, TypeError):  # a payload may be anything
        return None
    times = [event.t_ns for event in events]
    is_sound = (
        len(lines) <= CHUNK_BYTES
        and told == [event.ordinal for event in events]
        and n_payloads == len(told)  # where one is missing, another may hold two events
        and told[0] > max(after.ordinal, -1)
        and all(map(lt, told, islice(told, 1, None)))
        and times[0] >= after.t_ns
        and all(map(le, times, islice(times, 1, None)))
        and SessionStarted not in map(type, events)  # its version is looked at
    )
    return events if is_sound else None


def _first_sound(
    connection: sqlite3.Connection, path: Path, query: str, after: _Place, until: int
) -> list[Event]:
    """One by one, as far as they are sound; raises only when not even the first one is."""
    rows: list[tuple[int, Any]] = []
    n_bytes = 0
    try:
        # Closed even when an error keeps this frame alive: an open cursor is a lock on the file.
        bounds = (after.ordinal, until, CHUNK_EVENTS)
        with sqlite_errors(path), closing(connection.execute(query, bounds)) as cursor:
            for row in cursor:
                rows.append(row)
                n_bytes += len(row[1] or b"")
                if n_bytes > CHUNK_BYTES:
                    break
    except SessionFileError:
        if not rows:
            raise
        # What could be read is given; the next chunk begins at the bad place and says so.
    events: list[Event] = []
    ordinal, t_ns = after
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
        check_limits([event])
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
