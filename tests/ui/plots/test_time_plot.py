"""A plot over nanoseconds: units, ticks, range, marks."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from ui.plots.time_plot import NONE, TimeAxis, TimePlot, time_unit
from ui.theme import DARK, LIGHT


@pytest.fixture
def plot(qtbot: QtBot) -> TimePlot:
    plot = TimePlot(DARK)
    qtbot.addWidget(plot)
    plot.resize(600, 200)
    plot.show()
    qtbot.waitExposed(plot)
    plot.show_range(0, 1e9)
    return plot


def colours_at(image: QImage, x: int) -> set[str]:
    return {image.pixelColor(x, y).name().upper() for y in range(image.height())}


def x_of(plot: TimePlot, t_ns: float) -> int:
    view = plot.getPlotItem().getViewBox()
    low, high = plot.range_ns
    area = view.sceneBoundingRect()
    return round(area.left() + (t_ns - low) / (high - low) * area.width())


def test_the_unit_suits_the_range() -> None:
    assert time_unit(0, 9e8).name == "ms"
    assert time_unit(5e9, 5.4e9).name == "ms"
    assert time_unit(0, 5e10).name == "s"
    assert time_unit(3e12, 3.001e12).name == "s"
    assert time_unit(0, 3.6e12).name == "min"


def test_ticks_are_round_apart_and_their_thousands_set_apart(qtbot: QtBot) -> None:
    axis = TimeAxis("bottom")
    assert axis.tickSpacing(0, 1000, 660) == [(100.0, 0.0)]
    assert axis.tickSpacing(0, 1000, 200) == [(500.0, 0.0)]
    assert axis.tickStrings([1.2345e9, 2e9], 1e-6, 5e5) == ["1\u2009234.5", "2\u2009000.0"]
    assert axis.tickStrings([1.2e10], 1e-9, 1e9) == ["12"]


def test_the_label_follows_the_zoom(plot: TimePlot) -> None:
    axis = plot.getPlotItem().getAxis("bottom")
    assert axis.labelText == "time since start (ms)"
    plot.show_range(0, 1e11)
    assert axis.labelText == "time since start (s)"


def test_home_and_a_double_click_ask_for_all(plot: TimePlot, qtbot: QtBot) -> None:
    with qtbot.waitSignal(plot.all_wanted):
        qtbot.keyClick(plot, Qt.Key.Key_Home)
    assert plot.range_ns == (0, 1e9)


def test_marks_are_painted_where_they_belong(plot: TimePlot) -> None:
    plot.set_marks(
        pauses=(np.array([6e8]), np.array([9e8])),
        step_starts_ns=np.array([1e8]),
        selected_ns=(2e8, 3e8),
        playhead_ns=5e8,
    )
    image = plot.grab().toImage()
    accent = QColor(DARK.accent).name().upper()
    near = {c for dx in (-1, 0, 1) for c in colours_at(image, x_of(plot, 5e8) + dx)}
    assert accent in near
    assert accent not in colours_at(image, x_of(plot, 4e8))
    edges = {c for dx in (-2, -1, 0, 1) for c in colours_at(image, x_of(plot, 2e8) + dx)}
    assert accent in edges
    hatched = {c for dx in range(9) for c in colours_at(image, x_of(plot, 6.2e8) + dx)}
    assert DARK.line in hatched
    plot.set_marks(pauses=(NONE, NONE), step_starts_ns=NONE, selected_ns=None, playhead_ns=None)
    assert accent not in colours_at(plot.grab().toImage(), x_of(plot, 5e8))


def test_it_takes_another_theme(plot: TimePlot) -> None:
    plot.set_marks(pauses=(NONE, NONE), step_starts_ns=NONE, selected_ns=None, playhead_ns=5e8)
    plot.restyle(LIGHT)
    image = plot.grab().toImage()
    near = {c for dx in (-1, 0, 1) for c in colours_at(image, x_of(plot, 5e8) + dx)}
    assert QColor(LIGHT.accent).name().upper() in near
