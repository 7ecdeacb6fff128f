"""BarPlot: bars with intervals and a caption in each, and a dashed line with markers over them."""

from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetricsF

from ui.plots.home_plot import HomePlot
from ui.theme import CAPTION, Theme, interface_font

WIDTH = 0.56
_CAP = 0.09
"""Half the width of a whisker's end, in bars' distances."""
MIN_LABEL_PX = 22
"""Of a tick's label: where bars stand closer, only every second, fifth, ... is named."""


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Arrays [n]; a NaN height is no bar, its caption stands on the axis."""

    x: np.ndarray
    height: np.ndarray
    low: np.ndarray
    high: np.ndarray
    captions: tuple[str, ...]


class BarPlot(HomePlot):
    """Bars over whole numbers."""

    def __init__(self, theme: Theme, *, x_label: str = "", y_label: str = "") -> None:
        super().__init__(theme, x_label=x_label, y_label=y_label)
        self._bars: Bars | None = None
        self.bar_item = pg.BarGraphItem(x=[], height=[], width=WIDTH)
        self.whiskers = pg.PlotCurveItem(connect="pairs")
        self.whiskers.setZValue(10)
        self.line = pg.PlotDataItem(symbol="o", symbolSize=5)
        self.line.setZValue(12)
        for item in (self.bar_item, self.whiskers, self.line):
            self.addItem(item)
        self._captions: list[pg.TextItem] = []
        view = self.getPlotItem().getViewBox()
        view.sigXRangeChanged.connect(lambda *_: self._fit())
        view.sigResized.connect(lambda *_: self._fit())

    def set_bars(self, bars: Bars, colour: str, *, ink: str) -> None:
        """``colour`` fills, ``ink`` is for whiskers."""
        self._bars = bars
        is_bar = np.isfinite(bars.height)
        x, height = bars.x[is_bar], bars.height[is_bar]
        self.bar_item.setOpts(
            x=x, height=height, width=WIDTH, brush=QColor(colour), pen=pg.mkPen(None)
        )
        has_interval = np.isfinite(bars.low) & np.isfinite(bars.high)
        lines = whiskers(bars.x[has_interval], bars.low[has_interval], bars.high[has_interval])
        self.whiskers.setData(*lines)
        self.whiskers.setPen(pg.mkPen(QColor(ink), width=1))
        while len(self._captions) < len(bars.captions):
            item = pg.TextItem(anchor=(0.5, 1.1))
            item.setFont(interface_font(CAPTION))
            item.setZValue(30)
            self.addItem(item, ignoreBounds=True)
            self._captions.append(item)
        inks = np.where(is_bar, self.theme.on_colour, self.theme.dim).tolist()
        for item, place, text, each in zip(
            self._captions, bars.x.tolist(), bars.captions, inks, strict=False
        ):
            item.setText(text)
            item.setColor(QColor(each))
            item.setPos(place, 0.0)
        self._fit()

    def set_line(self, x: np.ndarray, y: np.ndarray, colour: str) -> None:
        """The dashed line with round markers."""
        self.line.setData(x, y)
        self.line.setPen(pg.mkPen(QColor(colour), width=1, style=Qt.PenStyle.DashLine))
        self.line.setSymbolPen(pg.mkPen(QColor(colour)))
        self.line.setSymbolBrush(pg.mkBrush(self.theme.panel))

    def caption_texts(self) -> list[str]:
        """Those that are to be seen."""
        return [item.toPlainText() for item in self._captions if item.isVisible()]

    def _fit(self) -> None:
        """Captions where bars are wide enough for all of them, and ticks that do not touch."""
        bars = self._bars
        view = self.getPlotItem().getViewBox()
        if bars is None or view.width() < 1:
            return
        (x0, x1), _ = view.viewRange()
        step_px = view.width() / max(x1 - x0, 1e-9)
        metrics = QFontMetricsF(interface_font(CAPTION))
        widest = max((metrics.horizontalAdvance(text) for text in bars.captions), default=0.0)
        has_room = widest + 4 <= step_px * WIDTH
        for place, item in enumerate(self._captions):
            item.setVisible(has_room and place < len(bars.captions))
        stride = next(
            n for n in (1, 2, 5, 10, 20, 50, 100) if n * step_px >= MIN_LABEL_PX or n > 50
        )
        ticks = [(x, f"{x:.0f}") for x in bars.x.tolist() if x == 1 or round(x) % stride == 0]
        self.getPlotItem().getAxis("bottom").setTicks([ticks])


def whiskers(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, *, cap: float = _CAP
) -> tuple[np.ndarray, np.ndarray]:
    """The strokes of intervals [n] as pairs of points: x [6n], y [6n]."""
    strokes_x = np.stack([x, x, x - cap, x + cap, x - cap, x + cap], axis=1).ravel()
    strokes_y = np.stack([low, high, low, low, high, high], axis=1).ravel()
    return strokes_x, strokes_y
