"""TokenCard: what is known of the token under the mouse, beside it and at once."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from ui.plain_text import plain_label
from ui.theme import CAPTION, Theme, interface_font, token_font

_WIDTH = 300


class TokenCard(QFrame):
    """Lies over the window and lets the mouse through. All its texts are plain: what a model wrote
    is never taken for markup."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("tokenCard")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.title = self._label()
        self.title.setFont(token_font())
        self.words = self._label()
        self.words.setWordWrap(True)
        self._figures: list[tuple[QLabel, QLabel]] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(1)
        self._grid.setColumnStretch(1, 1)
        layout = self._lines = QVBoxLayout(self)
        layout.setContentsMargins(10, 8, 10, 8)
        layout.setSpacing(6)
        layout.addWidget(self.title)
        layout.addLayout(self._grid)
        layout.addWidget(self.words)
        self.restyle(theme)
        self.hide()

    def restyle(self, theme: Theme) -> None:
        self.setStyleSheet(
            f"#tokenCard {{ background: {theme.raised}; border: 1px solid {theme.line};"
            f" border-radius: 8px; }} #tokenCard QLabel {{ background: transparent; }}"
        )

    def tell(
        self,
        window: QWidget,
        corner: QPoint,
        *,
        title: str,
        figures: Sequence[tuple[str, str]],
        words: str,
    ) -> None:
        """Show it below ``corner`` (on the screen), inside ``window``."""
        if self.parentWidget() is not window:
            self.setParent(window)
        self.title.setText(title if len(title) <= 40 else title[:39] + "…")
        while len(self._figures) < len(figures):
            self._add_line()
        for row, (name, value) in enumerate(self._figures):
            is_used = row < len(figures)
            name.setVisible(is_used)
            value.setVisible(is_used)
            if is_used:
                name.setText(figures[row][0])
                value.setText(figures[row][1])
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.setFixedWidth(min(_WIDTH, window.width()))
        height = self._lines.heightForWidth(self.width())
        self.setFixedHeight(max(height, self._lines.minimumSize().height()))
        place = window.mapFromGlobal(corner) + QPoint(0, 4)
        if place.y() + self.height() > window.height():
            place.setY(place.y() - self.height() - 32)
        place.setY(max(0, place.y()))
        place.setX(max(0, min(place.x(), window.width() - self.width())))
        self.move(place)
        self.show()
        self.raise_()

    def _add_line(self) -> None:
        row = len(self._figures)
        name, value = self._label(), self._label()
        name.setProperty("dim", True)
        self._grid.addWidget(name, row, 0)
        self._grid.addWidget(value, row, 1)
        self._figures.append((name, value))

    def _label(self) -> QLabel:
        label = plain_label()
        label.setFont(interface_font(CAPTION))
        return label
