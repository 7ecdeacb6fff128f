"""Toast: a word at the bottom of the window that goes away by itself."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QLabel, QWidget

SHOWN_S = 3.5
_GAP_PX = 12
_FROM_BELOW_PX = 52
"""Over the cards, not over the bar that is under them."""


class Toast(QLabel):
    """Lies over ``page`` and in no layout, so that nothing moves for it. ``after`` calls a function
    so many seconds later: the clock's."""

    def __init__(self, page: QWidget, after: Callable[[float, Callable[[], None]], None]) -> None:
        super().__init__(page)
        self.setObjectName("toast")
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._page = page
        self._after = after
        self._n_said = 0
        page.installEventFilter(self)
        self.hide()

    def say(self, sentence: str) -> None:
        """Show ``sentence`` for a while, in the place of the one before."""
        self.setText(sentence)
        self._place()
        self.raise_()
        self.show()
        self._n_said += 1
        number = self._n_said
        self._after(SHOWN_S, lambda: self._unsay(number))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay where it is meant to be as the window changes."""
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        """In the middle; broken into lines where it is wider than the page."""
        page = self._page
        room = page.width() - 2 * _GAP_PX
        self.setWordWrap(False)
        width = self.sizeHint().width()
        if width > room:
            self.setWordWrap(True)
            width = room
        height = self.heightForWidth(width) if self.wordWrap() else self.sizeHint().height()
        self.setGeometry((page.width() - width) // 2, page.height() - _FROM_BELOW_PX - height,
                         width, height)  # fmt: skip

    def _unsay(self, number: int) -> None:
        if number == self._n_said:
            self.hide()
