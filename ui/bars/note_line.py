"""NoteLine: a sentence inside a card, that it went well or wrong, with one thing to do about it."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton

from ui.icons import icon, pixmap
from ui.look import Look
from ui.plain_text import plain_label
from ui.theme import mixed


class NoteLine(QFrame):
    """Hidden while there is nothing to say."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("noteLine")
        self._look = look
        self._is_error = False
        self._act: Callable[[], None] | None = None
        self._mark = QLabel()
        self._words = plain_label()
        self._words.setWordWrap(True)
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.action = QPushButton()
        self.action.clicked.connect(self._run)
        self._close = QToolButton()
        self._close.setToolTip("Close")
        self._close.clicked.connect(self.hide)
        line = QHBoxLayout(self)
        line.setContentsMargins(9, 3, 3, 3)
        line.addWidget(self._mark)
        line.addWidget(self._words, 1)
        line.addWidget(self.action)
        line.addWidget(self._close)
        look.changed.connect(self._dress)
        self.hide()

    @property
    def text(self) -> str:
        return self._words.text()

    @property
    def is_error(self) -> bool:
        return self._is_error

    def say(
        self,
        text: str,
        *,
        is_error: bool = False,
        action: str = "",
        act: Callable[[], None] | None = None,
    ) -> None:
        """Show ``text``; ``action`` names a button that calls ``act`` and hides the line."""
        self._words.setText(text)
        self._is_error, self._act = is_error, act
        self.action.setText(action)
        self.action.setVisible(bool(action))
        self._dress()
        self.show()

    def _run(self) -> None:
        act = self._act
        self.hide()
        if act is not None:
            act()

    def _dress(self) -> None:
        theme = self._look.theme
        ink = theme.rejected if self._is_error else theme.dim
        ground = mixed(theme.rejected, theme.panel, 0.16) if self._is_error else theme.raised
        edge = theme.rejected if self._is_error else theme.line
        self.setStyleSheet(
            f"#noteLine {{ background: {ground}; border: 1px solid {edge}; border-radius: 6px; }}"
        )
        self._mark.setPixmap(pixmap("error" if self._is_error else "info", theme, colour=ink))
        self._close.setIcon(icon("close", theme))
