"""LabelledLines: thin lines that a marker's shape and a name at the end tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from ui.plots.end_labels import EndLabel, EndLabels
from ui.plots.home_plot import HomePlot

SHAPES = ("d", "t1", "s", "p", "h", "+")
"""Diamond, triangle, square, pentagon, hexagon, plus: then from the beginning."""
GLYPHS = ("◆", "▲", "■", "⬟", "⬢", "+")
"""The same in text."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedLine:
    """Points [n]; those that are NaN are left out."""

    name: str
    x: np.ndarray
    y: np.ndarray


class LabelledLines:
    """The lines of one plot, all in one colour: shape and name tell them apart."""

    def __init__(self, plot: HomePlot) -> None:
        self._plot = plot
        self._items: list[pg.PlotDataItem] = []
        self.labels = EndLabels(plot)

    @property
    def items(self) -> Sequence[pg.PlotDataItem]:
        return tuple(item for item in self._items if item.isVisible())

    def show(
        self, lines: Sequence[NamedLine], colour: str, *, label_x: float | None = None
    ) -> None:
        """``label_x`` is where the names stand, by default at the lines' ends."""
        while len(self._items) < len(lines):
            shape = SHAPES[len(self._items) % len(SHAPES)]
            item = pg.PlotDataItem(symbol=shape, symbolSize=7, pxMode=True)
            item.setZValue(20)
            self._plot.addItem(item)
            self._items.append(item)
        pen = pg.mkPen(QColor(colour), width=1, style=Qt.PenStyle.SolidLine)
        labels = []
        for place, item in enumerate(self._items):
            item.setVisible(place < len(lines))
            if place >= len(lines):
                continue
            line = lines[place]
            is_known = np.isfinite(line.x) & np.isfinite(line.y)
            item.setData(line.x[is_known], line.y[is_known])
            item.setPen(pen)
            item.setSymbolPen(pen)
            item.setSymbolBrush(pg.mkBrush(self._plot.theme.panel))
            if is_known.any():
                last = np.flatnonzero(is_known)[-1]
                glyph = GLYPHS[place % len(GLYPHS)]
                text = f"{glyph} {line.name}"
                x = float(line.x[last]) if label_x is None else label_x
                labels.append(EndLabel(text, x, float(line.y[last]), colour))
        self.labels.show(labels)
