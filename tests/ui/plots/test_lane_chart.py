"""Lanes: bars and columns where they belong."""

import numpy as np
import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from ui.plots.lane_chart import LaneChart, Strip
from ui.theme import DARK


@pytest.fixture
def chart(qtbot: QtBot) -> LaneChart:
    chart = LaneChart(DARK)
    qtbot.addWidget(chart)
    chart.resize(600, 200)
    chart.show()
    qtbot.waitExposed(chart)
    chart.show_range(0, 1e6)
    return chart


def colour_at(chart: LaneChart, image: QImage, t_ns: float, y: float) -> str:
    view = chart.getPlotItem().getViewBox()
    area, (low, high) = view.sceneBoundingRect(), view.viewRange()[1]
    x = area.left() + t_ns / 1e6 * area.width()
    down = area.bottom() - (y - low) / (high - low) * area.height()
    return image.pixelColor(round(x), round(down)).name().upper()


def test_rows_are_named_from_the_top(chart: LaneChart) -> None:
    chart.set_lanes(["draft", "verify"], [])
    assert chart.row_at(1.5) == 0
    assert chart.row_at(0.5) == 1
    assert chart.row_at(-0.5) is None
    assert chart.row_at(2.5) is None


def test_bars_lie_in_their_rows(chart: LaneChart) -> None:
    bars = Strip(1, "verify", start_ns=np.array([2e5]), end_ns=np.array([6e5]))
    chart.set_lanes(["draft", "verify"], [bars])
    image = chart.grab().toImage()
    assert colour_at(chart, image, 4e5, 0.5) == DARK.verify
    assert colour_at(chart, image, 4e5, 1.5) != DARK.verify
    assert colour_at(chart, image, 8e5, 0.5) != DARK.verify


def test_columns_are_as_high_as_their_share(chart: LaneChart) -> None:
    columns = Strip(
        0, "draft", edges_ns=np.array([0, 5e5, 1e6]), shares=np.array([1.0, 0.5])
    )  # fmt: skip
    chart.set_lanes(["draft"], [columns])
    image = chart.grab().toImage()
    assert colour_at(chart, image, 2e5, 0.8) == DARK.draft
    assert colour_at(chart, image, 8e5, 0.3) == DARK.draft
    assert colour_at(chart, image, 8e5, 0.7) != DARK.draft


def test_a_bar_longer_than_any_screen_is_painted(chart: LaneChart) -> None:
    bars = Strip(0, "verify", start_ns=np.array([-1e17]), end_ns=np.array([1e17]))
    chart.set_lanes(["verify"], [bars])
    assert colour_at(chart, chart.grab().toImage(), 5e5, 0.5) == DARK.verify


def test_a_moved_range_is_painted_anew(chart: LaneChart) -> None:
    bars = Strip(0, "verify", start_ns=np.array([1e12]), end_ns=np.array([1e12 + 1e6]))
    chart.set_lanes(["verify"], [bars])
    assert colour_at(chart, chart.grab().toImage(), 5e5, 0.5) != DARK.verify
    chart.show_range(1e12, 1e12 + 1e6)
    assert colour_at(chart, chart.grab().toImage(), 5e5, 0.5) == DARK.verify


def test_a_reason_is_written(chart: LaneChart) -> None:
    chart.set_lanes(["draft"], [])
    empty = chart.grab().toImage()
    chart.set_lanes(["draft"], [], message="recorded without spans")
    assert chart.grab().toImage() != empty
