"""The grid of blocks: how it is laid out, what its pixels are, what a click means."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from ui.plots.block_cells import Cell
from ui.plots.block_grid import BlockGrid, Blocks, raster
from ui.theme import DARK, LIGHT, mixed

HUES = ("#59DAC1", "#936CCD")


def blocks(*cells: Cell, filled: float = 1.0, labels: int = -1) -> Blocks:
    n = len(cells)
    return Blocks(
        cells=np.array(cells, np.int8), hues=np.arange(n) % 2, filled=np.full(n, filled),
        rolled_back=np.zeros(n), labels=np.full(n, labels), colours=HUES,
    )  # fmt: skip


@pytest.mark.parametrize("n", [1, 8, 100, 1024, 8192])
@pytest.mark.parametrize("size", [(110.0, 90.0), (330.0, 240.0), (1200.0, 700.0)])
def test_all_blocks_fit_and_the_cells_are_as_large_as_they_can_be(
    n: int, size: tuple[float, float]
) -> None:
    shape = raster(n, *size, 40.0)
    assert shape.n_columns * shape.n_rows >= n
    assert shape.n_columns * shape.size <= size[0] or shape.size == 1
    assert shape.n_rows * shape.size <= size[1] or shape.size == 1
    larger = shape.size + 1
    assert larger > 40 or (size[0] // larger) * (size[1] // larger) < n


def test_where_a_block_lies() -> None:
    shape = raster(10, 85.0, 60.0, 20.0)  # four to a row
    assert (shape.n_columns, shape.n_rows) == (4, 3)
    assert shape.place(6) == (2, 1)
    assert shape.block_at(2.5, 1.9) == 6
    assert shape.block_at(2.5, 2.5) is None  # behind the last
    assert shape.block_at(-0.1, 0.5) is None
    assert shape.block_at(4.2, 0.5) is None


def colour_at(pixels: np.ndarray, row: int, column: int) -> str:
    return f"#{int(pixels[row, column]) & 0xFFFFFF:06X}"


def test_the_image_holds_each_block_at_its_place(qtbot) -> None:
    grid = BlockGrid(DARK)
    qtbot.addWidget(grid)
    grid.resize(300, 120)
    grid.show()
    shown = blocks(Cell.FREE, Cell.FILLED, Cell.FILLED, Cell.FREE)
    grid.set_blocks(shown, outlined=np.array([1]), selected=2)
    n_columns = grid.raster.n_columns
    pixels = grid._cells.pixels(shown, range(n_columns), range(grid.raster.n_rows), 8, 1.0)
    assert pixels.shape == (8 * grid.raster.n_rows, 8 * n_columns)
    assert [colour_at(pixels, 3, 3 + 8 * block) for block in range(4)] == [
        mixed(DARK.line, DARK.panel, 0.55), HUES[1], HUES[0], mixed(DARK.line, DARK.panel, 0.55),
    ]  # fmt: skip
    grid.restyle(LIGHT)
    pixels = grid._cells.pixels(shown, range(n_columns), range(grid.raster.n_rows), 8, 1.0)
    assert colour_at(pixels, 3, 3) == mixed(LIGHT.line, LIGHT.panel, 0.55)
    assert not grid.grab().isNull()


def test_clicks_and_keys_choose_a_block(qtbot) -> None:
    grid = BlockGrid(DARK)
    qtbot.addWidget(grid)
    grid.resize(400, 200)
    grid.show()
    grid.set_blocks(blocks(*[Cell.FREE] * 30), outlined=np.zeros(0, int), selected=3)
    n_columns = grid.raster.n_columns
    with qtbot.waitSignal(grid.chosen) as clicked:
        grid.clicked.emit(2.4, 1.2)
    assert clicked.args == [n_columns + 2]
    with qtbot.waitSignal(grid.chosen) as walked:
        qtbot.keyClick(grid, Qt.Key.Key_Down)
    assert walked.args == [3 + n_columns]
    with qtbot.assertNotEmitted(grid.chosen):
        grid.clicked.emit(-3.0, 0.5)


def test_many_blocks_are_one_image(qtbot) -> None:
    grid = BlockGrid(DARK)
    qtbot.addWidget(grid)
    grid.resize(330, 250)
    grid.show()
    cells = [Cell(index % 5) for index in range(8192)]
    shown = blocks(*cells, filled=0.5, labels=7)
    grid.set_blocks(shown, outlined=np.arange(50), selected=None)
    assert grid.raster.size >= 2
    shape = grid.raster
    pixels = grid._cells.pixels(shown, range(shape.n_columns), range(shape.n_rows), 3, 1.0)
    assert len(grid._cells._drawn) <= 4 * 5 * 2  # looks, not blocks
    assert pixels.shape == (3 * shape.n_rows, 3 * shape.n_columns)
