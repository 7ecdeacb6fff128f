"""BackgroundTask: one function on a thread of its own; the window's clock asks how it goes."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

Result = TypeVar("Result")

OnProgress = Callable[[int], None]
ShouldStop = Callable[[], bool]
Work = Callable[[OnProgress, ShouldStop], Result]
"""Tells how far it has come, and asks whether it is still wanted; it may end itself, in its own
way, by returning or by raising."""


@dataclass(frozen=True, slots=True)
class TaskState(Generic[Result]):
    """How a task stands; ``result`` or ``error`` once it is over."""

    is_over: bool
    progress: int
    is_stopping: bool = False
    result: Result | None = None
    error: Exception | None = None


class BackgroundTask(Generic[Result]):
    """Begins when made. Polled, never waited for, until ``close``."""

    def __init__(self, work: Work[Result], *, name: str = "task") -> None:
        self._work = work
        self._progress = 0
        self._stop = threading.Event()
        self._over: TaskState[Result] | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def poll(self) -> TaskState[Result]:
        """How it stands; costs nothing."""
        over = self._over
        if over is not None:
            return over
        return TaskState(False, self._progress, self._stop.is_set())

    def stop(self) -> None:
        """Say that it is not wanted any more; it ends when it next asks."""
        self._stop.set()

    def close(self) -> TaskState[Result]:
        """Stop it and wait for its end; may be called again."""
        self._stop.set()
        self._thread.join()
        return self.poll()

    def _run(self) -> None:
        result: Result | None = None
        error: Exception | None = None
        try:
            result = self._work(self._tell, self._stop.is_set)
        except Exception as raised:
            error = raised
        self._over = TaskState(True, self._progress, self._stop.is_set(), result, error)

    def _tell(self, progress: int) -> None:
        self._progress = progress
