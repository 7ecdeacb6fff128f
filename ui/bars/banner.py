"""Banner: a line across the window that says what went wrong or what waits for an answer."""

from collections.abc import Callable

from PySide6.QtCore import Qt

from ui.bars.saying_line import SayingLine
from ui.icons import icon, pixmap
from ui.look import Look
from ui.plain_text import escaped

_FEW_LINES = 3


class Banner(SayingLine):
    """Hidden while there is nothing to say. A long text (the engine's last words) shows its
    beginning, the rest as a tooltip and on "Copy"."""

    def __init__(self, look: Look) -> None:
        super().__init__(look, "banner")
        self._kind = "error"
        self.text = ""
        self._close.setToolTip("Close (Esc)")
        self._line.setContentsMargins(11, 6, 6, 6)
        self._line.setAlignment(self._mark, Qt.AlignmentFlag.AlignTop)
        self._dress()

    def say(
        self,
        text: str,
        *,
        kind: str = "error",
        action: str = "",
        act: Callable[[], None] | None = None,
    ) -> None:
        """Show ``text``; ``kind`` is error, warning or note. ``action`` names a button that calls
        ``act`` and hides the banner."""
        self.text = text
        lines = text.strip().splitlines()
        shown = lines if len(lines) <= _FEW_LINES else [lines[0], "…", *lines[-(_FEW_LINES - 1) :]]
        self._words.setText("\n".join(line[:240] for line in shown))
        self._words.setToolTip("" if shown == lines else f"<pre>{escaped(text)}</pre>")
        self._kind = kind
        self._offer(action, act)
        self.setProperty("kind", kind)
        self._dress()
        self.style().unpolish(self)
        self.style().polish(self)
        self.show()

    def _dress(self) -> None:
        theme = self._look.theme
        name, ink = {
            "error": ("error", theme.rejected),
            "warning": ("warning", theme.warning),
            "note": ("info", theme.dim),
        }[self._kind]
        self._mark.setPixmap(pixmap(name, theme, colour=ink))
        self._close.setIcon(icon("close", theme))
