"""Texts from outside are shown letter by letter."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from pytestqt.qtbot import QtBot

from ui.plain_text import plain_label, plain_tip, without_mnemonic


def test_a_label_shows_markup_as_it_is(qtbot: QtBot) -> None:
    label = plain_label("id 0 is '<s>' in the target")
    qtbot.addWidget(label)
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert label.text() == "id 0 is '<s>' in the target"


def test_a_tooltip_says_markup_and_entities_as_they_are() -> None:
    for text in ("a & b", "<b>no</b>", "x\ny", "&amp;"):
        tip = plain_tip(text)
        assert tip.startswith("<p")  # so that Qt takes it for markup, whatever it says
        document = QTextDocument()
        document.setHtml(tip)
        assert document.toPlainText() == text
    assert plain_tip("") == ""


def test_no_letter_becomes_a_mnemonic() -> None:
    assert without_mnemonic("R&D") == "R&&D"
