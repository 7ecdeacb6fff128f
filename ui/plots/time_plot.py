"""TimePlot: a plot over time in nanoseconds, with the marks that several of them share: pauses,
where steps begin, the selected step, the playhead."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QPainter, QPolygonF, QTransform

from ui.painting import guarded
from ui.plots.plot import Plot
from ui.theme import CAPTION, Theme, interface_font, mixed

Array = NDArray[Any]
Interval = tuple[float, float]

NONE: Array = np.zeros(0)
AXIS_WIDTH = 58
"""Of the left axis of every TimePlot, in pixels, so that plots above each other share their x."""
_TICK_PX = 66.0
_MIN_RANGE_NS = 2_000.0
_NARROW_STEP_PX = 10.0


@dataclass(frozen=True, slots=True)
class TimeUnit:
    name: str
    ns: float


def time_unit(start_ns: float, end_ns: float) -> TimeUnit:
    """What times of such a range are told in: few digits, and enough."""
    whole = end_ns - start_ns
    if whole < 2e9 and end_ns < 1e12:
        return TimeUnit("ms", 1e6)
    return TimeUnit("s", 1e9) if whole < 600e9 else TimeUnit("min", 60e9)


class TimeAxis(pg.AxisItem):
    """Nanoseconds, told in the unit of the range; thousands are set apart."""

    def tickSpacing(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, float]]:
        """1, 2 or 5 of a power of ten, as close as the labels allow."""
        least = max(maxVal - minVal, 1e-12) / max(size / _TICK_PX, 1.0)
        power = 10.0 ** math.floor(math.log10(least))
        factor = next(factor for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))
        return [(factor * power, 0.0)]

    def tickStrings(self, values: Any, scale: float, spacing: float) -> list[str]:
        places = max(0, math.ceil(-math.log10(spacing * scale) - 1e-9))
        return [f"{value * scale:,.{places}f}".replace(",", "\u2009") for value in values]


@dataclass(frozen=True, slots=True)
class Pixels:
    """From a plot's coordinates to pixels, on the screen's raster."""

    transform: QTransform
    ratio: float  # device pixels per pixel
    view: QRectF  # what is seen, in the plot's coordinates

    def x(self, values: Array) -> Array:
        at = np.asarray(values) * self.transform.m11() + self.transform.dx()
        return np.round(at * self.ratio) / self.ratio

    def y(self, values: Array) -> Array:
        at = np.asarray(values) * self.transform.m22() + self.transform.dy()
        return np.round(at * self.ratio) / self.ratio

    @property
    def per_ns(self) -> float:
        return self.transform.m11()

    @property
    def area(self) -> QRectF:
        return self.transform.mapRect(self.view)


class PixelItem(pg.GraphicsObject):
    """Paints all there is to see of some arrays at once, in pixels: crisp at every zoom."""

    def __init__(self, plot: "TimePlot") -> None:
        super().__init__()
        self.plot = plot
        self._rect = QRectF()

    def boundingRect(self) -> QRectF:
        """All that is seen; it changes only where Qt is told before."""
        return self._rect

    def viewRangeChanged(self, *_: Any) -> None:
        self._follow_view()

    def viewTransformChanged(self) -> None:
        super().viewTransformChanged()
        self._follow_view()

    def _follow_view(self) -> None:
        view = self.getViewBox()
        seen = view.viewRect() if isinstance(view, pg.ViewBox) else QRectF()
        if seen != self._rect:
            self.prepareGeometryChange()
            self._rect = QRectF(seen)

    @guarded
    def paint(self, painter: QPainter, *_: Any) -> None:
        transform, device = painter.worldTransform(), painter.device()
        pixels = Pixels(transform, device.devicePixelRatioF(), self.boundingRect())
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        self.paint_pixels(painter, pixels)
        painter.restore()

    def paint_pixels(self, painter: QPainter, pixels: Pixels) -> None:
        raise NotImplementedError


class TimePlot(Plot):
    """Whoever shows it sets the range; dragging and the wheel say ``moved``."""

    all_wanted = Signal()
    """A double click, or Home."""

    def __init__(self, theme: Theme, **options: Any) -> None:
        super().__init__(theme, pans_y=False, **options)
        self.pauses: tuple[Array, Array] = (NONE, NONE)
        self.step_starts_ns: Array = NONE
        self.selected_ns: Interval | None = None
        self.playhead_ns: float | None = None
        self._has_label = True
        item = self.getPlotItem()
        axis = TimeAxis("bottom")
        item.setAxisItems({"bottom": axis})
        axis.setStyle(tickFont=interface_font(CAPTION), tickLength=-4)
        axis.enableAutoSIPrefix(False)
        item.getAxis("left").setWidth(AXIS_WIDTH)
        view = item.getViewBox()
        view.setDefaultPadding(0.0)
        view.disableAutoRange()
        view.setLimits(minXRange=_MIN_RANGE_NS)
        view.sigXRangeChanged.connect(lambda *_: self._name_unit())
        for part, z in ((_Ground(self), -10.0), (_Marks(self), 500.0)):
            part.setZValue(z)
            view.addItem(part, ignoreBounds=True)
        self.restyle(theme)
        self._name_unit()

    @property
    def range_ns(self) -> Interval:
        """What is seen."""
        low, high = self.getPlotItem().getViewBox().viewRange()[0]
        return float(low), float(high)

    @property
    def width_px(self) -> float:
        """Of the data area."""
        return float(self.getPlotItem().getViewBox().width())

    def show_range(self, start_ns: float, end_ns: float) -> None:
        if (start_ns, end_ns) != self.range_ns:
            self.getPlotItem().getViewBox().setXRange(start_ns, end_ns, padding=0)

    def set_marks(
        self,
        *,
        pauses: tuple[Array, Array],
        step_starts_ns: Array,
        selected_ns: Interval | None,
        playhead_ns: float | None,
    ) -> None:
        """Pauses from starts to ends; where steps begin; the rest None where there is none."""
        self.pauses, self.step_starts_ns = pauses, step_starts_ns
        self.selected_ns, self.playhead_ns = selected_ns, playhead_ns
        self.repaint_items()

    def show_axis(self, is_shown: bool) -> None:
        """Whether the time is written beneath; a plot above another one does without."""
        self.getPlotItem().showAxis("bottom", is_shown)

    def show_all(self) -> None:
        self.all_wanted.emit()

    def repaint_items(self) -> None:
        self.viewport().update()

    def restyle(self, theme: Theme) -> None:
        super().restyle(theme)
        self.repaint_items()

    def _name_unit(self) -> None:
        unit = time_unit(*self.range_ns)
        axis = self.getPlotItem().getAxis("bottom")
        label = f"time since start ({unit.name})"
        if axis.labelText != label:
            axis.setScale(1 / unit.ns)
            axis.setLabel(label, color=self.theme.dim)
            axis.label.setFont(interface_font(CAPTION))


class _Ground(PixelItem):
    """Behind the data: pauses, hatched, and a faint line where a step begins."""

    def paint_pixels(self, painter: QPainter, pixels: Pixels) -> None:
        theme, area = self.plot.theme, pixels.area
        starts, ends = self.plot.pauses
        seen = (ends > pixels.view.left()) & (starts < pixels.view.right())
        left, right = pixels.x(starts[seen]), pixels.x(ends[seen])
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(QColor(theme.line), Qt.BrushStyle.BDiagPattern))
        for x0, x1 in zip(left.tolist(), right.tolist(), strict=True):
            x0, x1 = max(x0, area.left()), min(x1, area.right())
            painter.drawRect(QRectF(x0, area.top(), max(x1 - x0, 1.0), area.height()))
        self._paint_steps(painter, pixels)

    def _paint_steps(self, painter: QPainter, pixels: Pixels) -> None:
        starts = self.plot.step_starts_ns
        starts = starts[(starts >= pixels.view.left()) & (starts <= pixels.view.right())]
        if not len(starts) or pixels.area.width() / len(starts) < _NARROW_STEP_PX:
            return
        area = pixels.area
        painter.setPen(pg.mkPen(self.plot.theme.grid, width=1))
        for x in pixels.x(starts).tolist():
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))


class _Marks(PixelItem):
    """Above the data: the selected step's outline, the playhead with its handle."""

    def paint_pixels(self, painter: QPainter, pixels: Pixels) -> None:
        theme, area = self.plot.theme, pixels.area
        self._name_pauses(painter, pixels)
        if self.plot.selected_ns is not None:
            left, right = pixels.x(np.array(self.plot.selected_ns)).tolist()
            if right >= area.left() and left <= area.right():
                wash = QColor(theme.accent)
                wash.setAlpha(28)
                painter.setBrush(wash)
                painter.setPen(pg.mkPen(theme.accent, width=1))
                width = max(right - left, 3.0)
                painter.drawRect(QRectF(left - 1, area.top(), width + 1, area.height() - 1))
        if self.plot.playhead_ns is not None:
            x = float(pixels.x(np.array(self.plot.playhead_ns)))
            if area.left() <= x <= area.right():
                painter.setPen(pg.mkPen(theme.accent, width=1))
                painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
                painter.setBrush(QColor(theme.accent))
                top = area.top()
                corners = [QPointF(x - 4, top), QPointF(x + 4, top), QPointF(x, top + 6)]
                painter.drawPolygon(QPolygonF(corners))

    def _name_pauses(self, painter: QPainter, pixels: Pixels) -> None:
        """Where there is room for the word."""
        starts, ends = self.plot.pauses
        low, high = pixels.view.left(), pixels.view.right()
        starts, ends = np.maximum(starts, low), np.minimum(ends, high)
        theme = self.plot.theme
        painter.setFont(interface_font(CAPTION))
        room = painter.fontMetrics().boundingRect("paused").adjusted(-4, -1, 4, 1)
        wide = (ends - starts) * pixels.per_ns > room.width() + 4
        for x0, x1 in zip(
            pixels.x(starts[wide]).tolist(), pixels.x(ends[wide]).tolist(), strict=True
        ):
            box = QRectF(0, pixels.area.top() + 2, room.width(), room.height())
            box.moveLeft((x0 + x1 - room.width()) / 2)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(mixed(theme.line, theme.panel, 0.6)))
            painter.drawRect(box)
            painter.setPen(QColor(theme.dim))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, "paused")
