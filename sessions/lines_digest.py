"""LinesDigest: whether two readings of a session's events were of the same events."""

import hashlib
from collections.abc import Iterable
from typing import NamedTuple


class EventsIdentity(NamedTuple):
    """Events that are equal in all three are the same events."""

    n_events: int
    last_ordinal: int  # -1 where there is no event
    sha256: str  # of all lines, each with its newline


class LinesDigest:
    """Sums up the lines of events, in order."""

    def __init__(self) -> None:
        self._n_events = 0
        self._last_ordinal = -1
        self._hash = hashlib.sha256()

    def add(self, lines: Iterable[bytes], *, n: int, last_ordinal: int) -> None:
        """``n`` more events, the newest of them ``last_ordinal``. What is given may be one line or
        several that are joined by newlines; the last newline is left out."""
        self._hash.update(b"\n".join(lines))
        self._hash.update(b"\n")
        self._n_events += n
        self._last_ordinal = last_ordinal

    @property
    def identity(self) -> EventsIdentity:
        return EventsIdentity(self._n_events, self._last_ordinal, self._hash.hexdigest())
