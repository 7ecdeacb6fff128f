"""How one block of a cache looks, drawn once for each look and size and then copied.

Never by colour alone: a filled block has a bar as high as it is full, a speculative one is
hatched, one just rolled back crossed out, a reserved one an outline, a free one a faint square.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from ui.painting import painting
from ui.theme import Theme, interface_font, mixed

LABEL_PX = 22
"""Cells at least so wide, in pixels of the interface, carry their owner's number."""
_GAP_FROM_PX = 5  # device pixels
_ROUND_FROM_PX = 12


class Cell(IntEnum):
    """What a block is drawn as."""

    FREE = 0
    FILLED = 1
    HATCHED = 2
    CROSSED = 3
    OUTLINED = 4


@dataclass(frozen=True, slots=True)
class CellLook:
    """One look: ``colour`` the owner's; ``filled_px`` and ``back_px`` how high its bar of filled
    slots is and, above it, that of slots just rolled back; ``label`` "" for none."""

    cell: Cell
    colour: str
    filled_px: int
    back_px: int
    label: str


def draw_cell(look: CellLook, theme: Theme, size: int, ratio: float) -> np.ndarray:
    """[size, size] uint32, premultiplied ARGB; ``size`` in device pixels, ``ratio`` of them to a
    pixel of the interface."""
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    with painting(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, size >= _ROUND_FROM_PX)
        gap = max(1, round(size / 16)) if size >= _GAP_FROM_PX else 0
        box = QRectF(0, 0, size - gap, size - gap)
        radius = size / 9 if size >= _ROUND_FROM_PX else 0.0
        pen = max(1.0, round(ratio))
        _DRAWERS[look.cell](painter, look, theme, box, radius, pen)
        if look.label:
            font = interface_font()
            font.setPixelSize(max(1, round(min(size * 0.42, 12 * ratio))))
            painter.setFont(font)
            is_on_colour = look.cell is Cell.FILLED and look.filled_px > 0.62 * size
            painter.setPen(QColor(theme.on_colour if is_on_colour else theme.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, look.label)
    rows = np.frombuffer(image.constBits(), np.uint32).reshape(size, image.bytesPerLine() // 4)
    return rows[:, :size].copy()


def _free(
    painter: QPainter, look: CellLook, theme: Theme, box: QRectF, radius: float, pen: float
) -> None:
    _plain(painter, box, radius, mixed(theme.line, theme.panel, 0.55))


def _filled(
    painter: QPainter, look: CellLook, theme: Theme, box: QRectF, radius: float, pen: float
) -> None:
    _plain(painter, box, radius, mixed(look.colour, theme.panel, 0.30))
    bottom = box.bottom()
    bar = QRectF(box.left(), bottom - look.filled_px, box.width(), look.filled_px)
    painter.save()
    painter.setClipRect(bar)
    _plain(painter, box, radius, look.colour)
    painter.restore()
    if look.back_px:
        back = QRectF(box.left(), bar.top() - look.back_px, box.width(), look.back_px)
        painter.fillRect(back, QColor(mixed(theme.rejected, theme.panel, 0.45)))
        painter.setPen(QPen(QColor(theme.rejected), pen))
        _hatch(painter, back, 4 * pen)


def _hatched(
    painter: QPainter, look: CellLook, theme: Theme, box: QRectF, radius: float, pen: float
) -> None:
    _plain(painter, box, radius, mixed(look.colour, theme.panel, 0.22))
    painter.setPen(QPen(QColor(look.colour), pen))
    _hatch(painter, box, max(3.0, 4 * pen))


def _crossed(
    painter: QPainter, look: CellLook, theme: Theme, box: QRectF, radius: float, pen: float
) -> None:
    _plain(painter, box, radius, mixed(theme.rejected, theme.panel, 0.25))
    painter.setPen(QPen(QColor(theme.rejected), max(pen, box.width() / 10)))
    inset = box.width() * 0.2 if box.width() >= 6 else 0.0
    inner = box.adjusted(inset, inset, -inset, -inset)
    painter.drawLine(inner.topLeft(), inner.bottomRight())
    painter.drawLine(inner.topRight(), inner.bottomLeft())


def _outlined(
    painter: QPainter, look: CellLook, theme: Theme, box: QRectF, radius: float, pen: float
) -> None:
    if box.width() < 4:
        _plain(painter, box, radius, mixed(look.colour, theme.panel, 0.5))
        return
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(look.colour), pen))
    half = pen / 2
    painter.drawRoundedRect(box.adjusted(half, half, -half, -half), radius, radius)


def _plain(painter: QPainter, box: QRectF, radius: float, colour: str) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))
    painter.drawRoundedRect(box, radius, radius)


def _hatch(painter: QPainter, box: QRectF, spacing: float) -> None:
    """Diagonals that rise to the right, inside ``box``."""
    painter.save()
    painter.setClipRect(box, Qt.ClipOperation.IntersectClip)
    starts = np.arange(box.left() - box.height(), box.right() + spacing, spacing).tolist()
    painter.drawLines([QLineF(x, box.bottom(), x + box.height(), box.top()) for x in starts])
    painter.restore()


_DRAWERS = {
    Cell.FREE: _free,
    Cell.FILLED: _filled,
    Cell.HATCHED: _hatched,
    Cell.CROSSED: _crossed,
    Cell.OUTLINED: _outlined,
}
