import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.text.token_card import TokenCard
from ui.theme import DARK


@pytest.mark.parametrize("corner", [QPoint(10, 20), QPoint(590, 390), QPoint(-50, -80)])
def test_the_card_stays_inside_the_window(qtbot: QtBot, corner: QPoint):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(600, 400)
    window.show()
    card = TokenCard(DARK)
    card.tell(
        window,
        window.mapToGlobal(corner),
        title="'x'",
        figures=[("draft probability", "0.50"), ("entropy", "1.20 nats")],
        words="many words " * 20,
    )
    assert card.isVisible()
    assert window.rect().contains(card.geometry())


def test_figures_of_the_token_before_are_gone(qtbot: QtBot):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(600, 400)
    window.show()
    card = TokenCard(DARK)
    card.tell(window, QPoint(), title="a", figures=[("one", "1"), ("two", "2")], words="")
    card.tell(window, QPoint(), title="b", figures=[("three", "3")], words="")
    shown = [(n.text(), v.text()) for n, v in card._figures if n.isVisible()]
    assert shown == [("three", "3")]
    assert not card.words.isVisible()
