"""The sentence in a card: said, acted upon, dressed."""

import pytest
from pytestqt.qtbot import QtBot

from ui.bars.note_line import NoteLine
from ui.look import Look


@pytest.fixture
def line(qtbot: QtBot) -> NoteLine:
    line = NoteLine(Look("dark"))
    qtbot.addWidget(line)
    return line


def test_it_is_hidden_until_there_is_something_to_say(line: NoteLine) -> None:
    assert line.isHidden()
    line.say("Deleted a.")
    assert not line.isHidden()
    assert line.text == "Deleted a."
    assert line.action.isHidden()


def test_its_button_acts_once_and_closes(line: NoteLine) -> None:
    done: list[bool] = []
    line.say("Deleted a.", action="Undo", act=lambda: done.append(line.isHidden()))
    assert line.action.text() == "Undo"
    line.action.click()
    assert done == [True]  # hidden first: the act may say something else
    line.say("Deleted b.", action="Close")
    line.action.click()
    assert done == [True]


def test_an_error_is_told_apart_in_both_themes(line: NoteLine) -> None:
    line.say("No.", is_error=True)
    assert line.is_error
    assert line._look.theme.rejected in line.styleSheet()
    line._look.choose("light")
    assert line._look.theme.rejected in line.styleSheet()
    line.say("Yes.")
    assert not line.is_error
    assert line._look.theme.rejected not in line.styleSheet()
