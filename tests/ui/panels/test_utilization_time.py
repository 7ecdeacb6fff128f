"""Utilization over time as it is drawn, and what a low panel leaves out."""

import pytest

from tests.sessions.played import snapshot_of
from tests.ui.panels.sampled import digested, gpu, host, spans
from ui.look import Look
from ui.moment import Moment, View
from ui.panels.utilization_time import UtilizationTimePanel
from ui.view_state import ViewState


def test_nothing_sampled_nothing_counted() -> None:
    nothing = snapshot_of([])
    assert UtilizationTimePanel.digest(Moment(snapshot=nothing, newest=nothing), View()) is None


def test_what_is_drawn_and_what_a_low_panel_leaves_out(qtbot) -> None:
    panel = UtilizationTimePanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(600, 400)
    panel.show()
    panel.show_digest(digested(host(1), spans(2), host(12)))
    assert [chart.isVisible() for chart in panel.charts] == [True, True, True]
    assert panel.charts[0].curves[0].getData()[1][0] == pytest.approx(4.0)
    assert panel.charts[0].getPlotItem().getAxis("left").labelText == "GFLOP/s"
    assert panel.charts[0].csv().splitlines()[0] == "line,t_s,GFLOP/s"
    assert "n/a" in panel.strip.text()
    assert "no GPU" in panel.strip.toolTip()
    assert panel.strip.toolTip().startswith("<p")  # escaped: reasons come from drivers
    assert "compute 4 GFLOP/s" in panel._read(0, 1.2, 0.0)
    panel.resize(260, 150)
    assert [chart.isVisible() for chart in panel.charts] == [True, False, False]
    panel.look.choose("light")
    assert panel.charts[0].curves[0].opts["pen"].color().name() == panel.theme.text.lower()
    panel.resize(600, 400)
    panel.show_digest(digested(gpu(1), gpu(2)))
    assert [chart.isVisible() for chart in panel.charts] == [True, True, False]
