"""A window's place: never larger than the screen, the frame the desktop draws around it included,
or what lies at its end is out of reach."""

from PySide6.QtCore import QByteArray, QRect, QSize
from PySide6.QtWidgets import QMainWindow, QWidget

SMALLEST = QSize(900, 400)
"""Of what is under the menus, in pixels. Cards that want more are scrolled."""
FRAMED_S = 0.3
"""So soon after a window is shown the desktop has put its frame around it."""
_FIRST = QSize(1720, 1050)
_FRAME = QSize(8, 40)  # about: the true one is known when the window is on the screen


def restore(window: QMainWindow, kept: str) -> None:
    """Where it was left, by ``kept``; else of a size to begin with."""
    available = window.screen().availableGeometry().size()
    page = window.centralWidget()
    assert page is not None
    # Whatever is in it: a notice must not make the window grow.
    page.setMinimumSize(first_size(SMALLEST, available))
    geometry = QByteArray.fromBase64(kept.encode("ascii", "replace"))
    if not kept or not window.restoreGeometry(geometry):
        window.resize(first_size(_FIRST, available))
    elif not window.isMaximized() and not window.isFullScreen():
        window.resize(window.size().boundedTo(available))


def first_size(wanted: QSize, available: QSize) -> QSize:
    """``wanted``, or as much of it as a screen has room for beside a frame."""
    return wanted.boundedTo(available - _FRAME)


def fitted(inner: QRect, frame: QRect, available: QRect) -> QRect:
    """Where the inside of a window belongs so that its frame is in sight, as large as it may be."""
    size = frame.size().boundedTo(available.size())
    x = max(available.left(), min(frame.left(), available.right() + 1 - size.width()))
    y = max(available.top(), min(frame.top(), available.bottom() + 1 - size.height()))
    moved = inner.translated(x - frame.left(), y - frame.top())
    moved.setSize(inner.size() - (frame.size() - size))
    return moved


def keep_in_sight(window: QWidget) -> None:
    """Draw in a window whose frame hangs over. One that was made larger than the screen is meant
    so: pictures are taken of such."""
    available = window.screen().availableGeometry()
    inner, frame = window.geometry(), window.frameGeometry()
    is_large = inner.width() > available.width() or inner.height() > available.height()
    if window.isMaximized() or window.isFullScreen() or is_large or available.contains(frame):
        return
    window.setGeometry(fitted(inner, frame, available))
