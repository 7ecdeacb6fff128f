"""SpeedBox: how fast a recording is played, out of a list."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox


class SpeedBox(QComboBox):
    """Whoever has chosen from the list means to play next, and in a box with the keyboard Space
    would open the list again: the keyboard is handed on when the list closes."""

    list_closed = Signal()

    def __init__(self, speeds: Sequence[float]) -> None:
        super().__init__()
        for speed in speeds:
            self.addItem(f"{speed:g}×", speed)  # noqa: RUF001
        self.setCurrentIndex(speeds.index(1.0))
        self.setAccessibleName("Speed of playing")
        self.setToolTip("Session seconds per second while playing (+ and -)")

    def hidePopup(self) -> None:
        was_open = self.view().isVisible()
        super().hidePopup()
        if was_open:
            self.list_closed.emit()
