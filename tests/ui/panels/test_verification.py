import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine.wire.events import DraftProposed
from sessions.model import SessionModel
from sessions.snapshot import Snapshot
from tests.sessions.scripted import folded, with_settings
from tests.support.event_script import EventScript
from ui.look import Look
from ui.moment import Moment, TokenRef, View
from ui.panels.verification import StepPanel
from ui.step_digest import StepDigest
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


def story() -> Snapshot:
    """Step 0 both sequences, step 1 the second, step 2 the first."""
    script = EventScript()
    script.sequence("p")
    script.sequence("q")
    script.step(0, drafted=3, accepted=1, text="abc", more=True)
    script.step(1, drafted=2, accepted=2, text="xy")
    script.step(1, drafted=0, accepted=0)
    script.step(0, drafted=1, accepted=1, text="d", gamma=3)
    return folded(with_settings(script.events, temperature=0.5))


def digest(snapshot: Snapshot, view: View) -> StepDigest:
    found = StepPanel.digest(Moment(snapshot=snapshot, newest=snapshot), view)
    assert isinstance(found, StepDigest)
    return found


def show(panel: StepPanel, snapshot: Snapshot) -> StepDigest:
    found = digest(snapshot, panel.state.now)
    panel.show_digest(found)
    return found


def test_a_step_becomes_bars_with_the_steps_own_token_behind():
    found = digest(story(), View(sequence_id=0, step=0))
    assert found.bars.labels == ("a", "b", "c", "!")
    assert found.bars.fates == ("accepted", "rejected", "discarded", "recovered")
    assert found.bars.draft[:3].tolist() == [0.5] * 3
    assert np.isnan(found.bars.draft[3])
    assert found.bars.target.tolist() == [0.4, 0.1, 0.1, 0.3]
    assert found.bars.thresholds[:2].tolist() == pytest.approx([0.8, 0.2])
    assert np.isnan(found.bars.thresholds[2:]).all()  # never tested
    assert found.bars.uniforms[:2].tolist() == [0.6, 0.9]
    assert np.isnan(found.bars.uniforms[2:]).all()
    assert found.heading == "step 0 · 1 of 3 accepted"
    assert found.words.startswith("'b' was rejected")
    assert found.rows[1] == ("b", "0.50", "0.10", "0.20", "0.90", "0.70", "1.20")
    assert found.rows[2][4] == "n/a"
    assert found.rows[3] == ("! recovered", "n/a", "0.30", "n/a", "n/a", "n/a", "1.10")
    assert [s.sequence_id for s in found.sequences] == [0, 1]


def test_the_axis_has_room_for_gamma_so_that_it_stays():
    assert digest(story(), View(sequence_id=0)).bars.n_places == 4


def test_neighbours_are_the_sequences_own_steps():
    found = digest(story(), View(sequence_id=0))
    assert (found.step, found.before, found.behind) == (2, 0, None)
    found = digest(story(), View(sequence_id=0, step=0))
    assert (found.step, found.before, found.behind) == (0, None, 2)


def test_nothing_drafted_is_an_ordinary_token():
    found = digest(story(), View(sequence_id=1))
    assert found.heading == "step 1 · nothing drafted"
    assert found.words.startswith("Nothing was drafted")
    assert found.bars.labels == ("!",)


def test_words_are_about_the_selected_token():
    token = TokenRef(sequence_id=0, step=0, draft_index=2)
    found = digest(story(), View(sequence_id=0, step=0, token=token))
    assert found.bars.marked == 2
    assert "never tested" in found.words
    own = TokenRef(sequence_id=0, step=0)
    assert digest(story(), View(sequence_id=0, step=0, token=own)).bars.marked == 3
    assert digest(story(), View(sequence_id=1, step=0, token=own)).bars.marked is None


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


def test_greedy_decoding_says_so():
    script = EventScript()
    script.sequence("p")
    script.step()
    snapshot = folded(with_settings(script.events, temperature=0))
    assert "one-hot" in digest(snapshot, View()).words


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
