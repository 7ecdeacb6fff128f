"""StackedBars: level bars of equal length, each cut into the parts of a whole."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtGui import QColor, QFontMetricsF

from ui.plots.hatched_bars import HatchedBar, HatchedBars
from ui.plots.home_plot import HomePlot
from ui.theme import CAPTION, Theme, interface_font

_HALF = 0.38


@dataclass(frozen=True, slots=True)
class BarPart:
    """A share of the whole, and what is written in it where there is room."""

    name: str
    share: float
    label: str
    colour: str
    hatch: int


class StackedBars(HomePlot):
    """One bar per row, the first at the top; x runs from 0 to 100 %."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, pans_x=False, pans_y=False)
        item = self.getPlotItem()
        item.hideAxis("bottom")
        item.getViewBox().invertY(True)
        item.getAxis("left").setStyle(tickLength=0)
        item.getAxis("left").setPen(pg.mkPen(None))
        self.setMinimumSize(80, 30)
        self.bars = HatchedBars()
        self.addItem(self.bars, ignoreBounds=True)
        self.labels: list[pg.TextItem] = []
        self._spans: list[tuple[float, float, str]] = []  # x from, x to, the label
        self._n_rows = 0
        item.getViewBox().sigResized.connect(lambda *_: self._fit())

    def restyle(self, theme: Theme) -> None:
        super().restyle(theme)
        self.getPlotItem().getAxis("left").setPen(pg.mkPen(None))

    def set_rows(self, rows: Sequence[tuple[str, Sequence[BarPart]]]) -> None:
        """Each row has a name and its parts, from the left."""
        bars: list[HatchedBar] = []
        self._spans, self._n_rows = [], len(rows)
        heights: list[int] = []
        for row, (_, parts) in enumerate(rows):
            x = 0.0
            for part in parts:
                end = x + part.share
                bars.append(
                    HatchedBar(x, end, row - _HALF, row + _HALF, part.colour,
                               self.theme.on_colour, part.hatch)
                )  # fmt: skip
                self._spans.append((x, end, part.label))
                heights.append(row)
                x = end
        self.bars.show_bars(bars)
        while len(self.labels) < len(self._spans):
            label = pg.TextItem(anchor=(0.5, 0.5), fill=None)
            label.setFont(interface_font(CAPTION, is_bold=True))
            self.addItem(label, ignoreBounds=True)
            self.labels.append(label)
        spans = zip(self._spans, heights, bars, self.labels, strict=False)
        for (x0, x1, text), row, bar, label in spans:
            label.setText(text)
            label.setColor(QColor(self.theme.on_colour))
            # Readable over a hatch.
            label.fill = pg.mkBrush(bar.colour) if bar.hatch else pg.mkBrush(None)
            label.setPos((x0 + x1) / 2, row)
        axis = self.getPlotItem().getAxis("left")
        axis.setTicks([[(row, name) for row, (name, _) in enumerate(rows)]])
        metrics = QFontMetricsF(interface_font(CAPTION))
        axis.setWidth(int(max(metrics.horizontalAdvance(name) for name, _ in rows)) + 10)
        self.set_home((0.0, 1.0), (-0.5, len(rows) - 0.5))
        self._fit()

    def label_texts(self) -> list[str]:
        """Those that are to be seen."""
        return [label.toPlainText() for label in self.labels if label.isVisible()]

    def _fit(self) -> None:
        """Labels only where they fit."""
        view = self.getPlotItem().getViewBox()
        width, bar_px = view.width(), view.height() * 2 * _HALF / max(1, self._n_rows)
        metrics = QFontMetricsF(interface_font(CAPTION, is_bold=True))
        is_high = bar_px >= metrics.ascent() + 2
        for place, label in enumerate(self.labels):
            if place >= len(self._spans):
                label.setVisible(False)
                continue
            x0, x1, text = self._spans[place]
            label.setVisible(is_high and metrics.horizontalAdvance(text) + 12 <= (x1 - x0) * width)
