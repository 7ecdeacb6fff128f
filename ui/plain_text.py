"""Texts that came from outside - names, paths, what a model or a tool wrote - shown as they are:
Qt takes for markup what looks like it, and for a mnemonic what stands behind an "&"."""

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget


def plain_label(text: str = "", parent: QWidget | None = None) -> QLabel:
    """A label that shows ``text``, and whatever it is told later, letter by letter."""
    label = QLabel(parent)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)
    return label


def escaped(text: str) -> str:
    """``text`` inside markup."""
    return escape(text)


def plain_tip(text: str) -> str:
    """A tooltip that says ``text`` as it is, line by line; "" for none."""
    return f'<p style="white-space:pre-wrap">{escaped(text)}</p>' if text else ""


def without_mnemonic(text: str) -> str:
    """``text`` for a button or a tab."""
    return text.replace("&", "&&")
