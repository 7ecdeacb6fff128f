"""The mouse's wheel over a widget, as a desktop tells of it."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget


def turn_wheel(
    widget: QWidget,
    *,
    up: bool = False,
    keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """A notch, the pointer in the middle of what is seen of ``widget``."""
    window = widget.window()
    place = widget.mapTo(window, widget.visibleRegion().boundingRect().center())
    turn = QPoint(0, 120 if up else -120)
    QTest.wheelEvent(window.windowHandle(), place, turn, QPoint(), keys)
