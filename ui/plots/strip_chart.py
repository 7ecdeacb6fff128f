"""StripChart: lines over time, as many points as there are and no more strokes than pixels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from ui.plots.end_labels import EndLabel, EndLabels
from ui.plots.hatched_bars import HatchedBar, HatchedBars
from ui.plots.home_plot import HomePlot
from ui.theme import Theme, mixed

MAX_BUCKETS = 700
"""Of a line: each is drawn by its lowest and its highest point."""
_DIAGONAL = 1


@dataclass(frozen=True, slots=True, eq=False)
class StripLine:
    """Arrays [n]; ``x`` ascends. ``style`` is the second cue beside the colour."""

    name: str
    x: np.ndarray
    y: np.ndarray
    colour: str
    style: Qt.PenStyle = Qt.PenStyle.SolidLine


def thinned(x: np.ndarray, y: np.ndarray, n_buckets: int) -> tuple[np.ndarray, np.ndarray]:
    """At most ``2 n_buckets`` (and a rest) of the points [n], peaks and troughs among them."""
    size = len(x) // n_buckets if n_buckets else 0
    if size <= 2:
        return x, y
    n_whole = len(x) // size * size
    buckets = y[:n_whole].reshape(-1, size)
    starts = np.arange(len(buckets)) * size
    picks = np.stack([starts + buckets.argmin(axis=1), starts + buckets.argmax(axis=1)], axis=1)
    picks.sort(axis=1)
    rows = np.concatenate((picks.ravel(), np.arange(n_whole, len(x))))
    return x[rows], y[rows]


class StripChart(HomePlot):
    """Time runs to the right. The y axis is kept: zooming is along time."""

    def __init__(self, theme: Theme, *, x_label: str = "", y_label: str = "") -> None:
        super().__init__(theme, x_label=x_label, y_label=y_label, pans_y=False)
        self.curves: list[pg.PlotCurveItem] = []
        self._strips: tuple[StripLine, ...] = ()
        self.shades = HatchedBars()
        self.shades.setZValue(-20)
        self.level = pg.InfiniteLine(angle=0, movable=False)
        self.cursor = pg.InfiniteLine(angle=90, movable=False)
        self.labels = EndLabels(self)
        for item in (self.shades, self.level, self.cursor):
            self.addItem(item, ignoreBounds=True)
        self.level.setVisible(False)
        self.cursor.setVisible(False)
        self.getPlotItem().getViewBox().sigXRangeChanged.connect(lambda *_: self._stroke())

    def set_lines(self, lines: Sequence[StripLine], *, n_labelled: int | None = None) -> None:
        """The lines; the first ``n_labelled`` (all by default) are named at their ends."""
        self._strips = tuple(lines)
        while len(self.curves) < len(lines):
            curve = pg.PlotCurveItem()
            self.addItem(curve, ignoreBounds=True)
            self.curves.append(curve)
        for curve in self.curves[len(lines) :]:
            curve.setData([], [])
        for line, curve in zip(lines, self.curves, strict=False):
            curve.setPen(pg.mkPen(QColor(line.colour), width=1, style=line.style))
        self._stroke()
        self.labels.show(
            [
                EndLabel(line.name, float(line.x[-1]), float(line.y[-1]), line.colour)
                for line in lines[:n_labelled]
                if len(line.x)
            ]
        )

    def set_shades(self, spells: np.ndarray) -> None:
        """Shade [n, 2] stretches of x, hatched."""
        ground, ink = mixed(self.theme.dim, self.theme.panel, 0.14), self.theme.dim
        self.shades.show_bars(
            [
                HatchedBar(x0, x1, -1e9, 1e9, ground, ink, _DIAGONAL)
                for x0, x1 in np.asarray(spells).tolist()
            ]
        )

    def set_level(self, value: float | None, colour: str) -> None:
        """A dashed line at a height; None hides it."""
        self.level.setVisible(value is not None)
        if value is not None:
            self.level.setValue(value)
            self.level.setPen(pg.mkPen(QColor(colour), width=1, style=Qt.PenStyle.DashLine))

    def set_cursor(self, x: float | None) -> None:
        """An upright line where the user points at; None hides it."""
        self.cursor.setVisible(x is not None)
        if x is not None:
            self.cursor.setValue(x)
            self.cursor.setPen(pg.mkPen(QColor(self.theme.accent), width=1))

    def align(self, axis_px: int) -> None:
        """So wide is the left axis, that charts above each other end alike."""
        self.getPlotItem().getAxis("left").setWidth(axis_px)

    def _stroke(self) -> None:
        """Draw what lies in sight, a point beyond at each side."""
        (x0, x1), _ = self.getPlotItem().getViewBox().viewRange()
        for line, curve in zip(self._strips, self.curves, strict=False):
            first = max(0, int(np.searchsorted(line.x, x0)) - 1)
            last = int(np.searchsorted(line.x, x1, side="right")) + 1
            curve.setData(*thinned(line.x[first:last], line.y[first:last], MAX_BUCKETS))


def nearest(x: np.ndarray, value: float) -> int | None:
    """The place in ascending ``x`` [n] that is nearest; None where there is none."""
    if not len(x):
        return None
    place = int(np.searchsorted(x, value).clip(1, max(1, len(x) - 1)))
    if place >= len(x):
        return 0
    return place - 1 if value - x[place - 1] <= x[place] - value else place
