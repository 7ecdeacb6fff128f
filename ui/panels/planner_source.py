"""FormSource: where the figures of one of the planner's forms come from."""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from ui.plain_text import plain_label
from ui.theme import CAPTION, interface_font

EXAMPLE = "An example."
FOLLOWED = "Figures of the open session; they follow it until you type."
KEPT = "Figures of an earlier moment or session."
TYPED = "Figures as typed."


class FormSource(QWidget):
    """An example, until there is a session; the session's, until somebody types; then the
    person's, until they want the session's again."""

    taken = Signal(object)
    """What the session offers: to be filled in."""

    def __init__(self) -> None:
        super().__init__()
        self._offered: Any = None
        self._is_own = False
        self._was_filled = False
        self.words = plain_label(EXAMPLE)
        self.words.setProperty("dim", True)
        self.words.setFont(interface_font(CAPTION))
        self.words.setWordWrap(True)
        self.button = QPushButton("From this session")
        self.button.setToolTip("Takes the figures of the open session, as far as it is.")
        self.button.clicked.connect(self.take)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.words)
        column.addWidget(self.button)
        self.offer(None, "No session is open.")

    def offer(self, inputs: object, reason: str = "") -> None:
        """What the session has; None with the reason where it has nothing."""
        self._offered = inputs
        self.button.setVisible(self._is_own and inputs is not None)
        if self._is_own:
            return
        if inputs is None:
            self.words.setText(f"{KEPT if self._was_filled else EXAMPLE} {reason}".strip())
        else:
            self._was_filled = True
            self.words.setText(FOLLOWED)
            self.taken.emit(inputs)

    @property
    def is_followed(self) -> bool:
        """Whether the form holds what the session offers."""
        return not self._is_own and self._offered is not None

    def take(self) -> None:
        """The session's figures, whatever is typed."""
        self._is_own = False
        self.offer(self._offered)

    def note_typing(self) -> None:
        self._is_own = True
        self.words.setText(TYPED)
        self.button.setVisible(self._offered is not None)
