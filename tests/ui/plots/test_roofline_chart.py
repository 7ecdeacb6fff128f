"""The roofline chart: where marks and roof lie, what ticks and read-out say."""

import math

import numpy as np
import pytest

from ui.plots.roofline_chart import Mark, Roof, RooflineChart, si
from ui.theme import DARK, LIGHT


def mark(name: str, intensity: float, flops_per_s: float) -> Mark:
    cloud = np.array([intensity])
    return Mark(name, intensity, flops_per_s, "o", DARK.draft, cloud, cloud * 1e9)


ROOF = Roof(1e12, 1e10, "a device", is_known=True)


def test_a_roof_has_a_ridge_and_bends_there() -> None:
    assert ROOF.ridge == 100.0
    assert ROOF.at(10.0) == pytest.approx(1e11)
    assert ROOF.at(1000.0) == 1e12


def test_what_the_items_hold(qtbot) -> None:
    chart = RooflineChart(DARK)
    qtbot.addWidget(chart)
    chart.resize(500, 300)
    chart.show()
    chart.show_marks([mark("draft", 1.0, 2e9), mark("verify", 5.0, 3e10)], ROOF)
    x, y = chart.points.getData()
    assert x.tolist() == pytest.approx([0.0, math.log10(5)])
    assert y.tolist() == pytest.approx([math.log10(2e9), math.log10(3e10)])
    roof_x, roof_y = chart.roof_line.getData()
    assert (roof_x[1], roof_y[1]) == pytest.approx((2.0, 12.0))
    assert (roof_y[1] - roof_y[0]) / (roof_x[1] - roof_x[0]) == pytest.approx(1.0)
    assert [text.strip() for text in chart.labels.texts] == ["draft", "verify"]
    assert len(chart.clouds) == 2
    (x0, x1), (_, y1) = chart.getPlotItem().getViewBox().viewRange()
    assert x0 < 0 < 2 < x1
    assert y1 > 12
    assert "5 FLOP/byte" in chart._read(math.log10(5), math.log10(3e10))
    assert "reachable: 1 TFLOP/s" in chart._read(3.0, 9.0)
    chart.restyle(LIGHT)
    chart.show_marks([mark("draft", 1.0, 2e9)], Roof(1e12, 1e10, "here", is_known=False))
    assert not chart.ridge_words.isVisible()
    assert "reached" in chart._read(3.0, 9.0)
    assert chart.clouds[1].getData()[0].size == 0


def test_prefixes() -> None:
    assert [si(value) for value in (0.5, 12.0, 3400.0, 9.894e14)] == [
        "0.5 ", "12 ", "3.4 k", "989 T",
    ]  # fmt: skip


@pytest.mark.parametrize("height", [300, 110, 90])
def test_the_roofs_name_is_never_cut(qtbot, height: int) -> None:
    chart = RooflineChart(DARK)
    qtbot.addWidget(chart)
    chart.resize(320, 300)
    chart.show()
    chart.show_marks([mark("draft", 1.0, 2e9), mark("prefill", 50.0, 9e11)], ROOF)
    chart.resize(320, height)
    view = chart.getPlotItem().getViewBox()
    words = chart.roof_words.mapRectToScene(chart.roof_words.boundingRect())
    assert words.top() >= view.sceneBoundingRect().top() - 1
