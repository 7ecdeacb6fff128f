"""RooflineChart: FLOP/s over FLOP/byte, both logarithmic, beneath a device's roof."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from ui.plots.end_labels import EndLabel, EndLabels
from ui.plots.home_plot import HomePlot
from ui.theme import CAPTION, Theme, interface_font

_PREFIXES = ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""))
_NARROW_PX = 330
"""A narrower chart leaves room for names at its right."""


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """One kind of forward: its own point with a name beside it, and its single forwards, fainter.

    ``shape`` is a symbol of pyqtgraph; arrays [n].
    """

    name: str
    intensity: float
    flops_per_s: float
    shape: str
    colour: str
    cloud_x: np.ndarray
    cloud_y: np.ndarray


@dataclass(frozen=True, slots=True)
class Roof:
    """The ceilings. ``is_known`` False: only what was reached, drawn dashed."""

    flops_per_s: float
    bytes_per_s: float
    name: str
    is_known: bool

    @property
    def ridge(self) -> float:
        """FLOP/byte."""
        return self.flops_per_s / self.bytes_per_s

    def at(self, intensity: float) -> float:
        """FLOP/s that can be reached."""
        return min(self.flops_per_s, intensity * self.bytes_per_s)


class RooflineChart(HomePlot):
    """Its coordinates are decimal logarithms; axes and read-out tell the values themselves."""

    def __init__(self, theme: Theme) -> None:
        self.marks: tuple[Mark, ...] = ()
        self.roof: Roof | None = None
        self._range: tuple[tuple[float, float], tuple[float, float]]
        super().__init__(theme, x_label="FLOP/byte", y_label="FLOP/s")
        self.roof_line = pg.PlotCurveItem()
        self.ridge_line = pg.InfiniteLine(angle=90, movable=False)
        self.roof_words = pg.TextItem(anchor=(1, 1))
        self.ridge_words = pg.TextItem(anchor=(0, 1))
        for item in (self.roof_line, self.ridge_line, self.roof_words, self.ridge_words):
            self.addItem(item, ignoreBounds=True)
        for words in (self.roof_words, self.ridge_words):
            words.setFont(interface_font(CAPTION))
        self.points = pg.ScatterPlotItem(pxMode=True)
        self.clouds: list[pg.ScatterPlotItem] = []
        self.points.setZValue(20)
        self.addItem(self.points, ignoreBounds=True)
        self.labels = EndLabels(self)
        for name in ("bottom", "left"):
            self.getPlotItem().getAxis(name).setTicks(_ticks())
        self.set_read_out(self._read)
        self.getPlotItem().getViewBox().sigRangeChanged.connect(lambda *_: self._place_words())

    def show_marks(self, marks: Sequence[Mark], roof: Roof) -> None:
        self.marks, self.roof = tuple(marks), roof
        self.points.setData(
            [
                {
                    "pos": (math.log10(mark.intensity), math.log10(mark.flops_per_s)),
                    "symbol": mark.shape,
                    "size": 11,
                    "brush": pg.mkBrush(mark.colour),
                    "pen": pg.mkPen(self.theme.panel, width=1),
                }
                for mark in marks
            ]
        )
        self._draw_clouds()
        x, y = _bounds(self.marks, roof)
        self._draw_roof(roof, x)
        self.labels.show(
            [
                EndLabel(
                    f"  {mark.name}", math.log10(mark.intensity), math.log10(mark.flops_per_s),
                    mark.colour,
                )
                for mark in marks
            ]
        )  # fmt: skip
        self._range = (x, y)
        self._set_range()

    def _set_range(self) -> None:
        """Above the roof its name has room, however low the chart is."""
        x, (low, high) = self._range
        height = self.getPlotItem().getViewBox().height()
        name_px = self.roof_words.boundingRect().height()
        if self.roof is not None and height > 1.5 * name_px:
            top = math.log10(self.roof.flops_per_s)
            high = max(high, low + (top - low) / (1 - name_px / height))
        right_px = self.labels.room_px if self.width() < _NARROW_PX else 0
        self.set_home(x, (low, high), right_px=right_px)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if self.marks and self.getPlotItem() is not None:  # which it is not while it closes
            self._set_range()

    def _draw_clouds(self) -> None:
        while len(self.clouds) < len(self.marks):
            cloud = pg.ScatterPlotItem(pxMode=True, pen=None, size=4)
            cloud.setZValue(5)
            self.addItem(cloud, ignoreBounds=True)
            self.clouds.append(cloud)
        for cloud in self.clouds[len(self.marks) :]:
            cloud.clear()
        for mark, cloud in zip(self.marks, self.clouds, strict=False):
            ink = QColor(mark.colour)
            ink.setAlpha(80)
            cloud.setData(
                x=np.log10(mark.cloud_x),
                y=np.log10(mark.cloud_y),
                symbol=mark.shape,
                brush=pg.mkBrush(ink),
            )

    def _draw_roof(self, roof: Roof, x: tuple[float, float]) -> None:
        theme = self.theme
        ridge, top = math.log10(roof.ridge), math.log10(roof.flops_per_s)
        left, right = min(x[0], ridge) - 6, max(x[1], ridge) + 6
        style = Qt.PenStyle.SolidLine if roof.is_known else Qt.PenStyle.DashLine
        colour = theme.text if roof.is_known else theme.dim
        self.roof_line.setData([left, ridge, right], [top - (ridge - left), top, top])
        self.roof_line.setPen(pg.mkPen(colour, width=1, style=style))
        self.ridge_line.setValue(ridge)
        self.ridge_line.setPen(pg.mkPen(theme.line, width=1, style=Qt.PenStyle.DotLine))
        self.ridge_words.setVisible(roof.is_known)
        self.ridge_words.setText(f"ridge {roof.ridge:.3g}")
        self.ridge_words.setPos(ridge, x_words_y(self.marks, roof))
        self.roof_words.setText(roof.name)
        self._place_words()
        for words in (self.ridge_words, self.roof_words):
            words.setColor(QColor(theme.dim))

    def _place_words(self) -> None:
        """The roof's name at the right end of what is seen."""
        if self.roof is not None:
            right = self.getPlotItem().getViewBox().viewRange()[0][1]
            self.roof_words.setPos(right, math.log10(self.roof.flops_per_s))

    def _read(self, x: float, y: float) -> str:
        if self.roof is None or not -30 < x < 30:
            return ""
        near = [
            (abs(math.log10(m.intensity) - x) + abs(math.log10(m.flops_per_s) - y), m)
            for m in self.marks
        ]
        distance, mark = min(near, key=lambda pair: pair[0], default=(9.0, None))
        if mark is not None and distance < 0.35:
            return (
                f"{mark.name}: {mark.intensity:.4g} FLOP/byte\n{si(mark.flops_per_s)}FLOP/s, "
                f"{si(mark.flops_per_s / mark.intensity)}B/s"
            )
        reach = "reachable" if self.roof.is_known else "reached"
        return f"{10**x:.3g} FLOP/byte\n{reach}: {si(self.roof.at(10**x))}FLOP/s"


