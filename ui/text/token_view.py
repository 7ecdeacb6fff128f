"""TokenView: a token canvas that is pointed at - tokens are chosen, text is selected and copied."""

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
)
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from sessions.token_trail import NO_STEP
from ui.menus import pop_up
from ui.text.token_canvas import TokenCanvas
from ui.text.token_document import Place
from ui.text.token_rows import row_of
from ui.theme import Theme


class TokenView(TokenCanvas):
    """A token is chosen by a click or with the arrow keys, and opened by a double click or Enter; a
    drag selects text, which Ctrl+C copies as it came: without the tokens that are no part of it."""

    own_keys = frozenset({Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End})
    """Not the window's while the text has the keyboard."""
    token_chosen = Signal(int)
    token_opened = Signal(int)
    """By a double click, or by Enter where it is the chosen one."""
    hovered = Signal(int, QPoint)
    """The token under the mouse, and where it is on the screen; -1: none."""
    released = Signal()
    """Escape was pressed: nothing is to be selected."""

    _under = -1
    _told: tuple[QRectF, int, int] | None = None  # where and what ``_under`` was when it was told

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._pressed: tuple[QPointF, Place] | None = None
        self.viewport().setMouseTracking(True)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)

    # --- copying ---------------------------------------------------------------------------------

    def selected_text(self) -> str:
        return "" if self._selected is None else self.document.text(*self._selected)

    def copy(self) -> None:
        """The selected text."""
        if text := self.selected_text():
            QGuiApplication.clipboard().setText(text)

    def select_all(self) -> None:
        self._selected = ((0, 0), (self.document.n_items, 0))
        self.viewport().update()

    def context_menu(self) -> QMenu:
        menu = QMenu(self)
        copy = menu.addAction("Copy", self.copy)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setEnabled(bool(self.selected_text()))
        everything = menu.addAction("Select all", self.select_all)
        everything.setShortcut(QKeySequence(QKeySequence.StandardKey.SelectAll))
        return menu

    # --- choosing --------------------------------------------------------------------------------

    def choose_beside(self, direction: int) -> None:
        """Choose the token before (-1) or behind (1) the chosen one; without one, the last."""
        tokens, n = self.document.tokens, self.document.n_items
        if tokens is None or not n:
            return
        item = self._marked_item
        if item is None and self._marked_step is not None:
            first = int(tokens.step.searchsorted(self._marked_step))
            item = first - 1 if direction > 0 else first
        item = n - 1 if item is None else item + direction
        if 0 <= item < n and tokens.step[item] != NO_STEP:
            self.token_chosen.emit(item)

    def item_at(self, position: QPointF) -> int:
        """The token under a point of the viewport; -1: none."""
        place, is_token = self._place_at(position)
        return place[0] if is_token else -1

    def _place_at(self, position: QPointF, *, is_edge: bool = False) -> tuple[Place, bool]:
        """The place under a point, and whether a token is there; ``is_edge``: the nearest edge
        between two characters."""
        row = self.top_row + int((position.y() - self.margin) // self._pencil.height)
        cell = (position.x() - self.margin) / self._pencil.cell + (0.5 if is_edge else 0.0)
        n_rows = self.document.n_rows
        is_inside = 0 <= row < n_rows and cell >= 0
        row = min(max(row, 0), max(0, n_rows - 1))
        place = self.document.place_at(row, max(cell, 0.0))
        if not is_inside or place[0] >= self.document.n_items:
            return place, False
        return place, cell < row_of(self.document, row).edges[-1]

    # --- Qt --------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.document.n_items:
            self._pressed = (event.position(), self._place_at(event.position(), is_edge=True)[0])
            self._selected = None
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self.document.n_items:
            return
        if event.buttons() & Qt.MouseButton.LeftButton and self._pressed is not None:
            way = (event.position() - self._pressed[0]).manhattanLength()
            if way >= QApplication.startDragDistance():
                here = self._place_at(event.position(), is_edge=True)[0]
                there = self._pressed[1]
                self._selected = (min(here, there), max(here, there))
                self._hover(-1)
                self.viewport().update()
            return
        self._hover(self.item_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        self._pressed = None
        item = self.item_at(event.position())
        if self._selected is None and item >= 0:
            self.token_chosen.emit(item)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.document.n_items and (item := self.item_at(event.position())) >= 0:
            self.token_opened.emit(item)

    def leaveEvent(self, event: QEvent) -> None:
        self._hover(-1)
        super().leaveEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        pop_up(self.context_menu(), event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        is_plain = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier == (
            Qt.KeyboardModifier.NoModifier
        )
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif is_plain and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.choose_beside(1 if key == Qt.Key.Key_Right else -1)
        elif is_plain and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._marked_item is not None:
                self.token_opened.emit(self._marked_item)
        elif is_plain and key == Qt.Key.Key_End:
            self.follow()
        elif is_plain and key == Qt.Key.Key_Home:
            self.go_to_start()
        elif is_plain and key == Qt.Key.Key_Escape:
            self._selected = None
            self.viewport().update()
            self.released.emit()
        elif is_plain:
            super().keyPressEvent(event)  # up, down and the page keys scroll
        else:
            event.ignore()

    def _hover(self, item: int) -> None:
        if item == self._under:
            return
        self._under = item
        self._told = self._seen(item)
        corner = QPoint()
        if self._told is not None:
            corner = self.viewport().mapToGlobal(self._told[0].bottomLeft().toPoint())
        self.hovered.emit(item, corner)

    def _settle(self) -> None:
        """Text that has moved on leaves nothing told of what was under the mouse before."""
        super()._settle()
        if self._under >= 0 and self._seen(self._under) != self._told:
            self._hover(-1)

    def _seen(self, item: int) -> tuple[QRectF, int, int] | None:
        """Where a token is, its kind and its step."""
        tokens = self.document.tokens
        if tokens is None or not 0 <= item < self.document.n_items:
            return None
        return self.rect_of(item), int(tokens.kind[item]), int(tokens.step[item])
