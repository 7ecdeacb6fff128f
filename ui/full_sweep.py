"""What is let go of at rest. Python's collector looks at every object there is, and a window has so
many that the picture stops for a tenth of a second; and lines of sources need not be kept."""

import gc
import linecache

from PySide6.QtCore import QObject

from sessions.playhead import Mode
from ui.frame_clock import FrameClock
from ui.session_controller import SessionController

REST_S = 2.0
LOADED_S = 5.0
"""By then the start page has loaded all cards."""


def sweep_rarely() -> None:
    """From now on what is young is looked at as before, and everything only when ``FullSweep``
    says so, or after many minutes of drawing."""
    gc.set_threshold(*gc.get_threshold()[:2], 1000)


class FullSweep(QObject):
    """Looks for what closed sessions leave in cycles, at a moment when nothing moves. Lives as
    long as its parent."""

    def __init__(
        self, clock: FrameClock, controller: SessionController, *, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._clock, self._controller = clock, controller
        self._n_open = 0
        self._is_due = False
        controller.sessions_changed.connect(self._count)
        # PySide looks into the source of every module that is loaded behind it, and Python keeps
        # the lines: more than 20 MB that nobody will ask for.
        clock.after(LOADED_S, linecache.clearcache)

    def _count(self) -> None:
        n_open = len(self._controller.sessions)
        if n_open < self._n_open and not self._is_due:
            self._is_due = True
            self._clock.after(REST_S, self._sweep)
        self._n_open = n_open

    def _sweep(self) -> None:
        shown = self._controller.shown
        is_playing = shown is not None and shown.playhead.mode is Mode.PLAYING
        if is_playing or self._controller.is_running:
            self._clock.after(REST_S, self._sweep)
        else:
            self._is_due = False
            gc.collect()
