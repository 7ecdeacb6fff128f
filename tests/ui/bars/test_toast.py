"""A word that goes away, unless another came meanwhile, and that moves nothing."""

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.bars.toast import Toast


@pytest.fixture
def page(qtbot: QtBot) -> QWidget:
    page = QWidget()
    qtbot.addWidget(page)
    QVBoxLayout(page).addWidget(QLabel("what is looked at"))
    page.resize(400, 300)
    page.show()
    return page


def test_it_goes_away_after_a_while(page: QWidget) -> None:
    later: list[Callable[[], None]] = []
    toast = Toast(page, lambda _seconds, act: later.append(act))
    toast.say("one")
    toast.say("two")
    later[0]()
    assert not toast.isHidden()
    assert toast.text() == "two"
    later[1]()
    assert toast.isHidden()


def test_it_lies_within_its_page_and_asks_for_no_room(page: QWidget) -> None:
    toast = Toast(page, lambda _seconds, _act: None)
    before = page.minimumSizeHint()
    toast.say("a word")
    assert page.minimumSizeHint() == before
    assert page.rect().contains(toast.geometry())
    page.resize(300, 200)
    assert page.rect().contains(toast.geometry())
    assert abs(toast.geometry().center().x() - page.rect().center().x()) <= 1
    toast.say("many words " * 12)
    assert page.rect().contains(toast.geometry())
