import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.wire.events import DraftProposed
from sessions.model import SessionModel
from sessions.snapshot import Snapshot
from tests.sessions.scripted import folded
from tests.support.event_script import EventScript
from tests.ui.step.test_step_digest import story
from ui.look import Look
from ui.moment import Moment, TokenRef, View
from ui.panels.verification import StepPanel
from ui.step.step_digest import StepDigest
from ui.view_state import ViewState


@pytest.fixture
def look(qtbot: QtBot) -> Look:
    return Look("dark")


@pytest.fixture
def panel(look: Look, qtbot: QtBot) -> StepPanel:
    panel = StepPanel(ViewState(), look)
    qtbot.addWidget(panel)
    panel.resize(600, 460)
    panel.show()
    return panel


def digest(snapshot: Snapshot, view: View) -> StepDigest:
    found = StepPanel.digest(Moment(snapshot=snapshot, newest=snapshot), view)
    assert isinstance(found, StepDigest)
    return found


def show(panel: StepPanel, snapshot: Snapshot) -> StepDigest:
    found = digest(snapshot, panel.state.now)
    panel.show_digest(found)
    return found


def test_a_draft_that_nobody_judged_is_shown_alone(panel: StepPanel):
    script = EventScript()
    script.sequence("p")
    script.step(drafted=2, accepted=1, text="ab")
    model = SessionModel()
    model.consume(script.events)
    proposed = next(e for e in script.events if isinstance(e, DraftProposed))
    found = show(panel, model.snapshot(proposed.t_ns))
    assert found.is_waiting
    assert found.heading == "step 0 · 2 drafted, waiting for the target"
    assert found.bars.fates == ("waiting", "waiting")
    assert panel.plot.draft_bars.opts["height"].tolist() == [0.5, 0.5]
    assert len(panel.plot.target_bars.opts["height"]) == 0


def test_a_click_on_a_bar_or_a_row_selects_the_token(panel: StepPanel):
    panel.state.select_sequence(0)
    panel.state.select_step(0)
    show(panel, story())
    panel.plot.clicked.emit(1.2, 0.5)
    assert panel.state.now.token == TokenRef(sequence_id=0, step=0, draft_index=1)
    panel.table.cellClicked.emit(3, 0)
    assert panel.state.now.token == TokenRef(sequence_id=0, step=0)
    version = panel.state.version
    panel.plot.clicked.emit(7.0, 0.5)
    assert panel.state.version == version


def test_buttons_go_from_step_to_step_of_the_sequence(panel: StepPanel, qtbot: QtBot):
    panel.state.select_sequence(0)
    show(panel, story())
    assert not panel.newest_button.isVisible()
    assert not panel.behind_button.isEnabled()
    qtbot.mouseClick(panel.before_button, Qt.MouseButton.LeftButton)
    assert (panel.state.now.sequence_id, panel.state.now.step) == (0, 0)
    show(panel, story())
    assert panel.newest_button.isVisible()
    qtbot.mouseClick(panel.behind_button, Qt.MouseButton.LeftButton)
    assert panel.state.now.step == 2
    show(panel, story())
    qtbot.mouseClick(panel.newest_button, Qt.MouseButton.LeftButton)
    assert panel.state.now.step is None


def test_a_list_chooses_among_the_sequences_of_the_step(panel: StepPanel):
    panel.state.select_step(0)
    show(panel, story())
    assert [panel.bar.list.itemText(i) for i in range(2)] == ["0", "1"]
    panel.bar.list.activated.emit(0)
    assert panel.state.now.sequence_id == 0
    panel.state.select_step(2)
    show(panel, story())
    assert not panel.bar.isVisible()


def test_the_read_out_gives_all_figures(panel: StepPanel):
    panel.state.select_step(0)
    panel.state.select_sequence(0)
    show(panel, story())
    assert panel._read_out(0.1, 0.5).splitlines() == [
        "a", "draft 0.50", "target 0.40", "ratio 0.80", "uniform 0.60", "overlap 0.70",
        "entropy 1.20",
    ]  # fmt: skip
    assert panel._read_out(9, 0.5) == ""


def test_a_small_panel_has_no_table_and_says_less(panel: StepPanel):
    panel.state.select_step(0)
    show(panel, story())
    assert panel.table.isVisible()
    panel.resize(260, 170)
    assert not panel.table.isVisible()
    assert panel.heading.text() == "step 0"
    assert panel.plot.height() >= 60


def test_before_the_first_step_the_panel_says_what_it_will_show(panel: StepPanel):
    snapshot = folded(EventScript().events)
    panel.show_digest(StepPanel.digest(Moment(snapshot=snapshot, newest=snapshot), View()))
    assert panel.is_empty


def test_another_theme_recolours(panel: StepPanel, look: Look):
    show(panel, story())
    before = panel.plot.target_caps.opts["brush"].color()
    look.choose("light")
    assert panel.plot.target_caps.opts["brush"].color() != before


def test_a_models_markup_is_text(panel: StepPanel):
    script = EventScript()
    script.sequence("p")
    script.step(drafted=3, accepted=0, text="<b>")
    show(panel, folded(script.events))
    assert panel.words.textFormat() is Qt.TextFormat.PlainText
    assert "&lt;" in panel.words.toolTip()
