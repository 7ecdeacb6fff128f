"""Fields for numbers."""

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.wheel import turn_wheel
from ui.look import Look
from ui.number_fields import decimal_field, require, whole_field


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


def test_the_wheel_passes_over_them_unless_the_keyboard_is_in_them(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    column = QVBoxLayout(page)
    fields = (whole_field(0, 9, 5), decimal_field(0, 9, 5))
    for field in fields:
        column.addWidget(field)
    page.show()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    for field in fields:
        page.setFocus()
        field.clearFocus()
        turn_wheel(field)
        assert field.value() == 5
        field.setFocus()
        turn_wheel(field)
        assert field.value() == 4


def test_a_whole_number_that_is_too_large_is_kept_and_said(qtbot: QtBot) -> None:
    plain, worded = whole_field(1, 32), whole_field(-1, 32, word="auto")
    for field in (plain, worded):
        qtbot.addWidget(field)
        field.selectAll()
        QTest.keyClicks(field, "99\r")
        assert field.value() == 99
    assert plain.problem == "99 is too large: 1 to 32."
    assert worded.problem == "99 is too large: 0 to 32, or auto."
    with pytest.raises(ValueError, match="batch: 99 is"):
        require(plain, "batch")
    plain.stepUp()
    assert (plain.value(), plain.problem) == (32, "")
    plain.stepUp()
    assert plain.value() == 32


@pytest.mark.parametrize("language", ["C", "de_DE", "fr_FR"])
def test_of_a_decimal_number_no_digit_is_swallowed(qtbot: QtBot, language: str) -> None:
    before = QLocale()
    QLocale.setDefault(QLocale(language))
    share = decimal_field(0.01, 1.0, 0.9, step=0.05)
    QLocale.setDefault(before)
    qtbot.addWidget(share)
    assert share.text() == "0.90"
    for typed, value, text in (
        ("0.955", 0.955, "0.955"), ("0,955", 0.955, "0.955"), ("1.5", 1.5, "1.50"),
        ("1", 1.0, "1.00"), ("0.001", 0.001, "0.001"),
    ):  # fmt: skip
        share.selectAll()
        QTest.keyClicks(share, f"{typed}\r")
        assert (share.value(), share.text()) == (value, text)
        assert bool(share.problem) == (not 0.01 <= value <= 1.0)


def test_a_decimal_number_that_cannot_be_taken_is_said(qtbot: QtBot) -> None:
    share = decimal_field(0.01, 1.0, step=0.05)
    qtbot.addWidget(share)
    for typed, problem in (
        ("0.001", "0.001 is too small: 0.01 to 1."),
        ("1.000001", "1.000001 is too large: 0.01 to 1."),
        ("1.5", "1.5 is too large: 0.01 to 1."),
    ):
        share.selectAll()
        QTest.keyClicks(share, f"{typed}\r")
        assert share.problem == problem
    with pytest.raises(ValueError, match="top-p: "):
        require(share, "top-p")
    share.stepDown()
    assert (share.value(), share.problem) == (1.0, "")
    share.setValue(7.0)
    assert share.value() == 1.0
    share.setValue(0.0)
    assert share.value() == 0.01


def test_a_whole_number_that_is_too_small_is_kept_and_said(qtbot: QtBot) -> None:
    plain, worded = whole_field(1, 32, 5), whole_field(-1, 32, word="auto")
    for field in (plain, worded):
        qtbot.addWidget(field)
        field.selectAll()
        QTest.keyClicks(field, "0\r")
        assert field.value() == 0
    assert (plain.problem, worded.problem) == ("0 is too small: 1 to 32.", "")
    plain.stepDown()
    assert (plain.value(), plain.problem) == (1, "")
