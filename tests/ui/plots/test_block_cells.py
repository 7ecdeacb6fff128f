"""One block's picture: its states told apart by shape, its bar, its number."""

import numpy as np
from PySide6.QtGui import QColor

from ui.plots.block_cells import Cell, CellLook, draw_cell
from ui.theme import DARK, mixed

HUES = ("#59DAC1", "#936CCD")


def colour_at(pixels: np.ndarray, row: int, column: int) -> str:
    return f"#{int(pixels[row, column]) & 0xFFFFFF:06X}"


def test_a_half_filled_block_has_a_bar_of_half_its_height() -> None:
    look = CellLook(Cell.FILLED, HUES[0], 5, 0, "")
    pixels = draw_cell(look, DARK, 10, 1.0)
    assert colour_at(pixels, 7, 4) == HUES[0]
    assert colour_at(pixels, 2, 4) == mixed(HUES[0], DARK.panel, 0.30)
    assert pixels[9, 9] == 0  # the gap


def test_every_state_looks_different_without_colour() -> None:
    drawn = [draw_cell(CellLook(cell, HUES[0], 16, 0, ""), DARK, 17, 1.0) for cell in Cell]
    shapes = {(image != image[8, 1]).tobytes() for image in drawn}
    assert len(shapes) >= 4  # free and filled whole are both plain squares
    free, filled = drawn[Cell.FREE], drawn[Cell.FILLED]
    assert (
        QColor(colour_at(filled, 8, 8)).lightness() > QColor(colour_at(free, 8, 8)).lightness() + 40
    )


def test_what_was_rolled_back_stands_on_the_bar() -> None:
    pixels = draw_cell(CellLook(Cell.FILLED, HUES[0], 6, 6, ""), DARK, 24, 1.0)
    ground = mixed(HUES[0], DARK.panel, 0.30)
    above, back, bar = (colour_at(pixels, row, 10) for row in (6, 14, 20))
    assert (above, bar) == (ground, HUES[0])
    assert back not in (ground, HUES[0])


def test_a_number_is_written_into_the_block() -> None:
    bare, numbered = (
        draw_cell(CellLook(Cell.OUTLINED, HUES[1], 0, 0, label), DARK, 30, 1.0)
        for label in ("", "7")
    )
    assert (bare != numbered).any()
    np.testing.assert_array_equal(bare[:4], numbered[:4])  # not over the edge
