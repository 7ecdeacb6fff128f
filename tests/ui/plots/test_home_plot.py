"""Home: the range holds while data come, lets the user go, and comes back."""

import pytest
from PySide6.QtCore import Qt

from ui.plots.home_plot import HomePlot, ceiling
from ui.theme import DARK, LIGHT


def ranges(plot: HomePlot) -> list[list[float]]:
    return [list(each) for each in plot.getPlotItem().getViewBox().viewRange()]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.93, 1.0), (1.0, 1.0), (1.01, 1.2), (84.2, 100.0), (41.0, 50.0), (0.0, 1.0), (-3.0, 1.0),
     (float("nan"), 1.0), (0.0021, 0.0025)],
)  # fmt: skip
def test_a_ceiling_is_a_round_number_above(value: float, expected: float) -> None:
    assert ceiling(value) == pytest.approx(expected)


def test_the_user_is_left_alone_until_home(qtbot: object) -> None:
    plot = HomePlot(DARK, x_label="x")
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    plot.resize(400, 200)
    plot.show()
    plot.set_home((0.0, 10.0), (0.0, 1.0))
    assert ranges(plot) == [[0.0, 10.0], [0.0, 1.0]]
    view = plot.getPlotItem().getViewBox()
    view.setRange(xRange=(2.0, 3.0), padding=0)
    view.sigRangeChangedManually.emit([True, True])
    assert plot.is_free
    plot.set_home((0.0, 20.0), (0.0, 1.0))
    assert ranges(plot)[0] == [2.0, 3.0]
    qtbot.keyClick(plot, Qt.Key.Key_Home)  # type: ignore[attr-defined]
    assert not plot.is_free
    assert ranges(plot)[0] == [0.0, 20.0]


def test_plots_that_share_their_x_axis_are_let_go_together(qtbot: object) -> None:
    above, below = HomePlot(DARK), HomePlot(DARK)
    for plot in (above, below):
        qtbot.addWidget(plot)  # type: ignore[attr-defined]
    below.follow_x(above)
    above.getPlotItem().getViewBox().sigRangeChangedManually.emit([True, True])
    assert below.is_free
    below.show_all()
    assert not above.is_free


def test_there_is_room_for_labels_at_the_right(qtbot: object) -> None:
    plot = HomePlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    plot.resize(400, 200)
    plot.show()
    plot.set_home((0.0, 10.0), (0.0, 1.0), right_px=50)
    width = plot.getPlotItem().getViewBox().width()
    assert ranges(plot)[0][1] == pytest.approx(10.0 * width / (width - 50))


def test_a_low_plot_leaves_its_axis_title_out(qtbot: object) -> None:
    plot = HomePlot(DARK, x_label="time")
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    plot.show()
    for height, is_shown in ((300, True), (90, False), (300, True)):
        plot.resize(300, height)
        assert plot.getPlotItem().getAxis("bottom").label.isVisible() is is_shown
        plot.restyle(LIGHT if plot.theme is DARK else DARK)  # which brings no title back
        assert plot.getPlotItem().getAxis("bottom").label.isVisible() is is_shown
