"""EndLabels: names beside the ends of lines, moved apart where they would lie on each other, and
shortened in the middle where the plot ends before they do."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetricsF

from ui.plots.home_plot import HomePlot
from ui.theme import CAPTION, interface_font

GAP_PX = 5


@dataclass(frozen=True, slots=True)
class EndLabel:
    """``text`` at the right of (x, y), in the plot's coordinates."""

    text: str
    x: float
    y: float
    colour: str


class EndLabels:
    """The labels of one plot."""

    def __init__(self, plot: HomePlot) -> None:
        self._plot = plot
        self._items: list[pg.TextItem] = []
        self._labels: tuple[EndLabel, ...] = ()
        plot.getPlotItem().getViewBox().sigRangeChanged.connect(lambda *_: self._place())
        plot.getPlotItem().getViewBox().sigResized.connect(lambda *_: self._place())

    @property
    def texts(self) -> list[str]:
        return [label.text for label in self._labels]

    @property
    def room_px(self) -> int:
        """How wide the longest label is, its gap included."""
        metrics = QFontMetricsF(interface_font(CAPTION))
        widths = [metrics.horizontalAdvance(label.text) for label in self._labels]
        return int(max(widths)) + 2 * GAP_PX if widths else 0

    def show(self, labels: Sequence[EndLabel]) -> None:
        self._labels = tuple(labels)
        while len(self._items) < len(self._labels):
            item = pg.TextItem(anchor=(0, 0.5))
            item.setFont(interface_font(CAPTION))
            item.setZValue(50)
            self._plot.addItem(item, ignoreBounds=True)
            self._items.append(item)
        for place, item in enumerate(self._items):
            item.setVisible(place < len(self._labels))
        for label, item in zip(self._labels, self._items, strict=False):
            item.setColor(QColor(label.colour))
        self._place()

    def _place(self) -> None:
        if not self._labels:
            return
        view = self._plot.getPlotItem().getViewBox()
        (x0, x1), (y0, y1) = view.viewRange()
        if view.height() < 1 or view.width() < 1:
            return
        y_of_px, x_of_px = (y1 - y0) / view.height(), (x1 - x0) / view.width()
        metrics = QFontMetricsF(interface_font(CAPTION))
        line_px = metrics.height() * 0.95
        wanted = np.array([(y1 - label.y) / y_of_px for label in self._labels])
        lines = spread(wanted, line_px, low=line_px / 2, high=view.height() - line_px / 2)
        for label, item, line in zip(self._labels, self._items, lines.tolist(), strict=False):
            room_px = (x1 - label.x) / x_of_px - GAP_PX  # a gap less than ``room_px`` makes
            item.setText(metrics.elidedText(label.text, Qt.TextElideMode.ElideMiddle, room_px))
            item.setPos(label.x + GAP_PX * x_of_px / 2, y1 - line * y_of_px)
            item.setVisible(x0 <= label.x <= x1)


def spread(wanted: np.ndarray, gap: float, *, low: float, high: float) -> np.ndarray:
    """Places [n] near the ``wanted`` ones, ``gap`` apart, between ``low`` and ``high`` where
    there is room for all; their order stays."""
    order = np.argsort(wanted, kind="stable")
    places = np.clip(wanted[order], low, max(low, high))
    steps = np.arange(len(places)) * gap
    forward = np.maximum.accumulate(places - steps) + steps
    limit = np.minimum(forward, high - steps[::-1])
    # From below: each as low as the one beneath it lets it be.
    backward = np.minimum.accumulate((limit + steps[::-1])[::-1])[::-1] - steps[::-1]
    result = np.empty_like(places)
    result[order] = np.maximum(backward, low + steps)
    return result
