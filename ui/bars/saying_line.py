"""SayingLine: a mark, a sentence, a button for what can be done about it, and a cross."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton

from ui.look import Look
from ui.plain_text import plain_label


class SayingLine(QFrame):
    """Hidden while there is nothing to say. A subclass says how it is dressed."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._look = look
        self._act: Callable[[], None] | None = None
        self._mark = QLabel()
        self._words = plain_label()
        self._words.setWordWrap(True)
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.action = QPushButton()
        self.action.clicked.connect(self._run)
        self._close = QToolButton()
        self._close.clicked.connect(self.hide)
        self._line = QHBoxLayout(self)
        self._line.addWidget(self._mark)
        self._line.addWidget(self._words, 1)
        self._line.addWidget(self.action)
        self._line.addWidget(self._close)
        look.changed.connect(self._dress)
        self.hide()

    def _offer(self, action: str, act: Callable[[], None] | None) -> None:
        """``action`` names the button that calls ``act`` and hides the line; "" for none."""
        self._act = act
        self.action.setText(action)
        self.action.setVisible(bool(action))

    def _run(self) -> None:
        act = self._act
        self.hide()
        if act is not None:
            act()

    def _dress(self) -> None:
        raise NotImplementedError
