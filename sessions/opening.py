"""Opening a stored session: at once where its columns are kept, else event by event, which
processes of their own do for a long one.

Whoever shows a session calls ``advance`` until ``is_over`` and stays alive meanwhile;
``progress`` says how far it has come.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.wire.events import Event
from sessions.column_cache import ColumnCache, stamp_of
from sessions.column_file import StoredColumns
from sessions.fold_processes import FoldProcesses
from sessions.library import Library
from sessions.replay import StoredSource
from sessions.session import BATCH, Session
from sessions.session_errors import SessionFileError
from sessions.session_file import SessionFile
from sessions.session_summary import FileSummary

MIN_EVENTS_APART = 100_000
"""Fewer events are folded here before another process has begun."""

HEAD_ORDINALS = 2048
"""The first events are folded here, while the other processes begin: there is something to see."""

_MIN_ROW_BYTES = 32
"""A file cannot hold more events than that makes of its size, whatever it says."""


@dataclass(frozen=True, slots=True)
class OpeningProgress:
    """How much of a stored session was read."""

    n_read: int
    n_events: int  # in all; 0 for a session without any

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return min(self.n_read / self.n_events, 1.0) if self.n_events else 1.0


def open_session(path: Path, *, cache: ColumnCache | None = None) -> "StoredSession":
    """The session in the file ``path``, of which nothing has been read but its summary; a file of
    an earlier version is brought up to date first.

    Args:
        cache: where columns are kept; the user's own by default.

    Raises:
        SessionFileError: it cannot be opened.
    """
    return StoredSession(Library().open(path), cache or ColumnCache.of_user())


class StoredSession(Session):
    """A recording. ``advance`` raises SessionFileError where the file is damaged, when everything
    before was taken in."""

    def __init__(self, file: SessionFile, cache: ColumnCache) -> None:
        """The file belongs to the session from now on. Use ``open_session``."""
        try:
            self.summary: FileSummary = file.summary()
        except BaseException:
            file.close()
            raise
        self.path = file.path
        self._file = file
        self._cache = cache
        self._stamp = stamp_of(file.path)
        self._n_read = 0
        self._should_stop = threading.Event()
        self._threads = ThreadPoolExecutor(1, "session-opening")
        self._search: Future[StoredColumns | None] | None = None
        self._folding: FoldProcesses | None = None
        self._head: Iterator[list[Event]] | None = None  # the first events, before what is folded
        self._keeping: Future[bool] | None = None
        self._is_from_cache = False
        self._is_settled = False
        super().__init__(StoredSource(file, ahead=False))
        if self.summary.counts.n_events >= cache.min_events and not self.summary.is_recording:
            self._search = self._threads.submit(self._find)
        else:
            self._begin_folding()

    @property
    def progress(self) -> OpeningProgress:
        n_read = self.model.n_events or self._n_read
        return OpeningProgress(n_read, max(self.summary.counts.n_events, n_read))

    @property
    def is_from_cache(self) -> bool:
        """Whether the columns were there already."""
        return self._is_from_cache

    @property
    def is_over(self) -> bool:
        """Whether all of it was taken in."""
        is_begun = self._search is None and self._folding is None
        return self._is_closed or (is_begun and super().is_over)

    def advance(self, budget_ms: float) -> int:
        n_events = 0
        if self._search is not None and not self._is_closed:
            try:
                found = self._search.result(budget_ms / 1e3)
            except NotYet:
                return 0
            finally:
                if self._search.done():
                    self._search = None
            if found is None:
                self._begin_folding()
            else:
                n_events = self._adopt(found)
        if self._folding is not None and not self._is_closed:
            if self._head is not None:
                return n_events + self._take_head(self._head)
            return n_events + self._take_folded(self._folding, budget_ms)
        n_events += super().advance(budget_ms)
        if self.is_over and not self._is_closed:
            self._settle()
        return n_events

    def read_all(self) -> None:
        """Take in everything, and keep its columns for the next time; for whoever need not stay
        alive meanwhile."""
        while not self.is_over:
            self.advance(1e3)
        if self._keeping is not None:
            self._keeping.result()

    def close(self) -> None:
        """Columns that are just being kept are given up."""
        self._should_stop.set()
        if self._folding is not None:
            self._folding.close()
        self._threads.shutdown(wait=True)
        super().close()

    def _adopt(self, found: StoredColumns) -> int:
        self.model.adopt(found.columns)
        self._is_from_cache = True
        self._source = StoredSource(self._file, after=found.identity.last_ordinal)
        return found.columns.n_events

    def _begin_folding(self) -> None:
        """Have a long session folded by other processes; their columns come first, and whatever
        they leave, the end at least, is read event by event."""
        counts = self.summary.counts
        if counts.n_events < MIN_EVENTS_APART or self.summary.is_recording:
            return
        with suppress(SessionFileError, OSError):  # reading its events will meet it again
            last = self._file.last_event()
            if last is not None and last.ordinal <= self.path.stat().st_size // _MIN_ROW_BYTES:
                self._folding = FoldProcesses(self.path, last.ordinal, first_ordinal=HEAD_ORDINALS)
                self._head = self._file.batches(until=HEAD_ORDINALS - 1, at_once=BATCH)

    def _take_head(self, head: Iterator[list[Event]]) -> int:
        """A batch of the first events; raises SessionFileError where they are damaged."""
        events = next(head, [])
        if not events:
            self._head = None
        self.model.consume(events)
        return len(events)

    def _take_folded(self, folding: FoldProcesses, budget_ms: float) -> int:
        """Take columns in until none is due or the budget is spent; the number of events."""
        n_before, model = self.model.n_events, self.model
        deadline_ns = self._clock() + round(budget_ms * 1e6)
        while (left_ns := deadline_ns - self._clock()) > 0 or model.n_events == n_before:
            piece = folding.poll(max(left_ns, 0) / 1e9)
            if piece is None:
                break
            if piece.first_t_ns < model.last_t_ns:  # reading on will say so
                folding.close()
                break
            model.append(piece)
        if folding.is_over:
            self._folding = None
            self._source = StoredSource(
                self._file, after=model.last_ordinal, after_ns=model.last_t_ns, ahead=False
            )
        return model.n_events - n_before

    def _settle(self) -> None:
        """All is taken in: the file is let go of, and what was folded is kept."""
        if self._is_settled:
            return
        self._is_settled = True
        self._source.close()
        is_long = self.summary.counts.n_events >= self._cache.min_events
        is_new = not self._is_from_cache and not self.summary.is_recording
        if is_long and is_new and self._stamp is not None:
            self._keeping = self._threads.submit(self._keep)

    def _find(self) -> StoredColumns | None:
        # Reading its events will meet an error again, and say where.
        with suppress(SessionFileError, _Stopped):
            return self._cache.find(self._file, on_event=self._tell)
        return None

    def _keep(self) -> bool:
        with suppress(SessionFileError, _Stopped):  # it has gone meanwhile, or nobody waits
            with SessionFile.open(self.path) as file:
                identity = file.identity(on_event=self._tell)
            return self._cache.keep(
                self.path,
                self.model,
                identity,
                stamp=self._stamp,
                should_stop=self._should_stop.is_set,
            )
        return False

    def _tell(self, n_events: int) -> None:
        self._n_read = n_events
        if self._should_stop.is_set():
            raise _Stopped


class _Stopped(Exception):
    """The session was closed while it was being opened."""
