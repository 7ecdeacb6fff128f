"""LaneChart: lanes over time, named at the left; in a lane single bars, or how much of each column
of time is taken."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from ui.plots.time_columns import paint_columns
from ui.plots.time_plot import NONE, Array, PixelItem, Pixels, TimePlot
from ui.theme import CAPTION, Theme, interface_font, mixed

_FILLED = 0.76
"""The part of a row that a bar is high."""


@dataclass(frozen=True, slots=True, eq=False)
class Strip:
    """What lies in one row: bars, or with ``edges_ns`` columns. A faint one is what others lie
    inside of."""

    row: int  # from the top
    ink: str  # a colour of the theme, by its name
    is_faint: bool = False
    start_ns: Array = field(default_factory=lambda: NONE)  # [n]
    end_ns: Array = field(default_factory=lambda: NONE)  # [n]
    edges_ns: Array = field(default_factory=lambda: NONE)  # [m + 1]
    shares: Array = field(default_factory=lambda: NONE)  # [m], 0..1


class LaneChart(TimePlot):
    """Row 0 is the uppermost; its y is from n - 1 to n."""

    def __init__(self, theme: Theme, **options: Any) -> None:
        self.names: tuple[str, ...] = ()
        self.strips: tuple[Strip, ...] = ()
        self.message = ""
        super().__init__(theme, **options)
        self.getPlotItem().getAxis("left").setStyle(tickLength=0)
        self.getPlotItem().getViewBox().addItem(_Strips(self), ignoreBounds=True)

    def set_lanes(
        self, names: Sequence[str], strips: Sequence[Strip], *, message: str = ""
    ) -> None:
        """``message`` is written where lanes are empty for a reason."""
        if tuple(names) != self.names:
            self.names = tuple(names)
            n = len(self.names)
            ticks = [(n - row - 0.5, name) for row, name in enumerate(self.names)]
            self.getPlotItem().getAxis("left").setTicks([ticks])
            self.getPlotItem().getViewBox().setYRange(-0.1, n + 0.1, padding=0)
        self.strips, self.message = tuple(strips), message
        self.repaint_items()

    def row_at(self, y: float) -> int | None:
        """Which row lies at ``y``."""
        row = len(self.names) - 1 - int(np.floor(y))
        return row if 0 <= row < len(self.names) else None


class _Strips(PixelItem):
    plot: LaneChart

    def paint_pixels(self, painter: QPainter, pixels: Pixels) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        theme, n = self.plot.theme, len(self.plot.names)
        for strip in self.plot.strips:
            ink = getattr(theme, strip.ink)
            colour = QColor(mixed(ink, theme.panel, 0.38) if strip.is_faint else ink)
            middle = n - strip.row - 0.5
            ends = np.array([middle + _FILLED / 2, middle - _FILLED / 2])
            top, bottom = pixels.y(ends).tolist()
            if len(strip.edges_ns):
                paint_columns(
                    painter, pixels, strip.edges_ns, strip.shares[None], [colour], (top, bottom)
                )
            else:
                self._paint_bars(painter, pixels, strip, colour, (top, bottom))
        if self.plot.message:
            painter.setPen(QColor(theme.dim))
            painter.setFont(interface_font(CAPTION))
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(pixels.area, flags, self.plot.message)

    def _paint_bars(
        self,
        painter: QPainter,
        pixels: Pixels,
        strip: Strip,
        colour: QColor,
        ends: tuple[float, float],
    ) -> None:
        view, (top, bottom) = pixels.view, ends
        seen = (strip.end_ns >= view.left()) & (strip.start_ns <= view.right())
        # Clipped: a bar far longer than the view would leave the range of the screen's numbers.
        left = pixels.x(np.maximum(strip.start_ns[seen], view.left() - view.width()))
        right = pixels.x(np.minimum(strip.end_ns[seen], view.right() + view.width()))
        width = right - left
        width = np.maximum(np.where(width >= 3, width - 1, width), 1 / pixels.ratio)
        painter.setBrush(colour)
        height = bottom - top
        painter.drawRects(
            [QRectF(x, top, w, height) for x, w in zip(left.tolist(), width.tolist(), strict=True)]
        )


def rects(boxes: Array) -> list[QRectF]:
    """Of [n, 4]: left, top, width, height."""
    return [QRectF(x, y, width, height) for x, y, width, height in boxes.tolist()]
