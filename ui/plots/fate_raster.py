"""FateRaster: what became of each draft token, over time - a column a step, a row a draft position;
where steps are too narrow for that, the shares of the fates per column of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from ui.plots.lane_chart import rects
from ui.plots.time_columns import paint_columns
from ui.plots.time_plot import Array, PixelItem, Pixels, TimePlot
from ui.theme import CAPTION, Theme, interface_font, mixed

ACCEPTED, REJECTED, DISCARDED, PROPOSED = range(4)
_HEADER = 0.95
"""Height of a band's name, in rows; only where there are several bands."""
_CROSS_PX = 4.0
_STACKED = [ACCEPTED, REJECTED, DISCARDED]  # from the bottom up


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """One entry per token."""

    start_ns: Array
    end_ns: Array
    band: Array
    position: Array  # from 0
    fate: Array  # ACCEPTED, ...
    chosen: int | None = None
    """The entry that is selected."""


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Tokens per column of time, by their fates."""

    edges_ns: Array  # [n + 1]
    counts: Array  # [n_bands, n_positions, 3, n]


@dataclass(frozen=True, slots=True)
class Caption:
    """A name above the cells of a band, from a moment on."""

    band: int
    start_ns: float
    text: str


class FateRaster(TimePlot):
    """Bands lie above each other, the first uppermost; in a band, position 1 is at the bottom."""

    def __init__(self, theme: Theme, **options: Any) -> None:
        self.n_bands, self.n_positions = 0, 0
        self.cells: Cells | None = None
        self.shares: Shares | None = None
        self.captions: tuple[Caption, ...] = ()
        super().__init__(theme, y_label="draft position", **options)
        self.getPlotItem().getAxis("left").setStyle(tickLength=0)
        self.getPlotItem().getViewBox().addItem(_Fates(self), ignoreBounds=True)

    def set_rows(self, n_bands: int, n_positions: int) -> None:
        if (n_bands, n_positions) != (self.n_bands, self.n_positions):
            self.n_bands, self.n_positions = n_bands, n_positions
            self.getPlotItem().getViewBox().setYRange(-0.1, self.height_rows + 0.1, padding=0)
            self._tick()

    def set_fates(self, fates: Cells | Shares, captions: Sequence[Caption] = ()) -> None:
        self.cells = fates if isinstance(fates, Cells) else None
        self.shares = fates if isinstance(fates, Shares) else None
        self.captions = tuple(captions)
        self.repaint_items()

    @property
    def header_rows(self) -> float:
        return _HEADER if self.n_bands > 1 else 0.0

    @property
    def height_rows(self) -> float:
        return self.n_bands * (self.n_positions + self.header_rows)

    def bottom_of(self, band: Array | int) -> Any:
        """The y of a band's position 1."""
        return (self.n_bands - 1 - band) * (self.n_positions + self.header_rows)

    def row_at(self, y: float) -> tuple[int, int] | None:
        """The band and the position (from 0) at ``y``."""
        height = self.n_positions + self.header_rows
        if not self.n_positions or not 0 <= y < self.height_rows:
            return None
        from_below, within = divmod(y, height)
        position = int(within)
        return (self.n_bands - 1 - int(from_below), position) if within < self.n_positions else None

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._tick()

    def _tick(self) -> None:
        """As many positions as there is room to write."""
        item = self.getPlotItem()
        if not self.n_positions or item is None:  # a closed plot is resized once more
            return
        axis = item.getAxis("left")
        height = item.getViewBox().height()
        row_px = height / max(self.height_rows, 1)
        every = max(1, int(np.ceil(11 / max(row_px, 0.5))))
        axis.setTicks([[
            (self.bottom_of(band) + position - 0.5, str(position))
            for band in range(self.n_bands)
            for position in range(1, self.n_positions + 1, every)
        ]])  # fmt: skip
        axis.showLabel(height > 90)
        axis.setWidth(axis.fixedWidth)


