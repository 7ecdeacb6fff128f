"""Stacked bars: where parts lie, the limit, the read-out."""

import pytest

from ui.plots.part_bars import Part, PartBar, PartBars
from ui.theme import DARK, LIGHT

TARGET = PartBar("target", (Part("weights", 10.0, DARK.verify), Part("cache", 4.0, DARK.verify, 1)))
ALL = PartBar("all", (*TARGET.parts, Part("buffers", 2.0, DARK.dim, 2)))


def test_parts_lie_behind_each_other(qtbot) -> None:
    chart = PartBars(DARK, x_label="GiB")
    qtbot.addWidget(chart)
    chart.resize(400, 200)
    chart.show()
    chart.show_bars([TARGET, ALL], limit=20.0, limit_name="a device")
    spans = [(bar.x0, bar.x1, bar.hatch) for bar in chart.bars.bars]
    assert spans == [(0, 10, 0), (10, 14, 1), (0, 10, 0), (10, 14, 1), (14, 16, 2)]
    assert chart.bars.bars[0].y0 > chart.bars.bars[-1].y1  # the first one on top
    assert [words.toPlainText() for words in chart.totals] == ["14", "16"]
    assert chart.limit.value() == 20.0
    assert chart._read(12.0, 1.1) == "target: cache\n4"
    assert chart._read(30.0, 0.0) == "all: 16 in all"
    assert chart._read(1.0, 7.0) == ""
    (low, high), _ = chart.getPlotItem().getViewBox().viewRange()
    assert low == pytest.approx(0.0)
    assert high > 20.0
    chart.restyle(LIGHT)
    chart.show_bars([TARGET])
    assert not chart.limit.isVisible()
    assert not chart.totals[1].isVisible()
