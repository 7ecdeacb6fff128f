"""The planner: useful without a session, and filled from one."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea
from pytestqt.qtbot import QtBot

from tests.sessions.played import drafted, snapshot_of
from tests.ui.wheel import turn_wheel
from ui.look import Look
from ui.moment import Moment, View
from ui.panels.planner import PlannerPanel
from ui.panels.planner_session import SessionFigures
from ui.view_state import ViewState


def test_it_is_of_use_while_nothing_is_open(qtbot: QtBot) -> None:
    panel = PlannerPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(700, 480)
    panel.show()
    assert not panel.is_empty
    assert panel.speedup.plan is not None
    nothing = snapshot_of([])
    digest = PlannerPanel.digest(Moment(snapshot=nothing, newest=nothing), View())
    assert isinstance(digest, SessionFigures)
    with qtbot.waitSignal(panel.noted) as noted:
        panel.show_digest(digest)
    assert noted.args[0].startswith("best")
    with qtbot.waitSignal(panel.noted) as noted:
        panel.tabs.setCurrentIndex(1)
    assert "GiB" in noted.args[0]
    panel.look.choose("light")
    assert panel.memory.plot.theme.name == "light"


def test_it_begins_with_the_open_session_until_somebody_types(qtbot: QtBot) -> None:
    panel = PlannerPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    events = drafted([2, 4, 0, 3], 4, draft_ns=10, target_ns=(100, 101, 102, 103, 104))
    snapshot = snapshot_of(events)
    digest = PlannerPanel.digest(Moment(snapshot=snapshot, newest=snapshot), View())
    panel.show_digest(digest)
    assert panel.speedup.alpha.value() == 0.75
    panel.speedup.alpha.setValue(0.9)
    panel.show_digest(digest)
    assert panel.speedup.alpha.value() == 0.9


def test_models_that_are_here_can_be_planned(qtbot: QtBot, tmp_path: Path) -> None:
    panel = PlannerPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    (tmp_path / "config.json").write_text("{}")
    bundled = Path("resources/models/target").absolute()
    panel.offer({"bundled-target": bundled, "unreadable": tmp_path})
    target = panel.memory.target
    assert target.findText("bundled-target") >= 0
    assert target.findText("unreadable") < 0
    target.setCurrentText("bundled-target")
    assert panel.memory.plan is not None


def test_the_wheel_scrolls_a_form_whatever_it_passes(qtbot: QtBot) -> None:
    panel = PlannerPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(430, 200)
    panel.show()
    for place, form in enumerate((panel.speedup, panel.memory)):
        panel.tabs.setCurrentIndex(place)
        area = panel.tabs.currentWidget()
        assert isinstance(area, QScrollArea)
        bar, view = area.verticalScrollBar(), form.plot.getPlotItem().getViewBox()
        before = view.viewRange(), form.inputs()
        passed = [form.plot.viewport(), form.gamma]
        passed += [panel.memory.device, panel.memory.target] if place else []
        for widget in passed:
            area.ensureWidgetVisible(widget)
            place = bar.value()
            turn_wheel(widget, up=place > 0)
            assert bar.value() != place
        assert (view.viewRange(), form.inputs()) == before
        area.ensureWidgetVisible(form.plot)
        turn_wheel(form.plot.viewport(), keys=Qt.KeyboardModifier.ControlModifier)
        assert view.viewRange() != before[0]


def test_the_memorys_answer_is_seen_without_scrolling(qtbot: QtBot) -> None:
    panel = PlannerPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(480, 300)
    panel.show()
    panel.tabs.setCurrentIndex(1)
    words = panel.memory.words
    assert "fits on" in words.text()
    assert words.visibleRegion().boundingRect() == words.rect()
