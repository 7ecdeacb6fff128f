"""ComparisonTable: figures in rows, sessions in columns, bars in the cells of the speed."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from ui.compare.comparison_rows import Cell, Row
from ui.look import Look
from ui.painting import guarded
from ui.plain_text import plain_tip
from ui.theme import CAPTION, interface_font, mixed

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_COLUMN_PX = 104
_BAR_INSET_PX = 3


class ComparisonModel(QAbstractTableModel):
    """Column 0 names the figures; the others are the sessions."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.names: tuple[str, ...] = ()
        self.tips: tuple[str, ...] = ()
        self.rows: tuple[Row, ...] = ()

    def show_rows(
        self, names: Sequence[str], rows: Sequence[Row], tips: Sequence[str] = ()
    ) -> None:
        """``tips``: the sessions' whole names; none where the names are whole."""
        is_alike = len(names) == len(self.names) and len(rows) == len(self.rows)
        if not is_alike:
            self.beginResetModel()
        self.names, self.rows = tuple(names), tuple(rows)
        self.tips = tuple(tips) or self.names
        if not is_alike:
            self.endResetModel()
        else:
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(names)))
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(names))

    def cell(self, index: Index) -> Cell | None:
        return self.rows[index.row()].cells[index.column() - 1] if index.column() else None

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() or not self.names else len(self.names) + 1

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section <= len(self.names):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            told = self.names if role == Qt.ItemDataRole.DisplayRole else self.tips
            name = told[section - 1] if section else ""
            return name if role == Qt.ItemDataRole.DisplayRole else plain_tip(name)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, cell, theme = self.rows[index.row()], self.cell(index), self._look.theme
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.name if cell is None else cell.text
            case Qt.ItemDataRole.ToolTipRole:
                return row.meaning if cell is None else cell.why or row.meaning
            case Qt.ItemDataRole.TextAlignmentRole:
                side = Qt.AlignmentFlag.AlignRight if cell else Qt.AlignmentFlag.AlignLeft
                return side | Qt.AlignmentFlag.AlignVCenter
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(theme.dim if cell is None or cell.is_missing else theme.text)
            case Qt.ItemDataRole.FontRole if cell is not None and cell.is_best:
                font = QFont(interface_font())
                font.setBold(True)
                return font
        return None


class _BarDelegate(QStyledItemDelegate):
    """A bar behind the figure; the best one is filled, the others are outlined."""

    def __init__(self, model: ComparisonModel, look: Look) -> None:
        super().__init__()
        self._model = model
        self._look = look

    @guarded
    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        cell, theme = self._model.cell(index), self._look.theme
        if cell is not None and cell.bar is not None:
            room = QRectF(option.rect).adjusted(
                _BAR_INSET_PX, _BAR_INSET_PX, -_BAR_INSET_PX, -_BAR_INSET_PX
            )
            room.setLeft(room.right() - room.width() * cell.bar)
            ground = mixed(theme.accent, theme.panel, 0.35 if cell.is_best else 0.16)
            painter.save()
            painter.setPen(QPen(QColor(mixed(theme.accent, theme.panel, 0.6)), 1))
            painter.setBrush(QColor(ground))
            painter.drawRect(room)
            painter.restore()
        super().paint(painter, option, index)


class ComparisonTable(QTableView):
    """As high as its rows; whoever holds it scrolls."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.model_ = ComparisonModel(look)
        self.setModel(self.model_)
        self.setItemDelegate(_BarDelegate(self.model_, look))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setStyleSheet(
            "QTableView { background: transparent; border: none; padding: 0; }"
            "QTableView::item { padding: 0 5px; background: transparent; }"
        )
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 6)
        header = self.horizontalHeader()
        header.setFont(interface_font(CAPTION, is_bold=True))
        header.setHighlightSections(False)
        header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        header.setMinimumSectionSize(60)

    def show_rows(
        self, names: Sequence[str], rows: Sequence[Row], tips: Sequence[str] = ()
    ) -> None:
        has_other_columns = len(names) != len(self.model_.names)
        self.model_.show_rows(names, rows, tips)
        if has_other_columns:
            header = self.horizontalHeader()
            header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
            header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
            metrics = self.fontMetrics()
            name_px = max(metrics.horizontalAdvance(row.name) for row in rows) + 18
            self.setColumnWidth(0, name_px)
            self.setMinimumWidth(name_px + _COLUMN_PX * len(names))
        height = self.horizontalHeader().sizeHint().height() + 2
        self.setFixedHeight(height + self.verticalHeader().length())

    def as_text(self) -> str:
        """Tab-separated, as a spreadsheet takes it."""
        model = self.model_
        lines = ["\t".join(("", *model.names))]
        lines += ["\t".join((row.name, *(cell.text for cell in row.cells))) for row in model.rows]
        return "\n".join(lines)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.as_text())
        else:
            super().keyPressEvent(event)
