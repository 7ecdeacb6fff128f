"""Fates: each has its colour and its mark; rows are where they are said to be."""

import numpy as np
import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from ui.plots.fate_raster import (
    ACCEPTED,
    DISCARDED,
    PROPOSED,
    REJECTED,
    Caption,
    Cells,
    FateRaster,
    Shares,
)
from ui.theme import DARK


@pytest.fixture
def raster(qtbot: QtBot) -> FateRaster:
    raster = FateRaster(DARK)
    qtbot.addWidget(raster)
    raster.resize(600, 260)
    raster.show()
    qtbot.waitExposed(raster)
    raster.show_range(0, 1e6)
    return raster


def area(raster: FateRaster, image: QImage, t_ns: tuple[float, float], row: float) -> list[str]:
    """The colours along the middle of a row."""
    view = raster.getPlotItem().getViewBox()
    box, (low, high) = view.sceneBoundingRect(), view.viewRange()[1]
    y = round(box.bottom() - (row + 0.5 - low) / (high - low) * box.height())
    left, right = (round(box.left() + t / 1e6 * box.width()) for t in t_ns)
    return [image.pixelColor(x, y).name().upper() for x in range(left, right)]


def cells(fates: list[int], *, chosen: int | None = None) -> Cells:
    """All in one step from 100 to 500 microseconds, one above the other."""
    n = len(fates)
    zeros = np.zeros(n, np.int64)
    return Cells(
        zeros + 100_000, zeros + 500_000, zeros, np.arange(n), np.array(fates), chosen
    )  # fmt: skip


def test_fates_differ_in_colour_and_mark(raster: FateRaster) -> None:
    raster.set_rows(1, 4)
    raster.set_fates(cells([ACCEPTED, REJECTED, DISCARDED, PROPOSED]))
    image = raster.grab().toImage()
    within = (110_000.0, 480_000.0)
    assert set(area(raster, image, within, 0)) == {DARK.accepted}
    rejected = area(raster, image, within, 1)
    assert DARK.rejected in rejected
    assert len(set(rejected)) > 1  # the cross
    assert not {DARK.accepted, DARK.rejected, DARK.discarded} & set(
        area(raster, image, within, 2)
    )  # fmt: skip
    assert DARK.discarded in area(raster, image, (90_000.0, 110_000.0), 2)
    assert DARK.accepted not in area(raster, image, (600_000.0, 900_000.0), 0)


def test_a_rejection_without_room_has_a_line(raster: FateRaster) -> None:
    raster.set_rows(1, 1)
    one = np.array([100_000])
    raster.set_fates(Cells(one, one + 5_000, one * 0, one * 0, np.array([REJECTED])))
    image = raster.grab().toImage()
    x = round(raster.getPlotItem().getViewBox().sceneBoundingRect().left())
    x += round(0.1025 * raster.width_px)
    colours = {image.pixelColor(x, y).name().upper() for y in range(image.height())}
    assert {DARK.rejected, DARK.on_colour} <= colours


def test_the_selected_token_is_outlined(raster: FateRaster) -> None:
    raster.set_rows(1, 1)
    raster.set_fates(cells([ACCEPTED]))
    plain = raster.grab().toImage()
    raster.set_fates(cells([ACCEPTED], chosen=0))
    image = raster.grab().toImage()
    edge = (90_000.0, 110_000.0)
    assert DARK.text in area(raster, image, edge, 0)
    assert DARK.text not in area(raster, plain, edge, 0)


def test_shares_are_stacked_from_the_bottom(raster: FateRaster) -> None:
    raster.set_rows(1, 1)
    counts = np.zeros((1, 1, 3, 2), np.int64)
    counts[0, 0, :, 0] = (5, 3, 2)
    counts[0, 0, :, 1] = (9, 0, 0)
    raster.set_fates(Shares(np.array([0, 500_000, 1_000_000]), counts))
    image = raster.grab().toImage()

    def colour(t_ns: float, y: float) -> str:
        return area(raster, image, (t_ns, t_ns + 4_000), y - 0.5)[0]

    assert colour(250_000, 0.3) == DARK.accepted
    assert colour(250_000, 0.65) == DARK.rejected
    assert colour(250_000, 0.9) not in (DARK.accepted, DARK.rejected)
    assert colour(750_000, 0.9) == DARK.accepted


def test_rows_of_several_bands(raster: FateRaster) -> None:
    raster.set_rows(2, 3)
    assert raster.row_at(0.5) == (1, 0)
    assert raster.row_at(2.5) == (1, 2)
    assert raster.row_at(3.2) is None  # the band's name
    assert raster.row_at(float(raster.bottom_of(0)) + 1.5) == (0, 1)
    assert raster.row_at(raster.height_rows + 0.1) is None
    assert raster.row_at(-0.1) is None
    raster.set_fates(cells([ACCEPTED]), [Caption(0, 0.0, "seq 0"), Caption(1, 2e5, "seq 1")])
    raster.grab()


def test_positions_are_numbered_as_far_as_there_is_room(raster: FateRaster) -> None:
    raster.set_rows(1, 4)
    axis = raster.getPlotItem().getAxis("left")
    assert [name for _, name in axis._tickLevels[0]] == ["1", "2", "3", "4"]
    raster.set_rows(1, 32)
    names = [int(name) for _, name in axis._tickLevels[0]]
    assert 2 < len(names) < 32
    assert names[0] == 1
