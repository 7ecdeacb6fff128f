import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from pytestqt.qtbot import QtBot

from engine.wire.events import DraftProposed
from sessions.model import SessionModel
from sessions.snapshot import Snapshot
from sessions.token_trail import TrailKind
from tests.sessions.scripted import folded
from tests.support.event_script import EventScript
from ui.look import Look
from ui.moment import Moment, TokenRef, View
from ui.panels.token_stream import TokensDigest, TokensPanel, legend
from ui.theme import DARK
from ui.view_state import ViewState


@pytest.fixture
def state() -> ViewState:
    return ViewState()


@pytest.fixture
def look(qtbot: QtBot) -> Look:
    return Look("dark")


@pytest.fixture
def panel(state: ViewState, look: Look, qtbot: QtBot) -> TokensPanel:
    panel = TokensPanel(state, look)
    qtbot.addWidget(panel)
    panel.resize(760, 300)
    panel.show()
    return panel


def batch(n_sequences: int = 2) -> Snapshot:
    script = EventScript()
    for number in range(n_sequences):
        script.sequence("pq", label="json" if not number else "")
    for number in range(n_sequences):
        script.step(number, drafted=3, accepted=1, text="abc", more=number + 1 < n_sequences)
    return folded(script.events)


def digest(snapshot: Snapshot, view: View) -> TokensDigest:
    found = TokensPanel.digest(Moment(snapshot=snapshot, newest=snapshot), view)
    assert isinstance(found, TokensDigest)
    return found


def show(panel: TokensPanel, snapshot: Snapshot) -> TokensDigest:
    found = digest(snapshot, panel.state.now)
    panel.show_digest(found)
    return found


def test_the_digest_holds_the_text_looked_at_and_its_neighbours():
    found = digest(batch(6), View(sequence_id=4))
    assert [text.sequence.sequence_id for text in found.texts] == [4, 5]
    assert found.place == 0
    assert [each.name for each in found.sequences][:2] == ["0 json", "1"]
    trail = found.texts[0].trail
    assert "".join(trail.texts(0, len(trail))) == "pqabc!"


def test_selected_tokens_are_marked_where_they_are():
    view = View(sequence_id=0, step=0, token=TokenRef(sequence_id=0, step=0, draft_index=2))
    zero, one = digest(batch(), view).texts
    assert (zero.marked_step, zero.marked_item) == (0, 4)
    assert (one.marked_step, one.marked_item) == (0, None)
    hidden = View(
        sequence_id=0, step=0, token=TokenRef(sequence_id=0, step=0, draft_index=2),
        shows_refused=False,
    )  # fmt: skip
    assert digest(batch(), hidden).texts[0].marked_item is None
    assert digest(batch(), View(sequence_id=0, step=5)).texts[0].marked_step is None


def test_before_the_first_sequence_the_panel_says_what_it_will_show(panel: TokensPanel):
    snapshot = folded(EventScript().events)
    panel.show_digest(TokensPanel.digest(Moment(snapshot=snapshot, newest=snapshot), View()))
    assert panel.is_empty


def test_clicks_and_keys_select_tokens(panel: TokensPanel, qtbot: QtBot):
    panel.state.select_sequence(0)
    show(panel, batch())
    view = panel.columns[0].view
    kinds = panel.columns[0].text.trail.kind.tolist()  # type: ignore[union-attr]
    rejected, recovered = kinds.index(TrailKind.REJECTED), kinds.index(TrailKind.RECOVERED)
    for item, index in ((rejected, 1), (recovered, None)):
        place = view.rect_of(item).center().toPoint()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        assert panel.state.now.token == TokenRef(sequence_id=0, step=0, draft_index=index)
        assert panel.state.now.step == 0
    show(panel, batch())
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert panel.state.now.token == TokenRef(sequence_id=0, step=0, draft_index=2)
    qtbot.keyClick(view, Qt.Key.Key_Escape)
    assert panel.state.now.token is None
    before = panel.state.version
    place = view.rect_of(0).center().toPoint()  # the prompt
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panel.state.version == before


def test_tabs_choose_the_sequence(panel: TokensPanel):
    show(panel, batch())
    assert panel.bar.tabs.count() == 2
    assert panel.bar.tabs.currentIndex() == 1
    panel.bar.tabs.setCurrentIndex(0)
    assert panel.state.now.sequence_id == 0
    show(panel, batch(12))
    assert panel.bar.list.count() == 12
    assert panel.bar.tabs.isHidden()
    panel.bar.list.activated.emit(7)
    assert panel.state.now.sequence_id == 7


