"""HatchedBars: filled rectangles with a hatch, whose lines keep their distance at every zoom."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter

from ui.painting import guarded

HATCHES = (
    Qt.BrushStyle.NoBrush,
    Qt.BrushStyle.BDiagPattern,
    Qt.BrushStyle.Dense6Pattern,
    Qt.BrushStyle.FDiagPattern,
    Qt.BrushStyle.VerPattern,
    Qt.BrushStyle.HorPattern,
)
"""Plain, diagonal, dotted, the other diagonal, upright, level."""


@dataclass(frozen=True, slots=True)
class HatchedBar:
    """From (x0, y0) to (x1, y1) in the plot's coordinates; ``hatch`` of ``HATCHES``."""

    x0: float
    x1: float
    y0: float
    y1: float
    colour: str
    ink: str
    hatch: int = 0


def fill_hatched(painter: QPainter, rect: QRectF, colour: str, ink: str, hatch: int) -> None:
    """Fill a rectangle; the hatch is that of the screen, whatever the painter's scale is."""
    painter.fillRect(rect, QColor(colour))
    style = HATCHES[hatch % len(HATCHES)]
    if style is Qt.BrushStyle.NoBrush:
        return
    line = QColor(ink)
    line.setAlpha(110)
    brush = QBrush(line, style)
    matrix, is_invertible = painter.worldTransform().inverted()
    if is_invertible:
        brush.setTransform(matrix)
        painter.fillRect(rect, brush)


class HatchedBars(pg.GraphicsObject):
    """All the rectangles of one plot, painted together."""

    def __init__(self) -> None:
        super().__init__()
        self.bars: tuple[HatchedBar, ...] = ()
        self._bounds = QRectF()

    def show_bars(self, bars: Sequence[HatchedBar]) -> None:
        bars = tuple(bars)
        if bars == self.bars:
            return
        self.bars = bars
        self.prepareGeometryChange()
        self._bounds = QRectF()
        for bar in bars:
            self._bounds = self._bounds.united(_rect(bar))
        self.informViewBoundsChanged()
        self.update()

    def boundingRect(self) -> QRectF:
        return self._bounds

    @guarded
    def paint(self, painter: QPainter, *_: object) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for bar in self.bars:
            fill_hatched(painter, _rect(bar), bar.colour, bar.ink, bar.hatch)


def _rect(bar: HatchedBar) -> QRectF:
    return QRectF(bar.x0, bar.y0, bar.x1 - bar.x0, bar.y1 - bar.y0).normalized()
