"""Keeps the samplers out while a CUDA graph is being captured."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class CaptureGate:
    """A capture waits for a reading that is being made, and no reading is made during a capture:
    a call into the driver from another thread can end a capture in an error."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @contextmanager
    def capturing(self) -> Iterator[None]:
        """To be held around every capture."""
        with self._lock:
            yield

    @contextmanager
    def reading(self) -> Iterator[bool]:
        """To be held around every reading of the driver from another thread; False when it must
        not be made now."""
        may_read = self._lock.acquire(blocking=False)
        try:
            yield may_read
        finally:
            if may_read:
                self._lock.release()


CAPTURE_GATE = CaptureGate()
"""The one of this process: a capture is of all its threads."""
