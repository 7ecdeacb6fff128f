"""Menus are gone when they are closed."""

from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QPoint
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from ui.menus import pop_up


class ClosedAtOnce(QMenu):
    def exec(self, *place: Any) -> None:
        self.place = place


def test_a_closed_menu_is_let_go(qtbot: QtBot) -> None:
    widget = QWidget()
    qtbot.addWidget(widget)
    menu = ClosedAtOnce(widget)
    pop_up(menu, QPoint(3, 4))
    assert menu.place == (QPoint(3, 4),)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert widget.findChildren(QMenu) == []
