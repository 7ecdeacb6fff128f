"""HomePlot: a plot that shows a range it is told, until the user zooms, and again after Home."""

import math
from typing import Any

from PySide6.QtGui import QFontMetricsF

from ui.plots.plot import Plot
from ui.theme import CAPTION, Theme, interface_font

SMALL_PX = 150
"""A plot lower (or narrower by half as much again) than this leaves its axis titles out."""

_NICE = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def ceiling(value: float) -> float:
    """A round number at least as large: a range that follows a growing value by few leaps."""
    if not math.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    for nice in _NICE:
        if nice * power >= value * (1 - 1e-9):
            return nice * power
    return 10.0 * power


class HomePlot(Plot):
    """``set_home`` says what is shown; it holds on every call until the user zooms or pans, and
    comes back on Home or a double click. ``right_px`` is room beside the data for labels."""

    def __init__(self, theme: Theme, **settings: Any) -> None:
        super().__init__(theme, **settings)
        self.small_px = SMALL_PX
        self._home: tuple[float, float, float, float] | None = None
        self._right_px = 0
        self._is_free = False
        self._companions: list[HomePlot] = []
        view = self.getPlotItem().getViewBox()
        view.setDefaultPadding(0.0)
        view.disableAutoRange()
        view.sigRangeChangedManually.connect(lambda *_: self._set_free(True))
        self._titles = {
            name: self.getPlotItem().getAxis(name).label.isVisible() for name in ("bottom", "left")
        }

    @property
    def is_free(self) -> bool:
        """Whether the user has zoomed away from home."""
        return self._is_free

    def set_home(
        self, x: tuple[float, float], y: tuple[float, float], *, right_px: int = 0
    ) -> None:
        home = (*x, *y)
        if home == self._home and right_px == self._right_px:
            return
        self._home, self._right_px = home, right_px
        self._go_home()

    def follow_x(self, other: "HomePlot") -> None:
        """Share the x axis with another plot: zooming one zooms both."""
        self.getPlotItem().setXLink(other.getPlotItem())
        self._companions.append(other)
        other._companions.append(self)

    def show_all(self) -> None:
        self._set_free(False)
        if self._home is None:
            super().show_all()
            return
        for plot in (*self._companions, self):
            plot._go_home()
        self.moved.emit()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        item = self.getPlotItem()
        if item is None or not hasattr(self, "_titles"):  # closing, or being made
            return
        left = item.getAxis("left")
        length = QFontMetricsF(interface_font(CAPTION)).horizontalAdvance(left.labelText)
        has_bottom = self.height() >= self.small_px
        axis_px = 55 if has_bottom and self._titles["bottom"] else 25
        rooms = {
            "bottom": has_bottom,
            "left": self.width() >= 1.5 * SMALL_PX and self.height() - axis_px >= length,
        }
        for name, has_room in rooms.items():
            if self._titles[name]:
                item.getAxis(name).showLabel(has_room)
        self._go_home()

    def _set_free(self, is_free: bool) -> None:
        for plot in (self, *self._companions):
            plot._is_free = is_free

    def _go_home(self) -> None:
        if self._home is None or self._is_free:
            return
        x0, x1, y0, y1 = self._home
        view = self.getPlotItem().getViewBox()
        width = max(1.0, view.width())
        room = min(self._right_px, 0.4 * width)
        view.setRange(
            xRange=(x0, x0 + (x1 - x0) * width / (width - room)), yRange=(y0, y1), padding=0
        )
