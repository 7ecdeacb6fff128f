"""BlockGrid: the physical blocks of a cache as a grid of cells, from eight to many thousands."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPainter, QPen

from ui.painting import guarded
from ui.plots.block_cells import LABEL_PX, Cell, CellLook, draw_cell
from ui.plots.plot import Plot
from ui.theme import Theme

MAX_CELL_PX = 40
"""Of the interface; a larger cell tells no more."""
_ROUND_COLUMNS = 8
_STEPS = {
    Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """Arrays have one entry per block, [n]."""

    cells: np.ndarray  # Cell
    hues: np.ndarray  # places in ``colours``; anything where nobody owns the block
    filled: np.ndarray  # share of the block's slots that is filled, from the bottom
    rolled_back: np.ndarray  # share just rolled back, above the filled ones
    labels: np.ndarray  # the owners' numbers; below 0: none
    colours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Raster:
    """How ``n`` blocks are laid out: cells of ``size`` device pixels, row by row."""

    n: int
    n_columns: int
    size: int

    @property
    def n_rows(self) -> int:
        return -(-self.n // self.n_columns)

    def place(self, block: int) -> tuple[int, int]:
        """Column and row."""
        return block % self.n_columns, block // self.n_columns

    def block_at(self, x: float, y: float) -> int | None:
        """The block at a point in cells, if one lies there."""
        column, row = int(np.floor(x)), int(np.floor(y))
        block = row * self.n_columns + column
        return block if 0 <= column < self.n_columns and row >= 0 and block < self.n else None


def raster(n: int, width: float, height: float, largest: float) -> Raster:
    """The largest cells with which ``n`` blocks fit into so many device pixels; rows of a multiple
    of eight where that costs nothing."""
    size = max(1, int(min(largest, width, height)))
    while size > 1 and (width // size) * (height // size) < n:
        size -= 1
    n_columns = max(1, min(n, int(width // size)))
    rounded = n_columns // _ROUND_COLUMNS * _ROUND_COLUMNS
    if rounded and -(-n // rounded) * size <= height:
        n_columns = rounded
    return Raster(n, n_columns, size)


class BlockGrid(Plot):
    """One cell is one unit of the plot. Arrow keys move the selection."""

    own_keys = Plot.own_keys | frozenset(_STEPS)

    chosen = Signal(int)
    """A block was clicked or walked to."""
    hovered = Signal(int)
    """The block under the pointer; -1 for none."""

    def __init__(self, theme: Theme) -> None:
        self.blocks: Blocks | None = None
        self.outlined: np.ndarray = np.zeros(0, np.int64)
        self.selected: int | None = None
        self.raster = Raster(0, 1, 1)
        self._hovered = -1
        super().__init__(theme)
        item = self.getPlotItem()
        item.setContentsMargins(0, 0, 0, 0)
        for name in ("left", "bottom"):
            item.hideAxis(name)
        view = item.getViewBox()
        view.invertY(True)
        view.disableAutoRange()
        view.setDefaultPadding(0.0)
        view.sigResized.connect(lambda *_: self._fit())
        self._cells = _Cells(self)
        self.addItem(self._cells, ignoreBounds=True)
        self.set_read_out(lambda x, y: "")
        self.clicked.connect(self._choose_at)
        self.scene().sigMouseMoved.connect(self._hover)

    def set_blocks(self, blocks: Blocks, *, outlined: np.ndarray, selected: int | None) -> None:
        """Show ``blocks``; those ``outlined`` belong to what is looked at, one is selected."""
        has_grown = self.blocks is None or len(self.blocks.cells) != len(blocks.cells)
        self.blocks, self.outlined, self.selected = blocks, outlined, selected
        if has_grown:
            self._fit()
        self._cells.update()

    def restyle(self, theme: Theme) -> None:
        super().restyle(theme)
        if hasattr(self, "_cells"):
            self._cells.forget()

    def show_all(self) -> None:
        self._fit()
        self.moved.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None or self.blocks is None:
            super().keyPressEvent(event)
            return
        block = 0 if self.selected is None else self.selected
        block += step[0] + step[1] * self.raster.n_columns
        if 0 <= block < self.raster.n:
            self.chosen.emit(block)

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self._tell(-1)

    def _fit(self) -> None:
        """Lay out anew for the size there is, cells on whole device pixels."""
        view = self.getPlotItem().getViewBox()
        ratio = self.devicePixelRatioF()
        width, height = view.width() * ratio, view.height() * ratio
        if self.blocks is None or not len(self.blocks.cells) or width < 1 or height < 1:
            return
        self.raster = raster(len(self.blocks.cells), width, height, MAX_CELL_PX * ratio)
        size = self.raster.size
        left = (width - self.raster.n_columns * size) // 2 / size
        view.setRange(xRange=(-left, width / size - left), yRange=(0.0, height / size), padding=0)
        self._cells.prepareGeometryChange()

    def _choose_at(self, x: float, y: float) -> None:
        block = self.raster.block_at(x, y)
        if block is not None:
            self.chosen.emit(block)

    def _hover(self, position: QPointF) -> None:
        view = self.getPlotItem().getViewBox()
        point = view.mapSceneToView(position)
        block = self.raster.block_at(point.x(), point.y())
        is_inside = view.sceneBoundingRect().contains(position)
        self._tell(-1 if block is None or not is_inside else block)

    def _tell(self, block: int) -> None:
        if block != self._hovered:
            self._hovered = block
            self.hovered.emit(block)


class _Cells(pg.GraphicsObject):
    """Paints the cells in sight as one image."""

    def __init__(self, grid: BlockGrid) -> None:
        super().__init__()
        self._grid = grid
        self._drawn: dict[tuple[CellLook, int, float], np.ndarray] = {}

    def forget(self) -> None:
        """Draw every look anew: the theme has changed."""
        self._drawn.clear()
        self.update()

    def boundingRect(self) -> QRectF:
        shape = self._grid.raster
        return QRectF(0, 0, shape.n_columns, shape.n_rows)

    @guarded
    def paint(self, painter: QPainter, *_: Any) -> None:
        blocks, shape = self._grid.blocks, self._grid.raster
        if blocks is None or not shape.n:
            return
        ratio = painter.device().devicePixelRatioF()
        transform = painter.worldTransform()
        size = max(1, round(transform.m11() * ratio))
        seen = self.viewRect()
        columns = range(max(0, int(seen.left())), min(shape.n_columns, int(seen.right()) + 1))
        rows = range(max(0, int(seen.top())), min(shape.n_rows, int(seen.bottom()) + 1))
        if not columns or not rows:
            return
        pixels = self.pixels(blocks, columns, rows, size, ratio)
        height, width = pixels.shape
        image = QImage(
            pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied
        )
        image.setDevicePixelRatio(ratio)
        origin = transform.map(QPointF(columns.start, rows.start))
        corner = QPointF(round(origin.x() * ratio) / ratio, round(origin.y() * ratio) / ratio)
        painter.save()
        painter.resetTransform()
        painter.drawImage(corner, image)
        self._outline(painter, corner, columns, rows, size / ratio)
        painter.restore()

    def pixels(
        self, blocks: Blocks, columns: range, rows: range, size: int, ratio: float
    ) -> np.ndarray:
        """[n_rows * size, n_columns * size] uint32: the cells of these columns and rows."""
        shape = self._grid.raster
        numbers = np.add.outer(np.array(rows) * shape.n_columns, np.array(columns))
        is_there = (numbers < shape.n) & (numbers >= 0)
        places = numbers[is_there]
        labels = np.full(len(places), -1)
        if size / ratio >= LABEL_PX:
            labels = np.where(blocks.cells[places] == Cell.FREE, -1, blocks.labels[places])
        looks = np.stack([
            blocks.cells[places], blocks.hues[places] % max(1, len(blocks.colours)),
            _height_px(blocks.filled[places], size), _height_px(blocks.rolled_back[places], size),
            labels,
        ], axis=1)  # fmt: skip
        # One number per look: cheaper to tell apart than rows.
        spans = looks.max(axis=0) - looks.min(axis=0) + 1
        keys = np.ravel_multi_index(tuple((looks - looks.min(axis=0)).T), tuple(spans))
        _, firsts, which = np.unique(keys, return_index=True, return_inverse=True)
        sprites = np.zeros((len(firsts) + 1, size, size), np.uint32)  # the last one is nothing
        for place, row in enumerate(looks[firsts].tolist()):
            sprites[place] = self._sprite(row, blocks.colours, size, ratio)
        picks = np.full(numbers.shape, len(firsts))
        picks[is_there] = which
        return np.ascontiguousarray(
            sprites[picks].transpose(0, 2, 1, 3).reshape(len(rows) * size, len(columns) * size)
        )

    def _sprite(
        self, row: list[int], colours: tuple[str, ...], size: int, ratio: float
    ) -> np.ndarray:
        cell, hue, filled_px, back_px, label = row
        look = CellLook(
            Cell(cell), colours[hue], filled_px, back_px, "" if label < 0 else str(label)
        )
        key = (look, size, ratio)
        if key not in self._drawn:
            if len(self._drawn) > 4000:
                self._drawn.clear()
            self._drawn[key] = draw_cell(look, self._grid.theme, size, ratio)
        return self._drawn[key]

    def _outline(
        self, painter: QPainter, corner: QPointF, columns: range, rows: range, size: float
    ) -> None:
        """Around the blocks of what is looked at, and around the selected one, stronger."""
        shape, theme = self._grid.raster, self._grid.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setBrush(Qt.BrushStyle.NoBrush)

        def box(block: int) -> QRectF:
            column, row = shape.place(block)
            x, y = column - columns.start, row - rows.start
            return QRectF(corner.x() + x * size, corner.y() + y * size, size - 1, size - 1)

        if size >= 4:
            painter.setPen(QPen(QColor(theme.text), 1))
            painter.drawRects([box(block) for block in self._grid.outlined.tolist()])
        if self._grid.selected is not None and self._grid.selected < shape.n:
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.drawRect(box(self._grid.selected).adjusted(-1, -1, 1, 1))


def _height_px(shares: np.ndarray, size: int) -> np.ndarray:
    """Whole pixels, at least one where there is anything."""
    heights: np.ndarray = np.ceil(shares * size - 1e-9).astype(np.int64)
    return heights
