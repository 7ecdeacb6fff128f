"""Whoever reads a run's events: the model of it, the report, a file of lines, a recording."""

import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

import click

from engine.wire.codec import encode
from engine.wire.events import Event, LogEmitted
from sessions.library import Library
from sessions.metrics.summary import summarise
from sessions.model import SessionModel
from sessions.recorder import Recorder
from sessions.recorder_status import RecorderState
from sessions.snapshot import Snapshot


class RunReaders:
    """One session's readers. Opens what it writes at once, so that what cannot be written is known
    before anything is decoded.

    Raises:
        click.BadParameter: the file of events cannot be written.
    """

    def __init__(
        self,
        *,
        show: Callable[[Event], None],
        warn: Callable[[str], None],
        events_path: Path | None = None,
        session_path: Path | None = None,
    ) -> None:
        self.session_path = session_path
        self.refusals: list[str] = []
        """What the engine did not take, in its words: told at the end, and not shown before."""
        self._show = show
        self._warn = warn
        self._file_problem = ""  # why the file of events is not whole
        self._said = ""  # the last word of the recorder that was passed on
        self._model = SessionModel()
        self._events_file = _open(events_path)
        self._recorder: Recorder | None = None
        if session_path is not None:
            self._recorder = Recorder(
                session_path,
                summarise=lambda: summarise(self.snapshot()),
                model=lambda: self._model,
            )

    @property
    def has_events(self) -> bool:
        return len(self._model.tables["starts"]) > 0

    def consume(self, events: Sequence[Event]) -> None:
        if self._recorder is not None:
            self._recorder.consume(events)
            self._pass_on(self._recorder)
        self._model.consume(events)
        self._write(events)
        for event in events:
            if isinstance(event, LogEmitted) and event.level == "error":
                self.refusals.append(event.message)
            else:
                self._show(event)

    def _pass_on(self, recorder: Recorder) -> None:
        """A recording that waits or has failed is told once, while the run goes on."""
        status = recorder.status
        word = status.warning if status.state is RecorderState.OK else status.message
        if word and word != self._said:
            self._warn(f"recording: {word}")
        self._said = word

    def snapshot(self) -> Snapshot:
        return self._model.snapshot()

    def close(self, *, name: str = "") -> list[str]:
        """Finish what is being written; a sentence for each thing that could not be."""
        if self._events_file is not None:
            self._events_file.close()
        problems = [self._file_problem] if self._file_problem else []
        if self._recorder is None:
            return problems
        self._recorder.close()
        error = self._recorder.status.error
        if error:
            return [*problems, f"The session was not recorded whole: {error}"]
        if name and self.session_path is not None:
            Library().rename(self.session_path, name)
        return problems

    def _write(self, events: Sequence[Event]) -> None:
        """A file that takes no more is told once; the run goes on without it."""
        if self._events_file is None:
            return
        try:
            lines = b"".join(encode(event) + b"\n" for event in events)
            if self._events_file.write(lines) != len(lines):  # unbuffered: cut short by a full disk
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._give_file_up(error)

    def _give_file_up(self, error: OSError) -> None:
        self._file_problem = f"The events were not written whole: {error.strerror}."
        self._warn(self._file_problem)
        if self._events_file is not None:
            self._events_file.close()
        self._events_file = None


def _open(path: Path | None) -> BinaryIO | None:
    if path is None:
        return None
    try:
        return path.open("wb", buffering=0)  # so that a full disk is noticed at once
    except OSError as error:
        raise click.BadParameter(f"{path} cannot be written: {error.strerror}.") from error
