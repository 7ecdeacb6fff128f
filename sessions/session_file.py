"""SessionFile: one session, kept in one SQLite file."""

import contextlib
import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from engine.wire.events import EndReason, Event, EventBase
from sessions.environment import Environment, this_environment
from sessions.lines_digest import EventsIdentity
from sessions.session_connection import (
    Connection,
    connect_for_reading,
    connect_for_writing,
    connect_new,
    reserve,
)
from sessions.session_digest import digest_lines
from sessions.session_edits import checked_name, checked_notes, checked_tags
from sessions.session_errors import SessionFileError, sqlite_errors
from sessions.session_facts import SessionFacts
from sessions.session_journal import choose_journal, end_journal
from sessions.session_rows import (
    CHUNK_EVENTS,
    INSERT,
    MAX_ORDINAL,
    RowBatch,
    make_rows,
    read_events,
    read_last,
)
from sessions.session_schema import check_tables, create_schema
from sessions.session_summary import FileSummary, RecordingProcess, read_summary

BUSY_TIMEOUT_S = 5.0
"""How long another program's lock is waited out before the file is called busy."""


class SessionFile:
    """An open session file: its events in order, and one row about the session.

    Used by one thread at a time. Whatever a method has written is committed when it returns.
    """

    def __init__(self, connection: Connection, *, environment: Environment | None = None) -> None:
        """Use ``create`` or ``open``."""
        self.path = connection.path
        self.warning = ""  # about the folder; empty when there is nothing to say
        self._connection = connection
        self._database = connection.database
        self._facts = SessionFacts(environment or Environment())
        self._is_recorder = False

    # --- opening and closing ---------------------------------------------------------------------

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        environment: Environment | None = None,
        busy_timeout_s: float = BUSY_TIMEOUT_S,
    ) -> Self:
        """Make a new, empty session file and open it for recording.

        Raises:
            SessionFileExists: something is there already.
            SessionFileUnwritable: the folder is missing, full or may not be written.
        """
        environment = environment or this_environment()
        reserve(path)
        # Made under another name, so that a file of this name is never half made.
        made = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            with cls(connect_new(made), environment=environment) as file:
                file._set_up()
            with sqlite_errors(path):
                made.replace(path)
            connection = connect_for_writing(path, timeout_s=busy_timeout_s)
        except BaseException:
            for left in (made, path):
                left.unlink(missing_ok=True)  # ours, and nothing is in it
            raise
        file = cls(connection, environment=environment)
        file._start_recording()
        return file

    @classmethod
    def open(
        cls, path: Path, *, writable: bool = False, busy_timeout_s: float = BUSY_TIMEOUT_S
    ) -> Self:
        """Open an existing session file, for reading unless ``writable``.

        Raises:
            SessionFileError: with a sentence, when it cannot be opened; the file is left as it is.
        """
        connect = connect_for_writing if writable else connect_for_reading
        connection = connect(path, timeout_s=busy_timeout_s)
        try:
            with sqlite_errors(path):
                check_tables(connection.database, path, for_writing=writable)
        except BaseException:
            connection.close()
            raise
        return cls(connection)

    def close(self) -> None:
        """May be called again. After recording, the write-ahead log is folded into the file."""
        if self._is_recorder:
            self._is_recorder = False
            # A file that cannot be written cannot be told that nobody writes it any more.
            with contextlib.suppress(SessionFileError):
                self._edit("recorder_json", "{}")
            end_journal(self._database)
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- recording -------------------------------------------------------------------------------

    def append(self, batch: Iterable[tuple[Event, bytes]]) -> None:
        """Write events and their encoded lines, in order, in one transaction.

        Raises:
            SessionFileBusy: another program holds the file; nothing was written.
            SessionFileError: nothing was written.
        """
        facts = self._facts.snapshot()
        self.write(make_rows(batch, facts))
        self._facts = facts

    def write(self, batch: RowBatch) -> None:
        """``append`` for rows that are made already."""
        with self._transaction():
            self._database.conn.executemany(INSERT, batch.rows)
            self._update({**batch.facts.columns()})
        self._facts = batch.facts

    def new_facts(self) -> SessionFacts:
        """What is known of the session so far, to go on counting from."""
        return self._facts.snapshot()

    def set_end(self, figures: Mapping[str, Any] | None = None) -> None:
        """Say that the recording is over; ``figures`` is what a list of sessions shows of it.

        Raises:
            SessionFileError: nothing was written.
            TypeError: ``figures`` holds what JSON cannot.
        """
        end = self._facts.end
        with self._transaction():
            self._update(
                {
                    "summary_json": None if figures is None else _json(figures),
                    "end_reason": EndReason.CRASHED if end is None else end.reason,
                    "ended": 1,
                    "recorder_json": "{}",
                }
            )

    # --- reading ---------------------------------------------------------------------------------

    def events(self, *, after: int = -1) -> Iterator[Event]:
        """Every event behind the ordinal ``after``, in order, each one checked. The file is not
        locked while the caller holds the iterator, and events that are added meanwhile are read.

        Raises:
            SessionFileError: on the way, at the first event that cannot be read.
        """
        return chain.from_iterable(self.batches(after=after))

    def batches(
        self,
        *,
        after: int = -1,
        after_ns: int = 0,
        until: int = MAX_ORDINAL,
        at_once: int = CHUNK_EVENTS,
        without: Collection[type[EventBase]] = (),
    ) -> Generator[list[Event]]:
        """``events``, up to ``at_once`` at a time and to the ordinal ``until``, some kinds passed
        over; ``after_ns`` is the time of the event ``after``, where it is known."""
        return read_events(
            self._database.conn,
            self.path,
            after=after,
            after_ns=after_ns,
            until=until,
            at_once=at_once,
            without=without,
        )

    def last_event(self) -> Event | None:
        """The newest event; None when there is none."""
        return read_last(self._database.conn, self.path)

    def summary(self) -> FileSummary:
        """The session at a glance; reads one row and one event, however long it is."""
        return read_summary(self._database.conn, self.path)

    def identity(self, *, on_event: Callable[[int], None] | None = None) -> EventsIdentity:
        """Which events these are, unchecked; far quicker than reading them. ``on_event`` is told
        now and then how many were looked at, and may raise to end it."""
        return digest_lines(self._database.conn, self.path, on_event=on_event)

    # --- what a person adds ----------------------------------------------------------------------

    def rename(self, name: str) -> None:
        """Give the session another name. The file keeps its own."""
        self._edit("name", checked_name(name))

    def set_notes(self, notes: str) -> None:
        """Replace the notes: any text."""
        self._edit("notes", checked_notes(notes))

    def set_tags(self, tags: Iterable[str]) -> None:
        """Replace the tags; the order is kept, repeated and empty ones are left out."""
        self._edit("tags_json", _json(checked_tags(tags)))

    # --- inside ----------------------------------------------------------------------------------

    def _set_up(self) -> None:
        with self._transaction():
            create_schema(self._database)
            self._update(
                {
                    **self._facts.columns(),
                    "recorder_json": _json(RecordingProcess.this(self.path)),
                }
            )

    def _start_recording(self) -> None:
        try:
            with sqlite_errors(self.path):
                self.warning = choose_journal(self._database, self.path)
        except BaseException:
            self.close()
            raise
        self._is_recorder = True

    def _edit(self, column: str, value: str) -> None:
        with self._transaction():
            self._update({column: value})

    def _update(self, columns: Mapping[str, int | str | None]) -> None:
        """Set columns of the session's row; their names are this package's own."""
        assignments = ", ".join(f"{name} = ?" for name in columns)
        self._database.execute(
            f"UPDATE session SET {assignments} WHERE id = 1", list(columns.values())
        )

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing, and never left open: an open one would swallow every later write."""
        with sqlite_errors(self.path):
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.conn.in_transaction:
                    self._database.execute("ROLLBACK")
                raise


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
