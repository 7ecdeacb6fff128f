"""Cards: a panel's frame in the window, a rounded sheet with a small bold title at the left and the
finding or the legend at the right of the same line."""

from PySide6.QtCore import QEvent, QMargins, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QGraphicsView,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QTabBar,
    QVBoxLayout,
)

from ui.key_sharing import share_keys
from ui.look import Look
from ui.menus import pop_up
from ui.panel_table import ListedPanel
from ui.panels.base import Panel
from ui.shortened import shortened
from ui.theme import CAPTION, capitals, interface_font
from ui.view_state import ViewState
from ui.window_fit import fitted

_LOWEST_BODY = 115
"""In pixels. A plot that is lower can be seen and not read: the cards are scrolled instead."""

_ASIDE = QPoint(40, 40)
_FRAME = QMargins(4, 36, 4, 4)  # a desktop's, about


class CardHeader(QFrame):
    """The title line; as a dock's title bar it is what a card is dragged by."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setObjectName("cardHeader")
        self._explanation = ""
        self._note = ""
        self.title = QLabel(capitals(title))
        self.title.setObjectName("title")
        self.title.setFont(interface_font(CAPTION, is_bold=True))
        self.note = QLabel()
        self.note.setTextFormat(Qt.TextFormat.RichText)
        self.note.setProperty("dim", True)
        self.note.setFont(interface_font(CAPTION))
        self.note.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        # A long note is cut, not the window widened for it.
        self.note.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        line = QHBoxLayout(self)
        line.setContentsMargins(11, 7, 11, 3)
        line.setSpacing(10)
        line.addWidget(self.title)
        line.addWidget(self.note, 1)

    def explain(self, explanation: str) -> None:
        """What the panel's figures mean, as a tooltip."""
        self._explanation = explanation
        self.title.setToolTip(explanation)
        self._fit()

    def set_note(self, text: str) -> None:
        if text != self._note:
            self._note = text
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """A note that is too long for its line shows its beginning, and all of it as a tooltip."""
        shown = shortened(self._note, self._fits)
        has_room = self._fits(shown)
        side = Qt.AlignmentFlag.AlignRight if has_room else Qt.AlignmentFlag.AlignLeft
        self.note.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        is_whole = has_room and shown == self._note
        self.note.setToolTip(self._explanation if is_whole else f"<p>{self._note}</p>")

    def _fits(self, text: str) -> bool:
        """Whether ``text`` has room; it is shown then, which is the cheapest way to know."""
        self.note.setText(text)
        return self.note.sizeHint().width() <= self.note.width()


class _CardBody(QFrame):
    """Where the panel is: as high as it must be, and no lower than can be read."""

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().expandedTo(QSize(0, _LOWEST_BODY))


class CardDock(QDockWidget):
    """A panel in a dock that looks like a card. The panel is loaded and made when it is first asked
    for: most cards of a window are never seen."""

    made = Signal(object)
    """The panel, as soon as there is one."""
    reset_wanted = Signal()
    """The layout is to lie as it is meant again."""

    def __init__(self, listed: ListedPanel, state: ViewState, look: Look) -> None:
        super().__init__(listed.tab)
        self._listed = listed
        self._state, self._look = state, look
        self._kind: type[Panel] | None = None
        self._panel: Panel | None = None
        self.setObjectName(listed.key)
        self.header = CardHeader(listed.title)
        self.setTitleBarWidget(self.header)
        self.header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.header.customContextMenuRequested.connect(
            lambda place: pop_up(self.menu(), self.header.mapToGlobal(place))
        )
        body = _CardBody()
        body.setObjectName("cardBody")
        self._layout = QVBoxLayout(body)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self.setWidget(body)
        self.installEventFilter(self)
        self.topLevelChanged.connect(self._name_window)
        share_keys(self)  # a floating card is a window of its own

    @property
    def panel(self) -> Panel:
        if self._panel is None:
            self._panel = self.load()(self._state, self._look)
            self.header.explain(self._panel.explanation)
            self._panel.noted.connect(self.header.set_note)
            self._layout.addWidget(self._panel)
            self._name_parts(self._panel)
            self.made.emit(self._panel)
        return self._panel

    def load(self) -> type[Panel]:
        """Load what the panel is made of, where that was not done yet."""
        if self._kind is None:
            self._kind = self._listed.kind()
        return self._kind

    @property
    def is_loaded(self) -> bool:
        return self._kind is not None

    def _name_parts(self, panel: Panel) -> None:
        """For a screen reader: pictures and tab bars have no words of their own."""
        title = self._listed.title
        for plot in panel.findChildren(QGraphicsView):
            own = plot.accessibleName()
            plot.setAccessibleName(f"{title}: {own}" if own else title)
        for tabs in panel.findChildren(QTabBar):
            tabs.setAccessibleName(tabs.accessibleName() or title)

    @property
    def title(self) -> str:
        """What is seen, in full."""
        return self._listed.title

    def menu(self) -> QMenu:
        """What can be done with the card: at its title, where it is looked for."""
        menu = QMenu(self)
        menu.addAction("Hide this card").triggered.connect(self.hide)
        floats = "Put back into the window" if self.isFloating() else "Float as its own window"
        menu.addAction(floats).triggered.connect(self._float_or_dock)
        menu.addSeparator()
        menu.addAction("Reset this layout\tCtrl+0").triggered.connect(self.reset_wanted)
        menu.addAction("Hidden cards are in View \u203a Cards").setEnabled(False)
        return menu

    def _float_or_dock(self) -> None:
        """A card that floats lies beside its old place and in the desktop's frame: over it and
        bare, nothing would seem to have happened."""
        place = QRect(self.mapToGlobal(_ASIDE), self.size())
        self.setFloating(not self.isFloating())
        if self.isFloating():
            self.setWindowFlag(Qt.WindowType.FramelessWindowHint, False)
            frame = place.marginsAdded(_FRAME)
            self.setGeometry(fitted(place, frame, self.screen().availableGeometry()))
            self.show()  # a change of flags hides it

    def _name_window(self, is_floating: bool) -> None:
        self.setWindowTitle(self.title if is_floating else self._listed.tab)

    @property
    def is_made(self) -> bool:
        return self._panel is not None

    @property
    def is_seen(self) -> bool:
        """Whether any of the card is on the screen."""
        return self.isVisible() and not self.widget().visibleRegion().isEmpty()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A dock's header says what a card is in full; in a tab there is less room."""
        if watched is self and event.type() == QEvent.Type.WindowTitleChange:
            self.header.title.setText(capitals(self._listed.title))
        return super().eventFilter(watched, event)
