"""Rectangles with a hatch of the screen's size."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from ui.plots.hatched_bars import HatchedBar, HatchedBars, fill_hatched


def painted(hatch: int, scale: float) -> QImage:
    picture = QImage(40, 40, QImage.Format.Format_RGB32)
    picture.fill(QColor("#000000"))
    painter = QPainter(picture)
    painter.scale(scale, scale)
    fill_hatched(painter, QRectF(0, 0, 40 / scale, 40 / scale), "#FF0000", "#FFFFFF", hatch)
    painter.end()
    return picture


def n_colours(picture: QImage) -> int:
    return len({picture.pixel(x, y) for x in range(40) for y in range(40)})


def test_the_first_is_plain_and_the_others_are_hatched() -> None:
    assert n_colours(painted(0, 1.0)) == 1
    assert [n_colours(painted(hatch, 1.0)) > 1 for hatch in range(1, 6)] == [True] * 5


def test_the_hatch_does_not_grow_with_the_zoom() -> None:
    assert painted(1, 20.0) == painted(1, 1.0)


def test_bounds_hold_all_bars(qtbot: object) -> None:
    item = HatchedBars()
    item.show_bars([HatchedBar(0, 1, 0, 1, "#FF0000", "#FFFFFF"),
                    HatchedBar(5, 3, 2, -1, "#FF0000", "#FFFFFF", 1)])  # fmt: skip
    assert item.boundingRect() == QRectF(0, -1, 5, 3)
    item.show_bars([])
    assert item.boundingRect().isEmpty()
