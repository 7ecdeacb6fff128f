"""NamedRecording: a recording whose file is given a name when it has ended."""

from collections.abc import Sequence

from engine.wire.events import Event
from sessions.library import Library
from sessions.recorder import Recorder
from sessions.recorder_status import RecorderStatus


class NamedRecording:
    """A session's sink: the recorder, and what is left to do when it has ended."""

    def __init__(self, recorder: Recorder, name: str, library: Library) -> None:
        self._recorder = recorder
        self._name = name
        self._library = library

    @property
    def status(self) -> RecorderStatus:
        return self._recorder.status

    def consume(self, events: Sequence[Event]) -> None:
        self._recorder.consume(events)

    def close(self) -> None:
        """Finish the file and name it.

        Raises:
            SessionFileError: the name cannot be kept; all else is.
        """
        self._recorder.close()
        if self._name and not self._recorder.error:
            self._library.rename(self._recorder.path, self._name)
