"""Columns as pixels: each where its time is, as high as its share, at every scale of the screen."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QTransform

from ui.plots.time_columns import columns_at, paint_columns
from ui.plots.time_plot import Pixels

WIDTH, HEIGHT = 100, 40
RED, BLUE = QColor("#ff0000"), QColor("#0000ff")


def painted(
    edges_ns: np.ndarray, shares: np.ndarray, inks: list[QColor], *, ratio: float = 1.0
) -> QImage:
    """1000 ns over 100 pixels, the columns from y = 10 down to y = 30."""
    image = QImage(
        round(WIDTH * ratio), round(HEIGHT * ratio), QImage.Format.Format_ARGB32_Premultiplied
    )
    image.setDevicePixelRatio(ratio)
    image.fill(0)
    pixels = Pixels(QTransform.fromScale(0.1, 1.0), ratio, QRectF(0, 0, 1000, HEIGHT))
    painter = QPainter(image)
    paint_columns(painter, pixels, edges_ns, shares, inks, (10.0, 30.0))
    painter.end()
    return image


def counted(image: QImage, x: int, colour: QColor) -> int:
    return sum(image.pixelColor(x, y) == colour for y in range(image.height()))


@pytest.mark.parametrize("ratio", [1.0, 1.25, 2.0])
def test_columns_are_stacked_from_the_bottom(ratio: float) -> None:
    edges = np.array([200.0, 500.0, 800.0])
    image = painted(edges, np.array([[0.5, 0.1], [0.25, 0.9]]), [RED, BLUE], ratio=ratio)
    first, second = round(30 * ratio), round(70 * ratio)
    height = 20 * ratio
    assert counted(image, first, RED) == pytest.approx(0.5 * height, abs=1)
    assert counted(image, first, BLUE) == pytest.approx(0.25 * height, abs=1)
    assert image.pixelColor(first, round(30 * ratio) - 1) == RED
    assert counted(image, second, RED) + counted(image, second, BLUE) == height
    for outside in (round(19 * ratio), round(81 * ratio)):
        assert counted(image, outside, RED) + counted(image, outside, BLUE) == 0


def test_columns_far_outside_are_cut_off() -> None:
    edges = np.array([-1e17, -1e3, 500.0, 1e17])
    image = painted(edges, np.array([[1.0, 1.0, 0.0]]), [RED])
    assert counted(image, 0, RED) == counted(image, 49, RED) == 20
    assert counted(image, 50, RED) == 0


def test_what_is_not_in_view_paints_nothing() -> None:
    image = painted(np.array([2000.0, 3000.0]), np.array([[1.0]]), [RED])
    assert all(counted(image, x, RED) == 0 for x in range(WIDTH))


def test_each_pixel_shows_the_column_in_its_middle() -> None:
    pixels = Pixels(QTransform.fromScale(0.1, 1.0), 1.0, QRectF(0, 0, 1000, HEIGHT))
    edges = np.array([0.0, 14.0, 16.0, 1000.0])  # the second covers the middle of pixel 1
    assert columns_at(pixels, edges, np.arange(3)).tolist() == [0, 1, 2]
