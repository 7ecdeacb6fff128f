"""The planner: useful without a session, and filled from one."""

from pathlib import Path

from pytestqt.qtbot import QtBot

from tests.sessions.played import drafted, snapshot_of
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
