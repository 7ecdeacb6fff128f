"""The stage: cards in their layouts, kept as they were left, and brought to the front."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot

from tests.support.scripted_sessions import ScriptedWorkshop, script_of, session_of
from tests.ui.tab_stops import order_from
from ui.layouts import PRESETS, keys_of
from ui.look import Look
from ui.moment import Moment, TokenRef
from ui.open_session import OpenSession
from ui.plain_text import plain_tip
from ui.preferences import Preferences
from ui.session_controller import SessionController
from ui.stage import Stage
from ui.view_state import ViewState
from ui.workshop import Started


@pytest.fixture
def stage(qtbot: QtBot, tmp_path: Path) -> Iterator[Stage]:
    controller = SessionController(ScriptedWorkshop())
    preferences = Preferences(tmp_path / "window.json")
    stage = Stage(controller, ViewState(), Look("dark"), preferences)
    qtbot.addWidget(stage)
    stage.resize(1400, 900)
    stage.show()
    qtbot.waitExposed(stage)
    yield stage
    controller.close()


def seen_in(stage: Stage) -> set[str]:
    """The cards that are seen, once all of them are made: one at a time."""
    for _ in stage.docks:
        panels = stage.visible_panels()
    return {panel.key for panel in panels} - {"tiles"}


def test_one_panel_is_made_at_a_time(stage: Stage) -> None:
    stage.lay_out("why")
    n_made = [sum(dock.is_made for dock in stage.docks.values())]
    for _ in range(3):
        stage.visible_panels()
        n_made.append(sum(dock.is_made for dock in stage.docks.values()))
    assert n_made == [0, 1, 2, 3]


def test_until_a_recording_is_there_no_second_panel_is_made(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = OpenSession(Started("a", session_of(script_of(2)), None))
    stage._controller.take(shown)
    stage.lay_out("why")

    def n_made(*, is_blank: bool) -> int:
        monkeypatch.setattr(OpenSession, "is_blank", is_blank)
        stage.visible_panels()
        return sum(dock.is_made for dock in stage.docks.values())

    assert [n_made(is_blank=True) for _ in range(3)] == [1, 1, 1]
    # The first frames in which it comes are for what is there already.
    assert [n_made(is_blank=False) for _ in range(5)] == [1, 1, 2, 3, 4]


def test_panels_are_loaded_while_nothing_is_looked_at(stage: Stage) -> None:
    assert not any(dock.is_loaded for dock in stage.docks.values())
    stage.show_moment(None)
    assert sum(dock.is_loaded for dock in stage.docks.values()) == 1
    for _ in stage.docks:
        stage.show_moment(None)
    assert all(dock.is_loaded and not dock.is_made for dock in stage.docks.values())


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_shows_its_cards_alone(stage: Stage, preset: object) -> None:
    stage.lay_out(preset.key)  # type: ignore[attr-defined]
    keys = keys_of(preset.tree)  # type: ignore[attr-defined]
    shown = {key for key, dock in stage.docks.items() if not dock.isHidden()}
    assert shown == set(keys)
    seen = seen_in(stage)
    assert seen <= set(keys)
    assert keys[0] in seen


def test_a_layout_comes_back_as_it_was_left(stage: Stage) -> None:
    stage.lay_out("watch")
    stage.docks["roofline"].hide()
    stage.lay_out("memory")
    stage.lay_out("watch")
    assert stage.docks["roofline"].isHidden()
    stage.reset_layout()
    assert not stage.docks["roofline"].isHidden()


def test_evidence_is_brought_to_the_front_also_from_another_layout(
    stage: Stage, qtbot: QtBot
) -> None:
    stage.lay_out("compare")
    stage.show_panel("waterfall")
    qtbot.wait(20)
    assert "waterfall" in seen_in(stage)
    stage.show_panel("no such card")


def test_a_card_that_is_scrolled_away_is_brought_into_sight(stage: Stage, qtbot: QtBot) -> None:
    stage.resize(900, 420)
    stage.lay_out("watch")
    seen_in(stage)
    qtbot.wait(20)
    assert not stage.docks["waterfall"].is_seen
    stage.show_panel("waterfall")
    qtbot.wait(20)
    assert stage.docks["waterfall"].is_seen
    bottom = stage.docks["waterfall"].visibleRegion().boundingRect().bottom()
    assert bottom >= stage.docks["waterfall"].height() - 20


def test_one_session_is_looked_at_as_before(stage: Stage) -> None:
    assert stage.layout_of_one == "watch"
    stage.lay_out("why")
    assert stage.layout_of_one == "why"
    stage.lay_out("compare")
    assert stage.layout_of_one == "watch"


def test_figures_are_narrowed_by_choice_alone_and_that_is_said(stage: Stage) -> None:
    snapshot = session_of(script_of(4, n_sequences=2)).snapshot()
    stage.show_moment(Moment(snapshot=snapshot, newest=snapshot))
    state = stage._state
    state.select_token(TokenRef(sequence_id=0, step=2, draft_index=0))
    assert state.now.only_sequence_id is None
    assert stage.narrowed.isHidden()
    stage.toggle_narrow()
    assert state.now.only_sequence_id == 0
    assert "sequence 0 alone" in stage.narrowed.text()
    assert not stage.narrowed.isHidden()
    stage.narrowed.click()
    assert state.now.only_sequence_id is None


def test_no_tab_bar_of_another_layout_stays(stage: Stage, qtbot: QtBot) -> None:
    for key in ("watch", "why", "compare", "why", "watch", "compare"):
        stage.lay_out(key)
        qtbot.wait(20)
        shown = {
            bar.tabText(place)
            for bar in stage.host.findChildren(QTabBar)
            if bar.parent() is stage.host and bar.isVisible()
            for place in range(bar.count())
        }
        titles = {d.windowTitle() for d in stage.docks.values() if not d.isHidden()}
        assert shown <= titles, key


def test_a_sessions_name_is_shown_as_it_is(stage: Stage) -> None:
    path = Path("a&b <s>.specscope")
    session = OpenSession(Started("a&b <s>", session_of(script_of()), path))
    stage.show_tabs([session], session)
    assert stage.tabs.tabText(0) == "a&&b <s>"
    assert stage.tabs.tabToolTip(0) == plain_tip(str(path))


def test_tab_goes_through_the_cards_as_they_are_read(stage: Stage) -> None:
    stage.lay_out("sessions")
    for key in ("findings", "sessions", "tokens"):
        assert stage.docks[key].panel.key == key  # made now
    for _ in range(3):  # frames: ordered once for all of them
        stage.show_moment(None)
    first = stage.docks["sessions"].panel.bar.search  # type: ignore[attr-defined]
    met: list[str] = []
    for each in order_from(first, 100):
        part = next((p for p in stage.docks.values() if p.isAncestorOf(each)), stage.transport)
        if part.isAncestorOf(each) and part.objectName() not in met[-1:]:
            met.append(part.objectName())
    assert met == ["sessions", "tokens", "findings", stage.transport.objectName()]
