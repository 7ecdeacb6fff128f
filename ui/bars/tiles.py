"""Tiles: six figures that answer the questions people come with, each with its comparison
beneath."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout

from ui.look import Look
from ui.shortened import shortened
from ui.theme import CAPTION, FIGURE, capitals, interface_font


class Tile(QFrame):
    """A name, a figure, a line beneath."""

    def __init__(self, title: str, explanation: str, look: Look) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setToolTip(explanation)
        self._look = look
        self._beneath = ""
        self.title = QLabel(capitals(title))
        self.title.setObjectName("title")
        self.title.setFont(interface_font(CAPTION, is_bold=True))
        self.figure = QLabel()
        self.figure.setFont(interface_font(FIGURE, is_bold=True))
        self.beneath = QLabel()
        self.beneath.setProperty("dim", True)
        self.beneath.setFont(interface_font(CAPTION))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 7, 8, 8)
        layout.setSpacing(0)
        for label in (self.title, self.figure, self.beneath):
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            label.setTextFormat(Qt.TextFormat.PlainText)
            layout.addWidget(label)

    def show_figure(self, figure: str, beneath: str, *, ink: str = "") -> None:
        """``ink`` colours the figure; the theme's text colour by default."""
        self.figure.setText(figure)
        self.figure.setStyleSheet(f"color: {ink};" if ink else "")
        self._beneath = beneath
        self.beneath.setToolTip(beneath)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """A line that is too long shows its beginning; its tooltip has all of it."""
        metrics, room = self.beneath.fontMetrics(), self.beneath.width()
        shown = shortened(self._beneath, lambda text: metrics.horizontalAdvance(text) <= room)
        self.beneath.setText(shown)
