"""SnapshotMemo: what a slow function of sessions gave, kept while they stay as they are."""

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar

from sessions.snapshot import Snapshot

Result = TypeVar("Result")
Named = Sequence[tuple[str, Snapshot]]

AT_ONCE_S = 0.1
"""What takes no longer is made anew whenever a session has grown."""
REST = 8.0
"""What took longer is not made anew for so many times as long: sessions that grow, or play, then
cost the thread that analyses them a ninth of its time at most."""


class SnapshotMemo(Generic[Result]):
    """Remembers the newest answer. Sessions are known by their tables, which only grow: the same
    tables at the same lengths hold the same rows."""

    def __init__(
        self, make: Callable[[Named], Result], *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._make = make
        self._clock = clock
        self._lock = Lock()
        self._who: tuple[Any, ...] = ()
        self._lengths: tuple[Any, ...] = ()
        self._tables: list[Any] = []  # held, so that no other table is given their ids
        self._answer: Result | None = None
        self._cost_s = 0.0
        self._made_s = 0.0
        self.is_behind = False
        """Whether the newest answer is of sessions that have grown since; ask again later."""

    def __call__(self, sessions: Named) -> Result:
        with self._lock:
            tables = [snapshot.starts["ordinal"].base for _, snapshot in sessions]
            names = tuple(name for name, _ in sessions)
            who = (names, tuple(map(id, tables)))
            lengths = tuple(tuple(snapshot.lengths().values()) for _, snapshot in sessions)
            if self._answer is not None and who == self._who:
                is_same = lengths == self._lengths
                if is_same or self._rests():
                    self.is_behind = not is_same
                    return self._answer
            begun = self._clock()
            answer = self._make(sessions)
            self._made_s = self._clock()
            self._cost_s = self._made_s - begun
            self._who, self._lengths, self._tables = who, lengths, tables
            self._answer, self.is_behind = answer, False
            return answer

    def _rests(self) -> bool:
        is_slow = self._cost_s > AT_ONCE_S
        return is_slow and self._clock() - self._made_s < REST * self._cost_s