class _Fates(PixelItem):
    plot: FateRaster

    def paint_pixels(self, painter: QPainter, pixels: Pixels) -> None:
        if self.plot.shares is not None:
            self._paint_shares(painter, pixels, self.plot.shares)
        elif self.plot.cells is not None:
            self._paint_cells(painter, pixels, self.plot.cells)
        if self.plot.n_bands > 1:
            self._paint_captions(painter, pixels)

    def _paint_cells(self, painter: QPainter, pixels: Pixels, cells: Cells) -> None:
        theme = self.plot.theme
        boxes = self._boxes(pixels, cells)  # [n, 4]
        view = pixels.view
        seen = (cells.end_ns >= view.left()) & (cells.start_ns <= view.right())
        painter.setPen(Qt.PenStyle.NoPen)
        for fate, ink in ((ACCEPTED, theme.accepted), (REJECTED, theme.rejected)):
            painter.setBrush(QColor(ink))
            painter.drawRects(rects(boxes[seen & (cells.fate == fate)]))
        crosses = boxes[seen & (cells.fate == REJECTED)]
        is_wide = (crosses[:, 2] >= _CROSS_PX) & (crosses[:, 3] >= _CROSS_PX)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setPen(pg.mkPen(theme.on_colour, width=1))
        painter.drawLines(_crosses(crosses[is_wide]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.drawLines(_middles(crosses[~is_wide]))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for fate, ink, style in (
            (DISCARDED, theme.discarded, Qt.PenStyle.SolidLine),
            (PROPOSED, theme.draft, Qt.PenStyle.DotLine),
        ):
            outlines = boxes[seen & (cells.fate == fate)]
            painter.setPen(pg.mkPen(ink, width=1, style=style))
            outlines[:, 2:] = np.maximum(outlines[:, 2:] - 1, 0)
            painter.drawRects(rects(outlines))
        if cells.chosen is not None and seen[cells.chosen]:
            painter.setPen(pg.mkPen(theme.text, width=1))
            x, y, width, height = boxes[cells.chosen].tolist()
            painter.drawRect(QRectF(x - 1, y - 1, width + 1, height + 1))

    def _boxes(self, pixels: Pixels, cells: Cells) -> Array:
        """[n, 4]: left, top, width, height in pixels, with gaps as far as there is room."""
        view = pixels.view
        left = pixels.x(np.maximum(cells.start_ns, view.left() - view.width()))
        right = pixels.x(np.minimum(cells.end_ns, view.right() + view.width()))
        bottom = self.plot.bottom_of(cells.band) + cells.position
        low, high = pixels.y(bottom), pixels.y(bottom + 1)
        width = right - left
        gap = np.select([width >= 14, width >= 4], [3.0, 1.0], 0.0)
        row_px = abs(float(pixels.transform.m22()))
        row_gap = 3.0 if row_px >= 12 else 1.0 if row_px >= 4 else 0.0
        return np.stack(
            (left, high, np.maximum(width - gap, 1 / pixels.ratio), low - high - row_gap), axis=1
        )

    def _paint_shares(self, painter: QPainter, pixels: Pixels, shares: Shares) -> None:
        """From the bottom up: accepted, rejected; what was discarded stays a faint ground."""
        theme = self.plot.theme
        counts = shares.counts  # [n_bands, n_positions, 3, n]
        whole = np.maximum(counts.sum(axis=2, keepdims=True), 1)
        parts = (counts / whole)[:, :, _STACKED]
        inks = [
            QColor(theme.accepted),
            QColor(theme.rejected),
            QColor(mixed(theme.discarded, theme.panel, 0.28)),
        ]
        row_px = abs(float(pixels.transform.m22()))
        height = row_px - (2.0 if row_px >= 8 else 1.0)
        for band in range(counts.shape[0]):
            for position in range(counts.shape[1]):
                row = self.plot.bottom_of(band) + position
                base = float(pixels.y(np.array(row)))
                ends = (base - height, base)
                paint_columns(painter, pixels, shares.edges_ns, parts[band, position], inks, ends)

    def _paint_captions(self, painter: QPainter, pixels: Pixels) -> None:
        """Each as far as it does not run into the one before; a line between bands."""
        theme, area = self.plot.theme, pixels.area
        painter.setFont(interface_font(CAPTION))
        metrics = painter.fontMetrics()
        row_px = abs(float(pixels.transform.m22()))
        for band in range(self.plot.n_bands):
            top = float(pixels.y(np.array(
                self.plot.bottom_of(band) + self.plot.n_positions + self.plot.header_rows
            )))  # fmt: skip
            if band:
                painter.setPen(pg.mkPen(theme.line, width=1))
                painter.drawLine(QPointF(area.left(), top), QPointF(area.right(), top))
            painter.setPen(QColor(theme.dim))
            taken = area.left()
            for caption in self.plot.captions:
                width = metrics.horizontalAdvance(caption.text) + 10
                x = float(pixels.x(np.array(max(caption.start_ns, pixels.view.left()))))
                if caption.band != band or x < taken or x + width > area.right():
                    continue
                box = QRectF(x + 1, top, width, row_px * self.plot.header_rows)
                if box.height() >= metrics.height() - 5:
                    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, caption.text)
                taken = x + width


def _crosses(boxes: Array) -> list[QLineF]:
    """Two lines in the middle of each box."""
    lines = []
    for x, y, width, height in boxes.tolist():
        half = min(max(min(width, height) / 2 - 1.5, 1.2), 5.0)
        middle_x, middle_y = x + width / 2, y + height / 2
        left, right, top, bottom = (
            middle_x - half, middle_x + half, middle_y - half, middle_y + half,
        )  # fmt: skip
        lines += [QLineF(left, top, right, bottom), QLineF(left, bottom, right, top)]
    return lines


def _middles(boxes: Array) -> list[QLineF]:
    """A line through the middle of each box: what is left of a cross where there is no room."""
    return [
        QLineF(x, y + height / 2, x + max(width - 1, 0), y + height / 2)
        for x, y, width, height in boxes.tolist()
        if height >= 2
    ]
