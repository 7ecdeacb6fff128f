"""Icons: our own drawings, in the theme's ink."""

import importlib.resources
from functools import cache

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtSvg import QSvgRenderer

from ui.painting import painting
from ui.theme import Theme, mixed

SIZE = 16
"""Of an icon in a button, in device-independent pixels."""
_SCALES = (1, 2, 3)


@cache
def icon(name: str, theme: Theme, *, colour: str = "") -> QIcon:
    """The icon ``name`` of ``resources/icons`` in the theme's text colour or in ``colour``; faint
    where its button is disabled. Raises FileNotFoundError where there is none."""
    ink = colour or theme.text
    found = QIcon()
    for mode, shade in (
        (QIcon.Mode.Normal, ink),
        (QIcon.Mode.Disabled, mixed(ink, theme.panel, 0.35)),
    ):
        for scale in _SCALES:
            found.addPixmap(_pixmap(name, shade, scale), mode)
    return found


@cache
def application_icon() -> QIcon:
    found = QIcon()
    for size in (16, 24, 32, 48, 64, 128, 256):
        found.addPixmap(_painted(_text("specscope"), size, 1))
    return found


def pixmap(name: str, theme: Theme, *, colour: str = "", size: int = SIZE) -> QPixmap:
    """One picture, sharp up to a scale of 3."""
    return _painted(_text(name).replace("currentColor", colour or theme.text), size, 3)


def _pixmap(name: str, ink: str, scale: int) -> QPixmap:
    return _painted(_text(name).replace("currentColor", ink), SIZE, scale)


def _painted(text: str, size: int, scale: int) -> QPixmap:
    picture = QPixmap(size * scale, size * scale)
    picture.fill(Qt.GlobalColor.transparent)
    with painting(picture) as painter:
        QSvgRenderer(QByteArray(text.encode())).render(
            painter, QRectF(0, 0, size * scale, size * scale)
        )
    picture.setDevicePixelRatio(scale)
    return picture


@cache
def _text(name: str) -> str:
    file = importlib.resources.files("resources") / "icons" / f"{name}.svg"
    return file.read_text(encoding="utf-8")
