"""The menus: every act has a name of its own, and no key means two things."""

from collections import Counter
from unittest.mock import MagicMock, call

from PySide6.QtWidgets import QDockWidget, QMenuBar
from pytestqt.qtbot import QtBot

from ui.bars.transport_bar import TransportBar
from ui.layouts import PRESETS
from ui.menu_table import add_cards, menu_table


def test_no_key_means_two_things() -> None:
    keys = Counter(key for act in menu_table(MagicMock()) for key in act.keys)
    assert [key for key, n in keys.items() if n > 1] == []


def test_every_act_has_a_name_of_its_own() -> None:
    names = Counter(act.text for act in menu_table(MagicMock()))
    assert [name for name, n in names.items() if n > 1] == []


def test_every_layout_can_be_reached() -> None:
    window = MagicMock()
    texts = {act.text: act for act in menu_table(window)}
    for preset in PRESETS:
        texts[preset.name].run()
    assert [call.args[0] for call in window.lay_out.call_args_list] == [p.key for p in PRESETS]


def test_every_act_does_something_there_is() -> None:
    """Names that are looked up late are those of the bar."""
    window = MagicMock()
    window.transport = MagicMock(spec=TransportBar)
    for act in menu_table(window):
        act.run()
    assert window.transport.to_bookmark.call_args_list == [call(), call(-1)]


def test_cards_are_ticked_while_they_are_laid_out(qtbot: QtBot) -> None:
    window, bar, docks = MagicMock(), QMenuBar(), [QDockWidget("One"), QDockWidget("Two")]
    for dock in docks:
        dock.title = dock.windowTitle()  # type: ignore[attr-defined]
    for widget in (bar, *docks):
        qtbot.addWidget(widget)
    view = bar.addMenu("&View")
    window.menuBar.return_value = bar
    for dock in docks:
        dock.setObjectName(dock.windowTitle().lower())
    add_cards(window, docks)  # type: ignore[arg-type]
    cards = view.actions()[-1].menu()
    docks[0].show()
    for is_shown in (True, False):
        docks[1].setVisible(is_shown)
        cards.aboutToShow.emit()
        assert [act.isChecked() for act in cards.actions()] == [True, is_shown]
    cards.actions()[1].trigger()
    assert window.show_panel.call_args_list == [call("two")]
    cards.actions()[0].trigger()
    assert docks[0].isHidden()
