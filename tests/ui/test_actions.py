"""The table of acts: menus, keys and the shortcut sheet are made of it."""

from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from ui.actions import Act, install, sheet


def test_acts_run_by_menu_and_by_key(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    done: list[str] = []
    acts = (
        Act("&Session", "Open…", ("Ctrl+O",), lambda: done.append("open")),
        Act("", "Let go", ("Escape",), lambda: done.append("let go")),
    )
    made = install(window, acts)
    made["Open…"].trigger()
    made["Let go"].trigger()
    assert done == ["open", "let go"]
    assert made["Open…"].shortcut().toString() == "Ctrl+O"


def test_the_sheet_has_every_act_with_a_key(qtbot: QtBot) -> None:
    acts = (
        Act("&Time", "Play", ("Space",), lambda: None),
        Act("&Time", "No key", (), lambda: None),
        Act("", "Let go", ("Escape",), lambda: None),
    )
    assert sheet(acts) == [("Time", [("Space", "Play")]), ("More keys", [("Esc", "Let go")])]
