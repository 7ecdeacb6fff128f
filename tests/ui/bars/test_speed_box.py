"""The box of speeds hands the keyboard on when a speed was chosen from its list."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from ui.bars.speed_box import SpeedBox


def test_the_keyboard_is_handed_on_when_the_list_closes(qtbot: QtBot) -> None:
    box = SpeedBox((0.5, 1.0, 2.0))
    qtbot.addWidget(box)
    closed: list[bool] = []
    box.list_closed.connect(lambda: closed.append(True))
    box.show()
    qtbot.waitExposed(box)
    assert (box.currentText(), box.currentData()) == ("1×", 1.0)  # noqa: RUF001
    qtbot.keyClick(box, Qt.Key.Key_Down)  # without its list the box keeps the keyboard
    assert box.currentData() == 2.0
    assert not closed
    box.showPopup()
    qtbot.keyClick(box.view(), Qt.Key.Key_Up)
    qtbot.keyClick(box.view(), Qt.Key.Key_Return)
    assert box.currentData() == 1.0
    assert closed
