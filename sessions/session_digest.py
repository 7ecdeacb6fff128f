"""Which events a session file holds, without making events of them."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sessions.lines_digest import EventsIdentity, LinesDigest
from sessions.session_errors import describe

_AT_ONCE = 2048
"""Events whose lines are joined by SQLite at once, unless they are too long for one value."""

_LINES = (
    "SELECT count(*), max(ordinal), CAST(group_concat(payload, ?) AS BLOB) FROM"
    " (SELECT ordinal, payload FROM events WHERE ordinal > ? ORDER BY ordinal LIMIT ?)"
)
_BEFORE_ALL = -(2**63)


def digest_lines(
    connection: sqlite3.Connection, path: Path, *, on_event: Callable[[int], None] | None = None
) -> EventsIdentity:
    """Of all events' lines. SQLite joins them, so that Python sees one value for thousands.
    ``on_event`` is told how many were read by now."""
    digest = LinesDigest()
    n_events, ordinal, n_at_once = 0, _BEFORE_ALL, _AT_ONCE
    while True:
        row = _joined(connection, path, ordinal, n_at_once)
        if row is None and n_at_once > 1:
            n_at_once //= 2
            continue
        if row is None or not row[0]:
            return digest.identity
        n, ordinal, lines = row
        n_events += n
        digest.add([lines or b""], n=n, last_ordinal=ordinal)
        if on_event is not None:
            on_event(n_events)


def _joined(connection: sqlite3.Connection, path: Path, after: int, n: int) -> Any:
    """None where the joined lines are too long for one value."""
    try:
        return connection.execute(_LINES, ("\n", after, n)).fetchone()
    except sqlite3.DataError:
        return None
    except sqlite3.Error as error:
        raise describe(error, path) from error
