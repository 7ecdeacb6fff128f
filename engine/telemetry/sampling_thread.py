"""SamplingThread: a thread that samples from start to stop; what it samples is a subclass's."""

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class SamplingThread(ABC):
    """A subclass's ``_run`` samples until ``_stopping`` is set."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start sampling. Starting twice is an error."""
        if self._thread is not None:
            raise RuntimeError("the sampler is already running")
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop and wait for the thread. Does nothing when not running."""
        if self._thread is not None:
            self._stopping.set()
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @abstractmethod
    def _run(self) -> None: ...
