"""CurvePlot: a curve over whole numbers, solid where it is known and dashed where it is guessed,
a thin line to compare it with, and marks with their names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetricsF

from ui.plots.home_plot import HomePlot, ceiling
from ui.theme import CAPTION, Theme, interface_font


@dataclass(frozen=True, slots=True)
class Mark:
    """``shape`` is pyqtgraph's: d is a diamond, star a star."""

    x: float
    y: float
    text: str
    shape: str
    colour: str


class CurvePlot(HomePlot):
    """Whole numbers along x."""

    def __init__(self, theme: Theme, *, x_label: str = "", y_label: str = "") -> None:
        self._fitted: tuple[float, float] | None = None  # highest value, last x
        super().__init__(theme, x_label=x_label, y_label=y_label)
        self.known = pg.PlotDataItem(symbol="o", symbolSize=4)
        self.guessed = pg.PlotDataItem(symbol="o", symbolSize=4)
        self.compared = pg.PlotCurveItem()
        self.marks = pg.ScatterPlotItem(size=13)
        self.marks.setZValue(20)
        self.level = pg.InfiniteLine(angle=0, movable=False)
        for item in (self.level, self.compared, self.guessed, self.known, self.marks):
            self.addItem(item)
        self.names: list[pg.TextItem] = []

    def set_curve(self, x: np.ndarray, y: np.ndarray, is_guessed: np.ndarray, colour: str) -> None:
        """Arrays [n]. A stroke is solid where both its ends are known."""
        first = int(np.argmax(is_guessed)) if is_guessed.any() else len(x)
        parts = ((self.known, slice(0, first)), (self.guessed, slice(max(0, first - 1), None)))
        styles = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine)
        for (item, rows), style in zip(parts, styles, strict=True):
            is_empty = item is self.guessed and first == len(x)
            item.setData(x[rows][: 0 if is_empty else None], y[rows][: 0 if is_empty else None])
            item.setPen(pg.mkPen(QColor(colour), width=1, style=style))
            item.setSymbolPen(pg.mkPen(QColor(colour)))
            is_hollow = item is self.guessed
            item.setSymbolBrush(pg.mkBrush(self.theme.panel if is_hollow else colour))

    def set_compared(self, x: np.ndarray, y: np.ndarray, colour: str) -> None:
        """The line to compare with, dotted."""
        self.compared.setData(x, y)
        self.compared.setPen(pg.mkPen(QColor(colour), width=1, style=Qt.PenStyle.DotLine))

    def set_level(self, y: float | None) -> None:
        self.level.setVisible(y is not None)
        if y is not None:
            self.level.setValue(y)
            self.level.setPen(pg.mkPen(QColor(self.theme.line), width=1))

    def set_marks(self, marks: Sequence[Mark]) -> None:
        self.marks.setData(
            x=[mark.x for mark in marks],
            y=[mark.y for mark in marks],
            symbol=[mark.shape for mark in marks],
            brush=[pg.mkBrush(mark.colour) for mark in marks],
            pen=pg.mkPen(self.theme.panel, width=1),
        )
        while len(self.names) < len(marks):
            name = pg.TextItem()
            name.setFont(interface_font(CAPTION))
            name.setZValue(30)
            self.addItem(name, ignoreBounds=True)
            self.names.append(name)
        for place, name in enumerate(self.names):
            name.setVisible(place < len(marks))
        is_above = _sides(marks)
        end = float(max((x for x in (self.guessed.xData, self.known.xData) if x is not None
                         and len(x)), key=lambda x: x[-1], default=[1.0])[-1])  # fmt: skip
        for mark, name, above in zip(marks, self.names, is_above, strict=False):
            name.setText(mark.text)
            name.setColor(QColor(self.theme.text))
            across = 0.0 if mark.x < 0.2 * end else 1.0 if mark.x > 0.8 * end else 0.5
            name.setAnchor((across, 1.3 if above else -0.3))
            name.setPos(mark.x, mark.y)

    def fit(self, ys: Sequence[np.ndarray], last_x: float) -> None:
        """Home: from 0 to round numbers above all of ``ys``, with room for the names."""
        self._fitted = max((float(np.nanmax(y)) for y in ys if len(y)), default=1.0), last_x
        self._fit()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if self.getPlotItem() is not None:  # not closing
            self._fit()  # the names are as high as before in a plot of another height

    def _fit(self) -> None:
        if self._fitted is None:
            return
        top, last_x = self._fitted
        height = max(60.0, self.getPlotItem().getViewBox().height())
        room_px = 2.0 * QFontMetricsF(interface_font(CAPTION)).height()
        self.set_home((-0.4, last_x + 0.4), (0.0, ceiling(top * height / (height - room_px))))

    def set_ticks(self, last_x: int) -> None:
        stride = 1 if last_x <= 8 else 2 if last_x <= 20 else 10
        ticks = [(float(x), str(x)) for x in range(0, last_x + 1, stride)]
        self.getPlotItem().getAxis("bottom").setTicks([ticks])


def _sides(marks: Sequence[Mark]) -> list[bool]:
    """The highest is named above, the others below."""
    if not marks:
        return []
    top = max(range(len(marks)), key=lambda place: marks[place].y)
    return [place == top for place in range(len(marks))]
