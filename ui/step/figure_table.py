"""FigureTable: the figures of a step's tokens, a row each."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

from ui.theme import CAPTION, interface_font, token_font

HEADS = ("token", "draft", "target", "ratio", "uniform", "overlap", "entropy")
_TIPS = (
    "· is a space",
    "the probability of the token in the distribution it was drawn from",
    "its probability in the target's distribution",
    "target / draft; min(1, ratio) is the threshold",
    "the number drawn for the test: below the threshold the token is accepted",
    "sum over the vocabulary of min(draft, target): how likely any draw is accepted here",
    "of the target's distribution at temperature 1, in nats",
)
_ROW_PIXELS = 20


class FigureTable(QTableWidget):
    """Texts only; a model's are shown as they are."""

    def __init__(self) -> None:
        super().__init__(0, len(HEADS))
        for column, tip in enumerate(_TIPS):
            item = QTableWidgetItem(HEADS[column])
            self.setHorizontalHeaderItem(column, item)
            item.setToolTip(tip)
            side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
            item.setTextAlignment(side | Qt.AlignmentFlag.AlignVCenter)
        font = interface_font(CAPTION)
        self.setFont(font)
        header = self.horizontalHeader()
        header.setFont(font)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setHighlightSections(False)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(_ROW_PIXELS)
        self.verticalHeader().setDefaultSectionSize(_ROW_PIXELS)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName("The step's figures")

    def show_rows(self, rows: Sequence[Sequence[str]], marked: int | None) -> None:
        """Show these, one of them marked."""
        self.setRowCount(len(rows))
        for row, values in enumerate(rows):
            for column, value in enumerate(values):
                self._item(row, column).setText(value)
        if marked is None:
            self.clearSelection()
        else:
            self.selectRow(marked)

    def fit(self, n_rows: int) -> None:
        """Be as high as so many rows."""
        header = self.horizontalHeader().sizeHint().height()
        frame = self.height() - self.viewport().height() - self.horizontalHeader().height()
        self.setFixedHeight(header + n_rows * _ROW_PIXELS + max(frame, 8))

    def _item(self, row: int, column: int) -> QTableWidgetItem:
        item = self.item(row, column)
        if item is None:
            item = QTableWidgetItem()
            if column:
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            else:
                item.setFont(token_font(CAPTION))
            self.setItem(row, column, item)
        return item
