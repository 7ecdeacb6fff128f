"""Falling bars: each begins where the one before ended."""

from ui.plots.waterfall_chart import FallRow, WaterfallChart
from ui.theme import DARK


def test_bars_joints_and_labels(qtbot: object) -> None:
    chart = WaterfallChart(DARK)
    qtbot.addWidget(chart)  # type: ignore[attr-defined]
    rows = [
        FallRow("ideal", 0.0, 3.0, "3.00", DARK.expected),
        FallRow("draft", 3.0, 2.0, "-1.00", DARK.rejected, 1),
        FallRow("measured", 0.0, 2.0, "2.00", DARK.good),
    ]
    chart.set_rows(rows)
    assert [(bar.x0, bar.x1) for bar in chart.bars.bars] == [(0, 3), (3, 2), (0, 2)]
    assert chart.joints.getData()[0].tolist() == [3.0, 3.0, 2.0, 2.0]
    assert [label.toPlainText() for label in chart.labels] == ["3.00", "-1.00", "2.00"]
    assert chart.labels[1].pos().x() == 3.0
    assert chart.getPlotItem().getViewBox().yInverted()
    chart.set_rows(rows[:1] + rows[2:])
    assert [label.isVisibleTo(None) for label in chart.labels[:1]] == [True]
    assert len(chart.bars.bars) == 2
