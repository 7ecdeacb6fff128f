"""The chips of a bar: what is so, in a few words, and where it can be changed a menu of fields."""

import html
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFormLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from ui.number_fields import NumberField
from ui.plain_text import plain_label, plain_tip
from ui.theme import CAPTION, interface_font

_MAX_NAME = 26


def text_chip(tip: str) -> QLabel:
    """Words alone; ``set_chip`` fills it."""
    chip = QLabel()
    chip.setObjectName("chip")
    chip.setProperty("tip", tip)
    chip.setToolTip(tip)
    chip.setTextFormat(Qt.TextFormat.RichText)
    chip.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return chip


def menu_chip(tip: str) -> QToolButton:
    """A button; ``fill_menu`` gives it what it opens."""
    chip = QToolButton()
    chip.setObjectName("chipButton")
    chip.setToolTip(tip)
    chip.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    chip.setMenu(QMenu(chip))
    return chip


class ChangeBox(QWidget):
    """Fields in a chip's menu: Enter sends them, Escape closes the menu without."""

    said = Signal(str)
    """What cannot be sent, in a sentence; "" when it can."""

    def __init__(
        self, menu: QMenu, fields: Sequence[tuple[str, NumberField]], send: Callable[[], None]
    ) -> None:
        super().__init__()
        self._menu, self._send = menu, send
        self._fields = [field for _, field in fields]
        form = QFormLayout(self)
        for label, field in fields:
            form.addRow(label, field)
            field.valueChanged.connect(self._check)
        self.problem = plain_label()
        self.problem.setFont(interface_font(CAPTION))
        form.addRow(self.problem)
        self.button = QPushButton("Apply from the next step")
        self.button.clicked.connect(self._apply)
        form.addRow(self.button)
        self._check()
        menu.aboutToShow.connect(self._begin)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._apply()
        else:
            super().keyPressEvent(event)

    def _begin(self) -> None:
        """What is typed first replaces the first number."""
        self._fields[0].setFocus()
        self._fields[0].selectAll()

    def _check(self) -> None:
        """Say what is too large, and send nothing meanwhile."""
        problem = next((field.problem for field in self._fields if field.problem), "")
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.button.setEnabled(not problem)
        self.said.emit(problem)

    def _apply(self) -> None:
        if self.button.isEnabled():
            self._send()
            self._menu.close()


def fill_menu(
    chip: QToolButton, fields: Sequence[tuple[str, NumberField]], send: Callable[[], None]
) -> None:
    """``fields`` with their labels, and what is called to send them."""
    action = QWidgetAction(chip)
    box = ChangeBox(chip.menu(), fields, send)
    box.said.connect(action.setText)  # a menu takes its size anew where an action changes
    action.setDefaultWidget(box)
    chip.menu().addAction(action)


def set_chip(chip: QLabel, name: str, value: str) -> None:
    """A long value is cut in the middle, whole in the tooltip."""
    cut = value
    if len(value) > _MAX_NAME:
        half = _MAX_NAME // 2
        cut = f"{value[:half]}…{value[-half + 1 :]}"
    escaped = html.escape(cut)
    chip.setText(f"{name} <b>{escaped}</b>" if name else escaped)
    tip = chip.property("tip") or ""
    chip.setToolTip(plain_tip(f"{tip}\n{value}" if cut != value else tip))
