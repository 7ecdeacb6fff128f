"""The library as a table: searched, sorted by any column, names and tags edited in place."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from ui.library.library_rows import HEADINGS, NUMBERS, Column, LibraryRow
from ui.look import Look
from ui.plain_text import plain_tip

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_EDITED = (Column.NAME, Column.TAGS)
_WIDTHS = {
    Column.NAME: 190, Column.DATE: 122, Column.DRAFT: 110, Column.GAMMA: 46, Column.SPEED: 76,
    Column.ACCEPTANCE: 92, Column.TOKENS: 68, Column.TARGET: 110, Column.ENDED: 78,
    Column.TAGS: 120,
}  # fmt: skip
_LONGEST_NAME_PX = 420


class LibraryModel(QAbstractTableModel):
    """Rows as they were read; an edit is told, and shown when it was read again."""

    edited = Signal(object, int, str)
    """The row's path, the column, the new text."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.rows: tuple[LibraryRow, ...] = ()

    def show_rows(self, rows: Sequence[LibraryRow]) -> None:
        """Take new rows; where the files are the same, what is selected stays so by itself."""
        is_same_files = [row.path for row in rows] == [row.path for row in self.rows]
        if not is_same_files:
            self.beginResetModel()
        self.rows = tuple(rows)
        if not is_same_files:
            self.endResetModel()
        elif rows:
            last = self.index(len(rows) - 1, len(Column) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        column = Column(section)
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADINGS[column]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], Column(index.column())
        match role:
            case Qt.ItemDataRole.DisplayRole:
                mark = "⚠ " if row.is_broken and column is Column.NAME else ""
                return mark + row.words[column]
            case Qt.ItemDataRole.EditRole:
                return row.words[column]
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.ForegroundRole:
                return self._ink(row, column)
            case Qt.ItemDataRole.FontRole if row.is_recording and column is Column.ENDED:
                font = QFont()
                font.setBold(True)
                return font
            case Qt.ItemDataRole.ToolTipRole:
                told = row.problem or "\n".join(filter(None, (row.name, row.facts, row.notes)))
                return plain_tip(told)
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row, column = self.rows[index.row()], Column(index.column())
        text = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or text == row.words[column]:
            return False
        self.edited.emit(row.path, int(column), text)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        row = self.rows[index.row()]
        if Column(index.column()) in _EDITED and not row.is_broken and not row.is_recording:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def _ink(self, row: LibraryRow, column: Column) -> QColor | None:
        theme = self._look.theme
        if row.is_broken:
            return QColor(theme.rejected)
        if column is Column.ENDED and row.words[column] in ("crashed", "failed"):
            return QColor(theme.warning)
        dim = (Column.TAGS, Column.DATE, Column.ENDED)
        return QColor(theme.dim) if column in dim and not row.is_recording else None


class LibrarySieve(QSortFilterProxyModel):
    """What a search leaves, in the order asked for."""

    def __init__(self, model: LibraryModel) -> None:
        super().__init__()
        self._model = model
        self._search = ""
        self.setSourceModel(model)

    def search(self, text: str) -> None:
        self._search = text
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        return self._model.rows[row].matches(self._search)

    def lessThan(self, left: Index, right: Index) -> bool:
        rows, column = self._model.rows, left.column()
        return rows[left.row()].keys[column] < rows[right.row()].keys[column]


class LibraryTable(QTableView):
    """Selects whole rows, by their paths."""

    is_searched_by_letters = True
    picked = Signal()
    """Other rows are selected."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.model_ = LibraryModel(look)
        self.sieve = LibrarySieve(self.model_)
        self.setModel(self.sieve)
        self.setSortingEnabled(True)
        self.sortByColumn(Column.DATE, Qt.SortOrder.DescendingOrder)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setStyleSheet("QTableView { padding: 2px; } QTableView::item { padding: 0 3px; }")
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        for column, width in _WIDTHS.items():
            self.setColumnWidth(column, width)
        self.selectionModel().selectionChanged.connect(lambda *_: self.picked.emit())

    @property
    def is_editing(self) -> bool:
        return self.state() is QAbstractItemView.State.EditingState

    def selected(self) -> list[LibraryRow]:
        """The selected rows, from the top."""
        places = sorted(index.row() for index in self.selectionModel().selectedRows())
        sources = [self.sieve.mapToSource(self.sieve.index(place, 0)).row() for place in places]
        return [self.model_.rows[row] for row in sources]

    def shown(self) -> list[LibraryRow]:
        """All rows that the search left, from the top."""
        places = range(self.sieve.rowCount())
        sources = [self.sieve.mapToSource(self.sieve.index(place, 0)).row() for place in places]
        return [self.model_.rows[row] for row in sources]

    def select(self, paths: Sequence[Path]) -> None:
        """Select these, as far as they are shown; the first becomes the current one."""
        wanted, selection = set(paths), QItemSelection()
        first: QModelIndex | None = None
        for place, row in enumerate(self.shown()):
            if row.path in wanted:
                index = self.sieve.index(place, 0)
                selection.select(index, self.sieve.index(place, len(Column) - 1))
                first = first or index
        keep = QItemSelectionModel.SelectionFlag.NoUpdate
        if first is not None:
            self.selectionModel().setCurrentIndex(first, keep)
        self.selectionModel().select(selection, QItemSelectionModel.SelectionFlag.ClearAndSelect)

    def show_rows(self, rows: Sequence[LibraryRow]) -> None:
        """Take new rows; the selection stays with its files."""
        paths = [row.path for row in self.selected()]
        self.model_.show_rows(rows)
        if [row.path for row in self.selected()] != paths:
            self.select(paths)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The room that is left over is first the names', as far as names are long."""
        super().resizeEvent(event)
        others = sum(self.columnWidth(column) for column in Column if column is not Column.NAME)
        room = self.viewport().width() - others + self.columnWidth(Column.TAGS)
        width = min(room - _WIDTHS[Column.TAGS], _LONGEST_NAME_PX)
        self.setColumnWidth(Column.NAME, max(_WIDTHS[Column.NAME], width))

    def edit_name(self) -> None:
        self._edit(Column.NAME)

    def edit_tags(self) -> None:
        """In the line of the session, with commas between them."""
        self._edit(Column.TAGS)

    def _edit(self, column: Column) -> None:
        """Of the current session, unless it may not be written."""
        index = self.sieve.index(self.currentIndex().row(), column)
        if index.isValid() and self.sieve.flags(index) & Qt.ItemFlag.ItemIsEditable:
            self.scrollTo(index)
            self.edit(index)


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
