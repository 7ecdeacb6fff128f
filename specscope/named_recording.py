"""NamedRecording: a recording whose file is given a name when it has ended."""

from collections.abc import Sequence

from engine.wire.events import Event, SequenceStarted, SessionEnded
from sessions.library import Library
from sessions.recorder import Recorder
from sessions.recorder_status import RecorderStatus
from sessions.refusal import is_refusal


class NamedRecording:
    """A session's sink: the recorder, and what is left to do when it has ended. A session that
    the engine refused holds nothing, and is not kept."""

    def __init__(self, recorder: Recorder, name: str, library: Library) -> None:
        self._recorder = recorder
        self._name = name
        self._library = library
        self._has_sequence = False
        self._is_refused = False

    @property
    def status(self) -> RecorderStatus:
        return self._recorder.status

    def consume(self, events: Sequence[Event]) -> None:
        self._recorder.consume(events)
        for event in events:
            if isinstance(event, SequenceStarted):
                self._has_sequence = True
            elif isinstance(event, SessionEnded):
                self._is_refused = is_refusal(
                    event.reason, event.detail, has_sequence=self._has_sequence
                )

    def close(self) -> None:
        """Finish the file and name it.

        Raises:
            SessionFileError: the name cannot be kept; all else is.
        """
        self._recorder.close()
        if self._is_refused and not self._recorder.error:
            self._recorder.path.unlink(missing_ok=True)
        elif self._name and not self._recorder.error:
            self._library.rename(self._recorder.path, self._name)
