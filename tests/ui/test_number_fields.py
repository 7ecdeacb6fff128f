"""Fields for numbers."""

from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from ui.look import Look
from ui.number_fields import decimal_field, whole_field


def test_they_keep_to_their_ranges(qtbot: QtBot) -> None:
    whole, decimal = whole_field(-1, 8, word="auto"), decimal_field(0, 1, 0.5, step=0.25)
    for field in (whole, decimal):
        qtbot.addWidget(field)
    assert (whole.value(), whole.text(), decimal.text()) == (-1, "auto", "0.50")
    whole.setValue(9)
    decimal.stepUp()
    assert (whole.value(), decimal.value()) == (8, 0.75)


def test_their_text_stands_where_that_of_other_fields_does(qtbot: QtBot) -> None:
    """In the window's own style, and not on the border."""
    Look("dark").apply()
    number, words = whole_field(0, 9), QLineEdit("0")
    for field in (number, words):
        qtbot.addWidget(field)
        field.show()
    lines = (number.lineEdit(), words)
    for line in lines:
        line.setCursorPosition(0)
    inset, other = (line.mapTo(line.window(), line.cursorRect().topLeft()).x() for line in lines)
    assert abs(inset - other) <= 2
    assert number.sizeHint().height() == words.sizeHint().height()
