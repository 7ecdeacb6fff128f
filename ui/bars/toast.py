"""Toast: a word at the bottom of the window that goes away by itself."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

SHOWN_S = 3.5


class Toast(QLabel):
    """``after`` calls a function so many seconds later: the clock's."""

    def __init__(self, after: Callable[[float, Callable[[], None]], None]) -> None:
        super().__init__()
        self.setObjectName("chip")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._after = after
        self._n_said = 0
        self.hide()

    def say(self, sentence: str) -> None:
        """Show ``sentence`` for a while, in the place of the one before."""
        self.setText(sentence)
        self.show()
        self._n_said += 1
        number = self._n_said
        self._after(SHOWN_S, lambda: self._unsay(number))

    def _unsay(self, number: int) -> None:
        if number == self._n_said:
            self.hide()