def si(value: float) -> str:
    """Three digits and the prefix of the unit that follows: ``1.23 G``."""
    for power, prefix in _PREFIXES:
        if value >= 10.0**power:
            return f"{value / 10.0**power:.3g} {prefix}"
    return f"{value:.3g} "


def x_words_y(marks: Sequence[Mark], roof: Roof) -> float:
    """Where the ridge is named: at the lower end of what is seen."""
    return _bounds(marks, roof)[1][0]


def _bounds(marks: Sequence[Mark], roof: Roof) -> tuple[tuple[float, float], tuple[float, float]]:
    """Whole decades, so that the axes seldom change: of the marks and of the ridge."""
    x = [math.log10(mark.intensity) for mark in marks] + [math.log10(roof.ridge)]
    y = [math.log10(mark.flops_per_s) for mark in marks] + [math.log10(roof.flops_per_s)]
    return (
        (math.floor(min(x) - 0.3), math.ceil(max(x) + 0.5)),
        (math.floor(min(y) - 0.2), max(y) + 0.35),
    )


def _ticks() -> list[list[tuple[float, str]]]:
    """Decades with their values, and finer ones without."""
    decades = [(float(power), _decade(power)) for power in range(-6, 19)]
    finer = [(power + math.log10(digit), "") for power in range(-6, 19) for digit in range(2, 10)]
    return [decades, finer]


def _decade(power: int) -> str:
    if power < 0:
        return f"{10.0**power:g}"
    for floor, prefix in _PREFIXES:
        if power >= floor:
            return f"{10 ** (power - floor)} {prefix}".strip()
    return ""
