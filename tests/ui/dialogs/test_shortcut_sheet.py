"""The shortcut sheet: every key and what it does."""

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from ui.dialogs.shortcut_sheet import ShortcutSheet


def test_every_key_is_on_the_sheet(qtbot: QtBot) -> None:
    groups = [("Time", [("Space", "Play"), ("F", "Follow")]), ("View", [("Ctrl+1", "Watch")])]
    sheet = ShortcutSheet(groups)
    qtbot.addWidget(sheet)
    words = [label.text() for label in sheet.findChildren(QLabel)]
    assert words.count("TIME") == 1
    assert {"Space", "Play", "F", "Follow", "Ctrl+1", "Watch"} <= set(words)
    assert {"IN A PLOT", "Shift+F2", "Tags"} <= set(words)


def test_it_is_gone_when_it_is_closed(qapp: object) -> None:
    sheet = ShortcutSheet([])
    sheet.show()
    sheet.reject()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert not isValid(sheet)
