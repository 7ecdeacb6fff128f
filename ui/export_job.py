"""ExportJob: one session written in another program's format, beside the window."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.wire.events import Event
from sessions.export import EXPORTERS
from sessions.export.options import ExportError, ExportOptions
from sessions.export.progress import ExportCancelled
from sessions.library import Library
from sessions.replay import StoredSource
from sessions.session_errors import SessionFileError
from ui.background_task import BackgroundTask, OnProgress, ShouldStop

_BATCH = 1000


@dataclass(frozen=True, slots=True)
class ExportState:
    """How it stands: ``problem`` is a sentence once it failed; nothing was left behind then."""

    is_over: bool
    n_events: int
    is_stopping: bool = False
    is_cancelled: bool = False
    problem: str = ""
    n_bytes: int = 0  # of the file that was written

    @property
    def is_written(self) -> bool:
        return self.is_over and not self.is_cancelled and not self.problem


class ExportJob:
    """Begins when made."""

    def __init__(self, session: Path, out: Path, *, name: str, options: ExportOptions) -> None:
        def work(tell: OnProgress, should_stop: ShouldStop) -> int:
            if out.exists() and out.samefile(session):
                raise ExportError(f"{out} is the session itself: name another file.")
            exporter = EXPORTERS[name]
            source = StoredSource(Library().open(session), without=exporter.ignores)
            events = _Events(source)
            with closing(source):
                exporter.write(
                    events,
                    out,
                    options=options,
                    on_progress=lambda _: tell(events.n_passed),
                    should_stop=should_stop,
                )
            return out.stat().st_size

        self.out = out
        self._task = BackgroundTask(work, name="export")

    def poll(self) -> ExportState:
        state = self._task.poll()
        if not state.is_over:
            return ExportState(False, state.progress, state.is_stopping)
        if state.error is None:
            return ExportState(True, state.progress, n_bytes=state.result or 0)
        if isinstance(state.error, ExportCancelled):
            return ExportState(True, state.progress, is_cancelled=True)
        return ExportState(True, state.progress, problem=_sentence(state.error))

    def cancel(self) -> None:
        self._task.stop()

    def close(self) -> None:
        """Cancel it and wait for its end: an export asks often whether it is still wanted."""
        self._task.close()


class _Events:
    """A source's events; ``n_passed`` counts those that were left unread, too."""

    def __init__(self, source: StoredSource) -> None:
        self.n_passed = 0
        self._source = source

    def __iter__(self) -> Iterator[Event]:
        while not self._source.exhausted:
            batch = self._source.poll(_BATCH)
            yield from batch
            if batch:
                self.n_passed = batch[-1].ordinal + 1


def _sentence(error: Exception) -> str:
    if isinstance(error, ExportError | SessionFileError):
        return str(error)
    return f"The export failed: {type(error).__name__}: {error}"
