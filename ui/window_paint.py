"""WindowPaint: all that has changed in a window is painted once a frame."""

from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QWidget


class WindowPaint(QObject):
    """Every plot has a scene, and Qt has the whole window painted as soon as one scene knows what
    has changed in it: with ten plots it is painted up to ten times a frame, most of it in vain.
    Here that waits until all of them know."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._is_waiting = False
        window.installEventFilter(self)

    def paint(self) -> None:
        """Lay out and paint what has changed, now."""
        self._is_waiting = True
        try:
            for kind in (QEvent.Type.LayoutRequest, QEvent.Type.MetaCall):  # the scenes' is a call
                QCoreApplication.sendPostedEvents(None, kind.value)
        finally:
            self._is_waiting = False
        QCoreApplication.sendEvent(self._window, QEvent(QEvent.Type.UpdateRequest))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Swallow what asks for painting while it waits: it is asked for again behind that."""
        return self._is_waiting and event.type() == QEvent.Type.UpdateRequest
