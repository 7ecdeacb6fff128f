"""Recorder: an event sink that writes a session file from a thread of its own."""

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from engine.wire.codec import encode
from engine.wire.events import Event
from sessions.column_cache import ColumnCache
from sessions.environment import this_environment
from sessions.lines_digest import LinesDigest
from sessions.model import SessionModel
from sessions.recorder_status import RecorderLimits, RecorderProgress, RecorderStatus
from sessions.session_errors import SessionFileBusy, SessionFileError
from sessions.session_file import SessionFile
from sessions.session_rows import ROW_BYTES, RowBatch, make_rows

_START_PATIENCE_S = 2.0
"""How long the constructor waits to know whether the file could be made."""


class Recorder:
    """Records what it is handed, and never keeps its caller waiting for the disk.

    Nothing it meets is raised: the run goes on, and ``status`` says what is not recorded. Events
    are in the file, and survive the end of this process, once ``status.n_saved`` counts them.
    """

    def __init__(
        self,
        path: Path,
        *,
        summarise: Callable[[], Mapping[str, Any]] | None = None,
        model: Callable[[], SessionModel] | None = None,
        cache: ColumnCache | None = None,
        file_hashes: Mapping[str, str] | None = None,
        limits: RecorderLimits | None = None,
    ) -> None:
        """Make the file ``path``, which must not exist.

        Args:
            summarise: asked once by ``close``, in its thread; what it gives is kept as the
                session's figures, and must be numbers, texts, lists and dictionaries.
            model: asked when the recording has ended well, in the recorder's thread while ``close``
                waits: the fold of the same events, which is kept so that the session opens at once.
            cache: where it is kept; the user's own by default.
            file_hashes: SHA-256 of the files the models were read from, by name.
        """
        self.path = path
        self._summarise = summarise
        self._model = model
        self._cache = cache or ColumnCache.of_user()
        self._digest = LinesDigest()  # of what is in the file
        self._has_farewell = False
        self._environment = this_environment(file_hashes)
        self._limits = limits or RecorderLimits()
        self._changed = threading.Condition()  # guards all that follows but ``_pending``
        self._queue: deque[Event] = deque()
        self._progress = RecorderProgress(path)
        self._is_taking = True
        self._is_closing = False
        self._deadline = float("inf")  # of closing, on the monotonic clock
        self._figures: Any = None
        self._pending: deque[RowBatch] = deque()  # the writer's own
        self._made = threading.Event()
        self._thread = threading.Thread(target=self._run, name="session-recorder", daemon=True)
        self._thread.start()
        self._made.wait(_START_PATIENCE_S)

    # --- a sink of events ------------------------------------------------------------------------

    def consume(self, events: Sequence[Event]) -> None:
        """Take events to be written; returns at once."""
        if not events:
            return
        with self._changed:
            if self._is_taking and self._is_full(len(events)):
                self._is_taking = False
                self._progress.stop_taking(events[0].ordinal)
            if not self._is_taking:
                self._progress.refuse(len(events))
                return
            self._queue.extend(events)
            self._progress.n_waiting += len(events)
            self._changed.notify_all()

    def close(self, *, patience_s: float | None = None) -> None:
        """Write what is waiting, the summary and the reason of the end; then let go of the file.

        Waits while another program holds the file, up to ``patience_s`` seconds; ``status`` says
        whether all was saved. May be called again. An error of ``summarise`` is raised when all
        else is done.
        """
        if self._is_closing:
            self._thread.join()
            return
        try:
            if self._summarise is not None:
                self._figures = msgspec.to_builtins(self._summarise())
        finally:
            patience = self._limits.close_patience_s if patience_s is None else patience_s
            with self._changed:
                self._is_taking = False
                self._is_closing = True
                self._deadline = time.monotonic() + patience
                self._changed.notify_all()
            self._thread.join()

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until all that was taken is committed; False when it is not, by then or ever."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._progress.n_waiting == 0 or not self._thread.is_alive(), timeout_s
            )
            return self._progress.n_waiting == 0 and not self._progress.error

    @property
    def status(self) -> RecorderStatus:
        """The recorder at this moment; cheap, from any thread."""
        with self._changed:
            return self._progress.status()

    @property
    def error(self) -> str:
        """What is not recorded, and why; empty while all is."""
        return self._progress.error

    # --- the writer's thread ---------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._record()
            self._keep_columns()
        except SessionFileError as error:
            self._fail(str(error))
        except Exception as error:  # a fault of this program must be as visible as a full disk
            self._fail(f"{self.path}: the recorder failed: {type(error).__name__}: {error}.")
        finally:
            self._made.set()
            with self._changed:
                self._changed.notify_all()

    def _record(self) -> None:
        file = SessionFile.create(
            self.path,
            environment=self._environment,
            busy_timeout_s=self._limits.busy_timeout_s,
        )
        with file:
            self._progress.warning = file.warning
            self._made.set()
            facts = file.new_facts()
            while True:
                is_closing = self._wait_for_work()
                while events := self._take():
                    lines = map(encode, events)
                    batch = make_rows(zip(events, lines, strict=True), facts)
                    self._pending.append(batch)
                    self._weigh(batch)
                    if not self._progress.is_busy:
                        self._write(file)
                self._write(file)
                if is_closing and self._finish(file):
                    return

    def _keep_columns(self) -> None:
        """For a long session this takes a second or so, for others nothing."""
        if self._model is not None and self._has_farewell and not self._progress.error:
            self._cache.keep(self.path, self._model(), self._digest.identity)

    def _wait_for_work(self) -> bool:
        """Sleep until something is to do, and then a little, so that a commit is worth its cost.

        Returns whether the recorder is closing.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._pending or self._is_closing)
            self._changed.wait_for(
                lambda: self._is_closing and not self._progress.is_busy,
                self._limits.commit_every_s,
            )
            return self._is_closing

    def _take(self) -> list[Event]:
        with self._changed:
            n_events = min(len(self._queue), self._limits.batch_events)
            return [self._queue.popleft() for _ in range(n_events)]

    def _weigh(self, batch: RowBatch) -> None:
        """Count the bytes of a batch, now that they are known; too many end the taking."""
        with self._changed:
            self._progress.waiting_bytes += batch.n_bytes
            if self._is_taking and self._is_full(0):
                self._is_taking = False
                self._progress.n_waiting -= len(self._queue)
                self._progress.stop_taking(batch.rows[-1][0] + 1)
                self._progress.refuse(len(self._queue))
                self._queue.clear()

    def _is_full(self, n_more: int) -> bool:
        n_unweighed = len(self._queue) + n_more
        n_bytes = self._progress.waiting_bytes + n_unweighed * ROW_BYTES
        return (
            self._progress.n_waiting + n_more > self._limits.max_waiting_events
            or n_bytes > self._limits.max_waiting_bytes
        )

    def _write(self, file: SessionFile) -> None:
        """Commit batch after batch, until none is left or the file is busy."""
        while self._pending:
            batch = self._pending[0]
            try:
                file.write(batch)
            except SessionFileBusy:
                self._set_busy(True)
                return
            self._pending.popleft()
            last_ordinal = batch.rows[-1][0]
            lines = "\n".join([row[-1] for row in batch.rows])
            self._digest.add([lines.encode()], n=len(batch.rows), last_ordinal=last_ordinal)
            with self._changed:
                self._progress.save(len(batch.rows), batch.n_bytes, last_ordinal)
                self._changed.notify_all()

    def _finish(self, file: SessionFile) -> bool:
        """Write the end; True when that is done."""
        if not self._pending:
            try:
                file.set_end(self._figures)
                self._has_farewell = file.new_facts().end is not None
            except SessionFileBusy:
                self._set_busy(True)
            else:
                self._set_busy(False)
                self._progress.is_ended = True
                return True
        if time.monotonic() < self._deadline:
            return False
        raise SessionFileBusy(
            f"{self.path} was held by another program until the recorder had to close: "
            f"{self._progress.n_waiting:,} events were not saved, and its end is not written."
        )

    def _set_busy(self, is_busy: bool) -> None:
        with self._changed:
            self._progress.is_busy = is_busy

    def _fail(self, message: str) -> None:
        with self._changed:
            self._is_taking = False
            self._queue.clear()
            self._pending.clear()
            self._progress.give_up(message)
            self._changed.notify_all()