def test_one_sequence_needs_no_tabs(panel: TokensPanel):
    show(panel, batch(1))
    assert not panel.bar.isVisible()


def test_columns_show_up_to_four_side_by_side(panel: TokensPanel):
    panel.state.select_sequence(1)
    show(panel, batch(6))
    assert [column.isVisible() for column in panel.columns] == [True]
    panel.columns_button.setChecked(True)
    shown = [c.text.sequence.sequence_id for c in panel.columns if c.isVisible() and c.text]
    assert shown == [0, 1, 2, 3]
    panel.resize(360, 300)
    shown = [c.text.sequence.sequence_id for c in panel.columns if c.isVisible() and c.text]
    assert shown == [0, 1]


def test_the_card_tells_of_the_token_under_the_mouse(panel: TokensPanel):
    panel.state.select_sequence(0)
    show(panel, batch())
    column = panel.columns[0]
    item = column.text.trail.find(0, 1)  # type: ignore[union-attr]
    assert item is not None
    column.view.hovered.emit(item, QPoint(20, 20))
    assert panel.card.isVisible()
    assert panel.card.title.text() == "'b'  rejected"
    assert "the number drawn was 0.90, above it" in panel.card.words.text()
    figures = {name.text(): value.text() for name, value in panel.card._figures}
    assert figures["draft probability"] == "0.50"
    assert figures["target / draft"] == "0.20"
    assert figures["place in the draft"] == "2 of 3"
    assert panel.window().rect().contains(panel.card.geometry())
    column.view.hovered.emit(0, QPoint(20, 20))
    assert panel.card.words.text() == "Given, not generated."
    column.view.hovered.emit(-1, QPoint())
    assert not panel.card.isVisible()


def test_a_draft_that_waits_for_the_target_is_shown_and_told(panel: TokensPanel):
    script = EventScript()
    script.sequence("p")
    script.step(drafted=2, accepted=1, text="ab")
    model = SessionModel()
    model.consume(script.events)
    proposed = next(e for e in script.events if isinstance(e, DraftProposed))
    show(panel, model.snapshot(proposed.t_ns))
    column = panel.columns[0]
    column.view.hovered.emit(1, QPoint(20, 20))
    assert panel.card.title.text() == "'a'  proposed"
    assert "waiting for the target" in panel.card.words.text()


def test_markup_of_a_model_is_text(panel: TokensPanel):
    script = EventScript()
    script.sequence("p")
    script.step(drafted=9, accepted=9, text="<b>\u202e</b>")
    show(panel, folded(script.events))
    view = panel.columns[0].view
    view.select_all()
    assert view.selected_text() == "p<b>\u202e</b>!"
    view.hovered.emit(4, QPoint(20, 20))
    assert panel.card.title.text() == r"'\u202e'  accepted"
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in panel.card.words.text()
    assert panel.card.title.textFormat() is Qt.TextFormat.PlainText


def test_the_legend_is_told_in_the_styles_of_the_text(panel: TokensPanel, qtbot: QtBot):
    with qtbot.waitSignal(panel.noted) as told:
        show(panel, batch())
    assert told.args is not None
    assert "<u>recovered</u>" in told.args[0]
    assert "<s>rejected</s>" in told.args[0]
    assert "rejected" not in legend(DARK, has_refused=False)


def test_where_the_title_has_no_room_the_legend_has_lines_of_its_own(
    panel: TokensPanel, qtbot: QtBot
):
    panel.resize(240, 300)
    with qtbot.waitSignal(panel.noted) as told:
        show(panel, batch())
    assert told.args == [""]
    assert panel.legend.isVisible()
    assert "discarded" in panel.legend.text()
    assert panel.legend.height() >= panel.legend.heightForWidth(panel.legend.width())
    with qtbot.waitSignal(panel.noted) as told:
        panel.resize(500, 300)
    assert "discarded" in told.args[0]
    assert panel.legend.isHidden()


def test_another_theme_redraws(panel: TokensPanel, look: Look):
    show(panel, batch())
    view = panel.columns[0].view
    before = view.viewport().grab().toImage()
    look.choose("light")
    assert view.theme.name == "light"
    assert view.viewport().grab().toImage() != before
    assert view.item_at(QPointF(view.rect_of(1).center())) == 1


def test_a_sequences_name_is_shown_as_it_is(panel: TokensPanel):
    assert panel.columns[0].name.textFormat() is Qt.TextFormat.PlainText
