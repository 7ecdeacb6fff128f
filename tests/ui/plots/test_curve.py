"""A curve that says which of it is guessed, with marks that are named."""

import numpy as np

from ui.plots.curve import CurvePlot, Mark
from ui.theme import DARK


def test_the_guessed_part_begins_at_the_last_known_point(qtbot: object) -> None:
    plot = CurvePlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    x, y = np.arange(5.0), np.arange(5.0) ** 2
    plot.set_curve(x, y, x > 2, DARK.text)
    assert plot.known.getData()[0].tolist() == [0, 1, 2]
    assert plot.guessed.getData()[0].tolist() == [2, 3, 4]
    plot.set_curve(x, y, x > 9, DARK.text)
    assert plot.known.getData()[0].tolist() == [0, 1, 2, 3, 4]
    assert plot.guessed.getData()[0] is None
    plot.set_curve(x, y, x >= 0, DARK.text)
    assert plot.guessed.getData()[0].tolist() == [0, 1, 2, 3, 4]


def test_marks_are_named_apart(qtbot: object) -> None:
    plot = CurvePlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    x = np.arange(5.0)
    plot.set_curve(x, x, x > 2, DARK.text)
    plot.set_marks([Mark(4, 2.0, "best", "star", DARK.recovered),
                    Mark(4, 1.9, "measured", "d", DARK.accepted)])  # fmt: skip
    assert plot.marks.data["symbol"].tolist() == ["star", "d"]
    assert [name.toPlainText() for name in plot.names] == ["best", "measured"]
    above, below = (name.anchor.y() for name in plot.names)
    assert above > 1.0
    assert below < 0.0
    assert plot.names[0].anchor.x() == 1.0  # at the right end, so to the left
    plot.set_marks([])
    assert len(plot.marks.data) == 0
    plot.set_ticks(16)
    ticks = plot.getPlotItem().getAxis("bottom")._tickLevels[0]
    assert [text for _, text in ticks][:3] == ["0", "2", "4"]


def test_the_range_has_room_for_names(qtbot: object) -> None:
    plot = CurvePlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    plot.fit([np.array([1.0, 2.0])], 4)
    (x0, x1), (y0, y1) = plot.getPlotItem().getViewBox().viewRange()
    assert x0 < 0 < 4 < x1
    assert y0 == 0.0
    assert y1 > 2.0


def test_the_names_find_room_in_a_plot_that_grew_low(qtbot: object) -> None:
    plot = CurvePlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    plot.resize(400, 600)
    plot.show()
    plot.fit([np.array([1.1])], 4)
    high = plot.getPlotItem().getViewBox().viewRange()[1][1]
    plot.resize(400, 110)
    low = plot.getPlotItem().getViewBox().viewRange()[1][1]
    assert low > high
    height = plot.getPlotItem().getViewBox().height()
    assert (low - 1.1) / low * height >= 20  # pixels above the highest point
