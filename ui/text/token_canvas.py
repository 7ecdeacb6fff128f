"""TokenCanvas: the text of a sequence, each token drawn by its origin; only what is seen is laid
out and painted."""

from collections.abc import Iterator
from enum import Enum

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QPushButton, QWidget

from sessions.token_trail import NO_STEP, TrailKind
from ui.painting import guarded, painting
from ui.text.token_document import Place, TokenDocument, Tokens
from ui.text.token_ink import Ink, Pencil, Shape, inks
from ui.text.token_rows import Piece, Row, row_of
from ui.theme import Theme, mixed

_ROWS_A_NOTCH = 3


def breaks_lines(kinds: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Which tokens break the line by their newlines: those that belong to the text."""
    return np.asarray(kinds <= TrailKind.PROMPT)


class TokenCanvas(QAbstractScrollArea):
    """Follows the end until the user scrolls up."""

    margin = 4

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document = TokenDocument(breaks_lines)
        self.follows = True
        self._marked_step: int | None = None
        self._marked_item: int | None = None
        self._selected: tuple[Place, Place] | None = None
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.setAccessibleName("The text, token by token")
        self.viewport().setAutoFillBackground(False)
        self.verticalScrollBar().setSingleStep(_ROWS_A_NOTCH)
        self.verticalScrollBar().actionTriggered.connect(self._scrolled)
        self.follow_button = QPushButton("↓ follow", self)
        self.follow_button.setToolTip("Go to the end and stay there (End)")
        self.follow_button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.follow_button.clicked.connect(self.follow)
        self.follow_button.hide()
        self.theme = theme
        self.restyle(theme)

    # --- for panels ------------------------------------------------------------------------------

    def restyle(self, theme: Theme) -> None:
        """Take a theme's colours and the font."""
        self.theme = theme
        self._pencil = Pencil(theme)
        self._inks = inks(theme)
        self._resettle()

    def show_tokens(
        self, tokens: Tokens, *, marked_step: int | None = None, marked_item: int | None = None
    ) -> None:
        """Show a text, with the tokens of a step and one token marked. A mark that is new is
        scrolled to and stays in sight; without one the end is followed again."""
        n_common = self.document.show(tokens)
        if self._selected is not None and self._selected[1][0] >= n_common:
            self._selected = None
        is_new = (marked_step, marked_item) != (self._marked_step, self._marked_item)
        self._marked_step, self._marked_item = marked_step, marked_item
        if is_new:
            self.follows = marked_step is None
        self._resettle()
        if is_new and marked_step is not None:
            self._show_mark()

    def follow(self) -> None:
        """Go to the end and stay there."""
        self.follows = True
        self._resettle()

    def go_to_start(self) -> None:
        self.follows = self.document.n_rows <= self.n_visible_rows
        self._set_top(0)
        self._settle()
        self.viewport().update()

    def rect_of(self, item: int) -> QRectF:
        """Where a token begins in the viewport: the part of it on its first row."""
        number = self.document.row_of(item)
        row = row_of(self.document, number)
        for piece in row.pieces:
            if piece.item == item:
                return self._rect(number, row.edges[piece.first], row.edges[piece.last])
        return self._rect(number, 0, 0)

    # --- scrolling -------------------------------------------------------------------------------

    @property
    def top_row(self) -> int:
        return self.verticalScrollBar().value()

    @property
    def n_visible_rows(self) -> int:
        """Rows that fit in whole."""
        return max(1, (self.viewport().height() - 2 * self.margin) // self._pencil.height)

    def _resettle(self) -> None:
        """Lay out what is seen and let the scroll bar know."""
        # The scroll bar may come and go: its room is always left.
        width = self.width() - self.verticalScrollBar().sizeHint().width() - 2 * self.margin
        cells = int(width / self._pencil.cell) - 1  # one for a space or newline that hangs over
        top = self._top_item() if self.document.n_items and not self.follows else None
        if self.document.set_columns(max(8, cells)) and top is not None:
            self._set_top(self.document.row_of(top))
        self._settle()
        self.viewport().update()

    def _settle(self) -> None:
        """Rows that are laid out differ from their estimate: what is seen stays where it is."""
        document, top = self.document, self.top_row
        if self.follows:
            index = len(document.blocks) - 1
            n_rows = 0
            while index >= 0 and n_rows < self.n_visible_rows:
                document.lay(index)
                n_rows += document.n_rows_of(index)
                index -= 1
            top = max(0, document.n_rows - self.n_visible_rows)
        elif document.blocks:
            index = document.block_of_row(top)
            estimate = document.n_rows_of(index)
            inside = top - document.blocks[index].row
            document.lay(index)
            if inside > estimate / 2:
                inside += document.n_rows_of(index) - estimate
            top = document.blocks[index].row + max(inside, 0)
            for row in range(top, top + self.n_visible_rows + 1):
                document.lay(document.block_of_row(row))
        self._set_top(top)

    def _set_top(self, row: int) -> None:
        bar = self.verticalScrollBar()
        bar.blockSignals(True)
        bar.setPageStep(self.n_visible_rows)
        bar.setRange(0, max(0, self.document.n_rows - self.n_visible_rows))
        bar.setValue(row)
        bar.blockSignals(False)
        self.follow_button.setVisible(not self.follows and bar.value() < bar.maximum())

    def _top_item(self) -> int:
        return self.document.place_at(self.top_row, 0)[0]

    def _scrolled(self, _action: int) -> None:
        """By the user: whoever scrolls to the end follows again."""
        bar = self.verticalScrollBar()
        self.follows = bar.sliderPosition() >= bar.maximum()
        bar.setValue(bar.sliderPosition())
        self._settle()

    def scrollContentsBy(self, _dx: int, _dy: int) -> None:
        self.viewport().update()

    def _show_mark(self) -> None:
        item = self._marked_item
        if item is None:
            steps = self.document.tokens.step if self.document.tokens is not None else np.empty(0)
            item = int(steps.searchsorted(np.int32(self._marked_step or 0)))
        if item >= self.document.n_items:
            return
        row = self.document.row_of(item)
        if not self.top_row <= row < self.top_row + self.n_visible_rows:
            self._set_top(max(0, row - self.n_visible_rows // 3))
        self._settle()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        button = self.follow_button
        button.adjustSize()
        edge = self.viewport().geometry()
        button.move(edge.right() - button.width() - 6, edge.bottom() - button.height() - 4)
        self._resettle()

    # --- painting --------------------------------------------------------------------------------

    @guarded
    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.document.n_items:
            return
        self._settle()
        height = self.viewport().height()
        with painting(self.viewport()) as painter:
            for number in range(self.top_row, self.document.n_rows):
                if self._y(number) > height:
                    break
                self._paint_row(painter, number, row_of(self.document, number))

    def _paint_row(self, painter: QPainter, number: int, row: Row) -> None:
        y, edges, cell = self._y(number), row.edges, self._pencil.cell
        for mark, first, last in row.runs(self._mark_of):
            if mark is not _Mark.NONE:
                self._paint_mark(painter, self._rect(number, edges[first], edges[last]), mark)
        if self._selected is not None:
            ground = QColor(mixed(self.theme.text, self.theme.panel, 0.25))
            for piece in row.pieces:
                first, last = row.selected(piece, *self._selected)
                if first < last:
                    painter.fillRect(self._rect(number, edges[first], edges[last]), ground)
        for ink, first, last in row.runs(lambda piece: self._inks[piece.kind]):
            x = self.margin + edges[first] * cell
            steps = [edge - edges[first] for edge in edges[first : last + 1]]
            self._pencil.write(painter, x, y, row.codes[first:last], steps, ink)
            if ink.shape is not Shape.PLAIN:
                for a, b in self._shaped(row, ink, first, last):
                    left, right = edges[a] * cell, edges[b] * cell
                    self._pencil.shape(painter, self.margin + left, y, right - left, ink)

    def _shaped(self, row: Row, ink: Ink, first: int, last: int) -> Iterator[tuple[int, int]]:
        """The characters that each shape of a run is drawn about: of the run, or of each token."""
        if ink.shape is Shape.OUTLINED:
            parts = [(first, last, False)]
        else:
            parts = [(piece.first, piece.last, piece.is_whole) for piece in row.pieces
                     if first <= piece.first and piece.last <= last]  # fmt: skip
        for a, b, is_whole in parts:
            trimmed = row.trimmed(a, b)
            if trimmed[0] < trimmed[1]:
                yield trimmed
            elif is_whole:  # nothing but spaces
                yield a, b

    def _mark_of(self, piece: Piece) -> "_Mark":
        if piece.step == NO_STEP or piece.step != self._marked_step:
            return _Mark.NONE
        return _Mark.TOKEN if piece.item == self._marked_item else _Mark.STEP

    def _paint_mark(self, painter: QPainter, rect: QRectF, mark: "_Mark") -> None:
        """The ground of the selected step or the selected token."""
        is_token = mark is _Mark.TOKEN
        ground = mixed(self.theme.accent, self.theme.panel, 0.38 if is_token else 0.17)
        painter.fillRect(rect, QColor(ground))
        if is_token:
            painter.setPen(QPen(QColor(self.theme.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))

    def _y(self, row: int) -> int:
        return self.margin + (row - self.top_row) * self._pencil.height

    def _rect(self, row: int, first_cell: int, last_cell: int) -> QRectF:
        cell = self._pencil.cell
        width = (last_cell - first_cell) * cell
        return QRectF(self.margin + first_cell * cell, self._y(row), width, self._pencil.height)


class _Mark(Enum):
    """What ground a token has."""

    NONE = 0
    STEP = 1
    TOKEN = 2
