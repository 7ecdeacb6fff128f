"""Lines over time: peaks survive thinning, zooming shows what was thinned away."""

import numpy as np
import pytest

from ui.plots.strip_chart import MAX_BUCKETS, StripChart, StripLine, nearest, thinned
from ui.theme import DARK


def test_thinning_keeps_peaks_troughs_and_order() -> None:
    x = np.arange(10_003.0)
    y = np.zeros(10_003)
    y[4321], y[8765], y[10_002] = 9.0, -9.0, 5.0
    thin_x, thin_y = thinned(x, y, 100)
    assert len(thin_x) <= 2 * 101 + 100
    assert (np.diff(thin_x) >= 0).all()
    assert (thin_y.max(), thin_y.min(), thin_y[-1]) == (9.0, -9.0, 5.0)
    assert thinned(x[:150], y[:150], 100)[0].tolist() == x[:150].tolist()


@pytest.mark.parametrize(
    ("x", "value", "expected"),
    [([], 1.0, None), ([2.0], 9.0, 0), ([1.0, 2.0, 4.0], 2.9, 1), ([1.0, 2.0, 4.0], 3.1, 2),
     ([1.0, 2.0, 4.0], -9.0, 0), ([1.0, 2.0, 4.0], 9.0, 2)],
)  # fmt: skip
def test_the_nearest_point(x: list[float], value: float, expected: int | None) -> None:
    assert nearest(np.array(x), value) == expected


def test_what_is_in_sight_is_drawn(qtbot: object) -> None:
    chart = StripChart(DARK)
    qtbot.addWidget(chart)  # type: ignore[attr-defined]
    chart.resize(400, 200)
    chart.show()
    x = np.arange(100_000.0)
    chart.set_lines([StripLine("speed", x, np.sin(x), DARK.verify)])
    chart.set_home((0.0, 100_000.0), (-1.0, 1.0))
    assert len(chart.curves[0].getData()[0]) <= 3 * MAX_BUCKETS
    chart.getPlotItem().getViewBox().setXRange(500.0, 600.0, padding=0)
    assert chart.curves[0].getData()[0].tolist() == list(range(499, 602))
    assert chart.labels.texts == ["speed"]


def test_levels_shades_and_a_cursor_come_and_go(qtbot: object) -> None:
    chart = StripChart(DARK)
    qtbot.addWidget(chart)  # type: ignore[attr-defined]
    chart.set_shades(np.array([[1.0, 2.0]]))
    (bar,) = chart.shades.bars
    assert (bar.x0, bar.x1) == (1.0, 2.0)
    assert bar.hatch
    for act, item in ((chart.set_cursor, chart.cursor),):
        act(3.0)
        assert item.isVisible()
        act(None)
        assert not item.isVisible()
    chart.set_level(2.0, DARK.expected)
    assert chart.level.value() == 2.0
    line = StripLine("a", np.arange(3.0), np.arange(3.0), DARK.text)
    chart.set_lines([line, line])
    chart.set_lines([line])
    assert (
        len(chart.curves[1].getData()[0] if chart.curves[1].getData()[0] is not None else []) == 0
    )
