"""Keys of the window that a widget with the keyboard knows, too: the widget has them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from sessions.playhead import Mode
from tests.ui.library.test_library_form import row
from tests.ui.test_main_window import Driven
from ui.panels.library import LibraryPanel
from ui.panels.timeline import TimelinePanel
from ui.panels.token_stream import TokensPanel
from ui.plots.block_grid import BlockGrid
from ui.plots.plot import Plot

Key = Qt.Key


@pytest.fixture
def driven(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Driven]:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    driven = Driven(qtbot, tmp_path)
    driven.window.activateWindow()
    qtbot.waitUntil(driven.window.isActiveWindow)
    yield driven
    driven.window.close()


def press(widget: QWidget, *keys: Qt.Key) -> None:
    """As with the keyboard in ``widget``."""
    widget.setFocus()
    assert widget.hasFocus()
    for key in keys:
        QTest.keyClick(widget, key)


def mode_of(driven: Driven) -> Mode:
    shown = driven.window.controller.shown
    assert shown is not None
    return shown.playhead.mode


def in_layout(driven: Driven, key: str) -> None:
    driven.window.open_example()
    driven.window.lay_out(key)
    driven.tick(8)


@pytest.mark.parametrize("key", [Key.Key_Space, Key.Key_Return, Key.Key_Enter])
def test_a_button_is_pressed(driven: Driven, key: Qt.Key) -> None:
    in_layout(driven, "watch")
    button = driven.window.transport.findChildren(QPushButton)[0]
    told: list[bool] = []
    button.clicked.connect(lambda: told.append(True))
    before = mode_of(driven)
    press(button, key)
    assert len(told) == 1
    assert mode_of(driven) is before


def test_a_button_that_is_not_known_to_dialogs_is_pressed_by_return_once(driven: Driven) -> None:
    told: list[str] = []
    driven.window.start.kind_wanted.connect(told.append)
    driven.engine()
    press(driven.window.start.kind_buttons["json"], Key.Key_Return)
    assert told == ["json"]


def test_a_choice_is_opened_and_walked_through(driven: Driven) -> None:
    in_layout(driven, "watch")
    speed = driven.window.transport.speed
    press(speed, Key.Key_End)
    assert speed.currentIndex() == speed.count() - 1
    press(speed, Key.Key_Home)
    assert speed.currentIndex() == 0
    before = mode_of(driven)
    press(speed, Key.Key_Space)
    assert speed.view().isVisible()
    speed.hidePopup()
    assert mode_of(driven) is before
    focused = QApplication.focusWidget()
    assert focused is not None
    press(focused, Key.Key_Space)  # not the list again: whoever chose a speed means to play
    assert not speed.view().isVisible()
    assert mode_of(driven) is Mode.PLAYING


def test_a_list_is_walked_through_and_searched_by_letters(driven: Driven) -> None:
    in_layout(driven, "sessions")
    panel = driven.window.stage.docks["sessions"].panel
    assert isinstance(panel, LibraryPanel)
    table, shown = panel.table, driven.window.controller.shown
    assert shown is not None
    table.show()
    table.show_rows([row("anna"), row("berta"), row("carl")])
    table.select([Path("carl.specscope")])
    at = shown.playhead.t_ns
    press(table, Key.Key_B)
    assert [each.name for each in table.selected()] == ["berta"]
    assert shown.bookmarks == []
    press(table, Key.Key_Right, Key.Key_Right, Key.Key_Left)
    assert table.currentIndex().column() == 1
    press(table, Key.Key_Home)
    assert table.currentIndex().column() == 0
    table.clearSelection()
    press(table, Key.Key_Space)
    assert [each.name for each in table.selected()] == ["berta"]
    assert shown.playhead.t_ns == at


def test_the_text_is_walked_through(driven: Driven) -> None:
    in_layout(driven, "watch")
    panel = driven.window.stage.docks["tokens"].panel
    assert isinstance(panel, TokensPanel)
    view, shown = panel.columns[0].view, driven.window.controller.shown
    assert shown is not None
    at = shown.playhead.t_ns
    press(view, Key.Key_Left)
    assert driven.window.state.now.token is not None
    press(view, Key.Key_Home)
    assert not view.follows or view.top_row == 0
    assert shown.playhead.t_ns == at
    press(view, Key.Key_Space)  # which the text does not know
    assert mode_of(driven) is Mode.PLAYING


def test_blocks_are_walked_through(driven: Driven) -> None:
    in_layout(driven, "memory")
    grid = driven.window.stage.docks["kv-blocks"].panel.findChildren(BlockGrid)[0]
    chosen: list[int] = []
    grid.chosen.connect(chosen.append)
    press(grid, Key.Key_Right)
    assert len(chosen) == 1


def test_home_shows_all_of_a_plot(driven: Driven) -> None:
    in_layout(driven, "watch")
    plots = driven.window.stage.docks["throughput"].panel.findChildren(Plot)
    plot = plots[0]
    moved: list[bool] = []
    plot.moved.connect(lambda: moved.append(True))
    shown = driven.window.controller.shown
    assert shown is not None
    at = shown.playhead.t_ns
    press(plot, Key.Key_Home)
    assert moved == [True]
    assert shown.playhead.t_ns == at


def test_in_a_floating_card_too(driven: Driven, qtbot: QtBot) -> None:
    in_layout(driven, "memory")
    dock = driven.window.stage.docks["kv-blocks"]
    grid = dock.panel.findChildren(BlockGrid)[0]
    dock.setFloating(True)
    dock.activateWindow()
    qtbot.waitUntil(dock.isActiveWindow)
    chosen: list[int] = []
    grid.chosen.connect(chosen.append)
    press(grid, Key.Key_Right)
    assert len(chosen) == 1
    dock.setFloating(False)


def test_pictures_have_names(driven: Driven) -> None:
    in_layout(driven, "memory")
    driven.tick(8)
    grid = driven.window.stage.docks["kv-blocks"].panel.findChildren(BlockGrid)[0]
    assert grid.accessibleName()
    transport = driven.window.transport
    assert transport._buttons["play"].accessibleName().startswith("Play")
    assert transport.slider.accessibleName()
    assert transport.speed.accessibleName()
    assert driven.window.stage.tabs.accessibleName()


def test_a_card_knows_keys_for_what_it_holds(driven: Driven) -> None:
    in_layout(driven, "watch")
    panel = driven.window.stage.docks["timeline"].panel
    assert isinstance(panel, TimelinePanel)
    driven.window.state.look_at((1, 2))
    press(panel.plots[0], Key.Key_End)
    assert driven.window.state.now.window_ns is None
