"""LibraryBar: the line over the list of sessions, a search and what is done most."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QToolButton, QWidget

from ui.icons import icon
from ui.theme import Theme

_WORDS_FROM_PX = 440
"""Narrower than this the buttons show their icons alone."""


class LibraryBar(QWidget):
    """Whoever owns it connects the buttons."""

    def __init__(self, *, n_compared: int) -> None:
        super().__init__()
        self.search = QLineEdit()
        self.search.setAccessibleName("Search")
        self.search.setPlaceholderText("Search names, tags, notes, models")
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(60)
        self.open = _button("Open the selected session (Enter)")
        self.compare = _button(f"Compare: show 2 to {n_compared} selected sessions side by side")
        self.tags = _button("Tags of the selected session, with commas between them (Shift+F2)")
        self.more = QToolButton()
        self.more.setText("⋯")
        self.more.setToolTip("Rename, export, import, show in its folder, delete")
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        line.addWidget(self.search, 1)
        line.addWidget(self.open)
        line.addWidget(self.compare)
        line.addWidget(self.tags)
        line.addWidget(self.more)

    def restyle(self, theme: Theme) -> None:
        self.open.setIcon(icon("open", theme))
        self.compare.setIcon(icon("compare", theme))
        self.tags.setIcon(icon("tag", theme))

    def fit(self, width: int) -> None:
        """Leave the buttons' words out where there is no room for them."""
        has_words = width >= _WORDS_FROM_PX
        self.open.setText("Open" if has_words else "")
        self.compare.setText("Compare" if has_words else "")
        self.tags.setText("Tags" if has_words else "")

    def to_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()


def _button(words: str) -> QPushButton:
    button = QPushButton()
    button.setToolTip(words)
    button.setAccessibleName(words)
    return button
