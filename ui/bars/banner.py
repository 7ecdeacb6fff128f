"""Banner: a line across the window that says what went wrong or what waits for an answer."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton

from ui.icons import icon, pixmap
from ui.look import Look
from ui.plain_text import escaped, plain_label

_FEW_LINES = 3


class Banner(QFrame):
    """Hidden while there is nothing to say. A long text (the engine's last words) shows its
    beginning, the rest as a tooltip and on "Copy"."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setObjectName("banner")
        self._look = look
        self._kind = "error"
        self._act: Callable[[], None] | None = None
        self.text = ""
        self._mark = QLabel()
        self._words = plain_label()
        self._words.setWordWrap(True)
        self._words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.action = QPushButton()
        self.action.clicked.connect(self._run)
        self._close = QToolButton()
        self._close.setToolTip("Close (Esc)")
        self._close.clicked.connect(self.hide)
        line = QHBoxLayout(self)
        line.setContentsMargins(11, 6, 6, 6)
        line.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self._words, 1)
        line.addWidget(self.action)
        line.addWidget(self._close)
        look.changed.connect(self._dress)
        self._dress()
        self.hide()

    def say(
        self,
        text: str,
        *,
        kind: str = "error",
        action: str = "",
        act: Callable[[], None] | None = None,
    ) -> None:
        """Show ``text``; ``kind`` is error or warning. ``action`` names a button that calls
        ``act`` and hides the banner."""
        self.text = text
        lines = text.strip().splitlines()
        shown = lines if len(lines) <= _FEW_LINES else [lines[0], "…", *lines[-(_FEW_LINES - 1) :]]
        self._words.setText("\n".join(line[:240] for line in shown))
        self._words.setToolTip("" if shown == lines else f"<pre>{escaped(text)}</pre>")
        self._kind, self._act = kind, act
        self.action.setText(action)
        self.action.setVisible(bool(action))
        self.setProperty("kind", kind)
        self._dress()
        self.style().unpolish(self)
        self.style().polish(self)
        self.show()

    def _run(self) -> None:
        act = self._act
        self.hide()
        if act is not None:
            act()

    def _dress(self) -> None:
        theme = self._look.theme
        name = "error" if self._kind == "error" else "warning"
        ink = theme.rejected if self._kind == "error" else theme.warning
        self._mark.setPixmap(pixmap(name, theme, colour=ink))
        self._close.setIcon(icon("close", theme))
