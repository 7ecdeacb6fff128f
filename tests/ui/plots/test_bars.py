"""Bars, whiskers, captions where they fit, whole-number ticks."""

import numpy as np

from ui.plots.bars import BarPlot, Bars, whiskers
from ui.theme import DARK


def bars_of(n: int) -> Bars:
    x = np.arange(1.0, n + 1)
    heights = np.full(n, 0.5)
    heights[-1] = np.nan
    return Bars(x, heights, heights - 0.1, heights + 0.1, tuple("100" for _ in range(n)))


def ticks(plot: BarPlot) -> list[str]:
    return [text for _, text in plot.getPlotItem().getAxis("bottom")._tickLevels[0]]


def test_an_interval_is_three_strokes() -> None:
    x, y = whiskers(np.array([2.0]), np.array([0.4]), np.array([0.6]), cap=0.5)
    assert x.tolist() == [2.0, 2.0, 1.5, 2.5, 1.5, 2.5]
    assert y.tolist() == [0.4, 0.6, 0.4, 0.4, 0.6, 0.6]


def test_a_missing_height_is_no_bar(qtbot: object) -> None:
    plot = BarPlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    plot.set_bars(bars_of(3), DARK.accepted, ink=DARK.text)
    assert plot.bar_item.opts["x"].tolist() == [1.0, 2.0]
    assert len(plot.whiskers.getData()[0]) == 12


def test_captions_and_ticks_only_where_there_is_room(qtbot: object) -> None:
    plot = BarPlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    plot.resize(420, 200)
    plot.show()
    plot.set_home((0.5, 4.5), (0.0, 1.0))
    plot.set_bars(bars_of(4), DARK.accepted, ink=DARK.text)
    assert plot.caption_texts() == ["100"] * 4
    assert ticks(plot) == ["1", "2", "3", "4"]
    plot.set_home((0.5, 40.5), (0.0, 1.0))
    plot.set_bars(bars_of(40), DARK.accepted, ink=DARK.text)
    assert plot.caption_texts() == []
    assert ticks(plot)[:3] == ["1", "5", "10"]
