"""Where a form's figures come from."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from ui.panels.planner_source import EXAMPLE, FOLLOWED, KEPT, TYPED, FormSource


def test_an_example_until_there_is_a_session(qtbot: QtBot) -> None:
    source = FormSource()
    qtbot.addWidget(source)
    assert source.words.text() == f"{EXAMPLE} No session is open."
    source.note_typing()
    assert source.button.isHidden()  # nothing to take
    source.take()
    source.offer(None, "Nothing was tested.")
    assert source.words.text() == f"{EXAMPLE} Nothing was tested."


def test_the_session_is_followed_until_somebody_types_and_when_it_is_wanted_again(
    qtbot: QtBot,
) -> None:
    source, taken = FormSource(), []
    qtbot.addWidget(source)
    source.taken.connect(taken.append)
    source.offer("one")
    assert source.words.text() == FOLLOWED
    source.note_typing()
    source.offer("two")
    assert source.words.text() == TYPED
    assert not source.button.isHidden()
    assert taken == ["one"]
    qtbot.mouseClick(source.button, Qt.MouseButton.LeftButton)
    assert taken == ["one", "two"]
    assert source.button.isHidden()  # followed: it would change nothing
    source.offer("three")
    assert taken[-1] == "three"
    source.offer(None, "Nothing was tested.")
    assert source.words.text() == f"{KEPT} Nothing was tested."
