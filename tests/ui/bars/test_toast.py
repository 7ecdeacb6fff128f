"""A word that goes away, unless another came meanwhile."""

from collections.abc import Callable

from pytestqt.qtbot import QtBot

from ui.bars.toast import Toast


def test_it_goes_away_after_a_while(qtbot: QtBot) -> None:
    later: list[Callable[[], None]] = []
    toast = Toast(lambda _seconds, act: later.append(act))
    qtbot.addWidget(toast)
    toast.say("one")
    toast.say("two")
    later[0]()
    assert not toast.isHidden()
    assert toast.text() == "two"
    later[1]()
    assert toast.isHidden()
