"""NoteLine: a sentence inside a card, that it went well or wrong, with one thing to do about it."""

from collections.abc import Callable

from ui.bars.saying_line import SayingLine
from ui.icons import icon, pixmap
from ui.look import Look
from ui.theme import mixed


class NoteLine(SayingLine):
    """Hidden while there is nothing to say."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "noteLine")
        self._is_error = False
        self._close.setToolTip("Close")
        self._line.setContentsMargins(9, 3, 3, 3)

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
        self._is_error = is_error
        self._offer(action, act)
        self._dress()
        self.show()

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
