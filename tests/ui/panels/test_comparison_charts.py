"""Acceptance and steps of several sessions on shared axes."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from tests.sessions.played import model_of, snapshot_of
from tests.sessions.recorded import script
from tests.ui.panels.compared import moment, shown, three
from ui.moment import View
from ui.panels.comparison_charts import Charts, ComparisonChartsPanel
from ui.theme import LIGHT

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # offscreen, for every window


def test_acceptance_is_on_shared_axes_and_steps_on_shared_time(qtbot: QtBot) -> None:
    panel = shown(ComparisonChartsPanel, three(), qtbot)
    digest = panel.digested
    assert isinstance(digest, Charts)
    plain, one, _ = digest.charts
    assert len(plain.position) == 0
    np.testing.assert_array_equal(one.position, [1.0, 2.0])
    np.testing.assert_array_equal(one.acceptance, [1.0, 1.0])
    assert len(panel.lines.items) == 2
    x, y = panel.lines.items[0].getData()
    np.testing.assert_array_equal(x, [1.0, 2.0])
    np.testing.assert_array_equal(y, [1.0, 1.0])
    np.testing.assert_array_equal(one.steps.n_tokens, [3, 3, 3, 3])
    np.testing.assert_array_equal(plain.steps.n_tokens, np.ones(12))
    assert (one.steps.end > one.steps.start).all()
    assert panel.timeline.highest == 3.0
    # All are over: the whole of the longest is shown.
    (x0, x1), _ = panel.timeline.getPlotItem().getViewBox().viewRange()
    assert x0 == pytest.approx(0.0, abs=1e-9)
    assert x1 == pytest.approx(1.02 * max(c.steps.end[-1] for c in digest.charts))


def test_while_they_play_the_newest_steps_are_followed() -> None:
    model = model_of(script(200))
    half = model.snapshot(1_000_000_000)
    digest = ComparisonChartsPanel.digest(moment(("a", half), ("b", half)), View())
    assert isinstance(digest, Charts)
    end = digest.charts[0].steps.end[-1]
    assert digest.x[1] == pytest.approx(end)
    assert 0 < digest.x[0] < end
    assert digest.charts[0].steps.playhead == pytest.approx(
        1.0 - model.snapshot().sequences["t_ns"][0] / 1e9
    )
    zoomed = ComparisonChartsPanel.digest(
        moment(("a", half), ("b", half)), View(window_ns=(500_000_000, 600_000_000))
    )
    assert isinstance(zoomed, Charts)
    assert zoomed.x[1] - zoomed.x[0] == pytest.approx(0.1)


def test_many_steps_share_blocks_that_are_their_mean() -> None:
    whole = snapshot_of(script(700))
    digest = ComparisonChartsPanel.digest(moment(("a", whole), ("b", whole)), View())
    assert isinstance(digest, Charts)
    steps = digest.charts[0].steps
    assert (len(steps.end), steps.n_steps) == (350, 2)
    np.testing.assert_allclose(steps.n_tokens, 3.0)
    assert (np.diff(steps.start) > 0).all()


def test_both_plots_copy_what_they_show_and_redress(qtbot: QtBot) -> None:
    panel = shown(ComparisonChartsPanel, three(), qtbot)
    header, *lines = panel.acceptance.csv().splitlines()
    assert header == "session,position,n_tested,acceptance"
    assert lines[0] == "xy,1,4,1.0"
    assert panel.timeline.csv().splitlines()[1].startswith("plain,")
    assert "xy 1.000 of 4" in panel._read(1.1, 0.5)
    panel.look.choose("light")
    assert panel.timeline.curves[0].opts["pen"].color().name().upper() == LIGHT.accepted
    panel.look.choose("dark")
