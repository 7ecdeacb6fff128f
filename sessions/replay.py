"""StoredSource: an event source that reads a session file."""

from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from functools import partial

from engine.wire.events import EndReason, Event, EventBase, SessionEnded
from sessions.read_ahead import batches_ahead
from sessions.session_errors import SessionFileError
from sessions.session_file import SessionFile

NO_FAREWELL = "The recording ends here: its program crashed or was killed."
STILL_RECORDING = "The session is still being recorded: this is what was in its file by now."


class StoredSource:
    """The events of a session file, as they were said.

    A file without the engine's farewell gets one, with reason ``crashed``, so that its stream is
    whole; ``has_farewell`` tells whether that happened. The file belongs to the source from now on.
    """

    def __init__(
        self,
        file: SessionFile,
        *,
        after: int = -1,
        after_ns: int = 0,
        without: Collection[type[EventBase]] = (),
        ahead: bool = True,
    ) -> None:
        """
        Args:
            after: the ordinal behind which to begin; what came before is known.
            after_ns: the time of that event, where it is known.
            without: kinds nobody wants, which are not read.
            ahead: whether another process may read ahead where much is to be read; the first
                ``poll`` waits for its start.
        """
        self._file = file
        self._batches = self._whole(file, after, after_ns, without, ahead)
        self._waiting: list[Event] = []  # read already
        self._is_exhausted = False
        self._problem: SessionFileError | None = None
        self.has_farewell = True  # of the file itself, as far as it was read

    def poll(self, limit: int) -> Sequence[Event]:
        """Up to ``limit`` events, oldest first; fewer only at the end.

        Raises:
            SessionFileError: the file is damaged at this point; all events before it were given.
        """
        events = self._waiting
        while len(events) < limit and self._problem is None and not self._is_exhausted:
            try:
                more = next(self._batches, None)
            except SessionFileError as error:
                self._problem = error  # told when the events before it are given
            else:
                self._is_exhausted = more is None
                events += more or ()
        if self._problem is not None and not events:
            raise self._problem
        self._waiting = events[limit:]
        return events[:limit]

    @property
    def exhausted(self) -> bool:
        """Whether nothing more will ever come."""
        return self._is_exhausted and not self._waiting

    def close(self) -> None:
        """Close the file; may be called again."""
        self._is_exhausted = True
        self._batches.close()
        self._waiting = []
        self._file.close()

    def _whole(
        self,
        file: SessionFile,
        after: int,
        after_ns: int,
        without: Collection[type[EventBase]],
        ahead: bool,
    ) -> Generator[list[Event]]:
        last = file.last_event() if after >= 0 else None
        read = partial(batches_ahead, file) if ahead else file.batches
        with closing(read(after=after, after_ns=after_ns, without=without)) as batches:
            for events in batches:
                last = events[-1]
                yield events
        if without:
            last = file.last_event()
        if isinstance(last, SessionEnded):
            return
        self.has_farewell = False
        is_recording = file.summary().is_recording
        farewell = SessionEnded(
            reason=EndReason.CRASHED,
            detail=STILL_RECORDING if is_recording else NO_FAREWELL,
            ordinal=0 if last is None else last.ordinal + 1,
            t_ns=0 if last is None else last.t_ns,
        )
        yield [farewell]
