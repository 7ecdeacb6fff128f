"""Cards: a panel's frame in the window, a rounded sheet with a small bold title at the left and the
finding or the legend at the right of the same line."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDockWidget, QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout

from ui.panels.base import Panel
from ui.theme import CAPTION, capitals, interface_font


class CardHeader(QFrame):
    """The title line; as a dock's title bar it is what a card is dragged by."""

    def __init__(self, title: str, explanation: str = "") -> None:
        super().__init__()
        self.setObjectName("cardHeader")
        self._explanation = explanation
        self.title = QLabel(capitals(title))
        self.title.setObjectName("title")
        self.title.setFont(interface_font(CAPTION, is_bold=True))
        self.note = QLabel()
        self.note.setProperty("dim", True)
        self.note.setFont(interface_font(CAPTION))
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        # A long note is cut, not the window widened for it.
        self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        for label in (self.title, self.note):
            label.setToolTip(explanation)
        line = QHBoxLayout(self)
        line.setContentsMargins(11, 7, 11, 3)
        line.setSpacing(10)
        line.addWidget(self.title)
        line.addWidget(self.note, 1)

    def set_note(self, text: str) -> None:
        if text != self.note.text():
            self.note.setText(text)
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """A note that is too long for its line shows its beginning, and all of it as a tooltip."""
        is_cut = self.note.sizeHint().width() > self.note.width()
        side = Qt.AlignmentFlag.AlignLeft if is_cut else Qt.AlignmentFlag.AlignRight
        self.note.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        self.note.setToolTip(self.note.text() if is_cut else self._explanation)


class CardDock(QDockWidget):
    """A panel in a dock that looks like a card."""

    def __init__(self, panel: Panel) -> None:
        super().__init__(panel.title)
        self.panel = panel
        self.setObjectName(panel.key)
        self.header = CardHeader(panel.title, panel.explanation)
        panel.noted.connect(self.header.set_note)
        self.setTitleBarWidget(self.header)
        body = QFrame()
        body.setObjectName("cardBody")
        layout = QVBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(panel)
        self.setWidget(body)
        self.installEventFilter(self)

    @property
    def is_seen(self) -> bool:
        """Whether any of the panel is on the screen."""
        return self.isVisible() and not self.panel.visibleRegion().isEmpty()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A floating card has the desktop's own frame, whose title says what it is."""
        if watched is self and event.type() == QEvent.Type.WindowTitleChange:
            self.header.title.setText(capitals(self.panel.title))
        return super().eventFilter(watched, event)
