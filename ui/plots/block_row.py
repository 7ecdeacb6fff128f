"""BlockRow: a block table, logical block above, physical block beneath, side by side."""

from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QSizePolicy, QWidget

from ui.painting import guarded, painting
from ui.theme import CAPTION, Theme, interface_font, mixed

_GAP_PX = 3


class BlockRow(QAbstractScrollArea):
    """Scrolls sideways; paints only what is in sight."""

    chosen = Signal(int)
    """The physical block of an entry that was clicked."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.physical: np.ndarray = np.zeros(0, np.int64)  # [n_logical]
        self.selected: int | None = None
        self._colour = theme.dim
        self._words = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setAutoFillBackground(False)
        self.setFont(interface_font(CAPTION))
        line = QFontMetrics(self.font()).height()
        self.setFixedHeight(2 * line + 6 + self.horizontalScrollBar().sizeHint().height())

    def set_table(
        self, physical: np.ndarray, *, colour: str, selected: int | None, words: str = ""
    ) -> None:
        """``words`` are said where the table is empty."""
        has_moved = selected is not None and selected != self.selected
        self.physical, self.selected = physical, selected
        self._colour, self._words = colour, words
        self._set_range()
        if has_moved:
            self._reveal()
        self.viewport().update()

    def restyle(self, theme: Theme) -> None:
        self.theme = theme
        self.viewport().update()

    @property
    def cell_px(self) -> int:
        """How wide an entry is, its gap included."""
        widest = str(max(int(self.physical.max(initial=0)), len(self.physical), 10))
        return QFontMetrics(self.font()).horizontalAdvance(widest) + 10 + _GAP_PX

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._set_range()

    def wheelEvent(self, event: Any) -> None:
        turned = event.angleDelta()
        bar = self.horizontalScrollBar()
        bar.setValue(bar.value() - (turned.x() or turned.y()) // 2)

    def mousePressEvent(self, event: Any) -> None:
        place = self._place(event.position().toPoint())
        if place is not None:
            self.chosen.emit(int(self.physical[place]))

    def mouseReleaseEvent(self, event: Any) -> None:
        event.accept()

    @guarded
    def paintEvent(self, event: Any) -> None:
        with painting(self.viewport()) as painter:
            self._paint(painter)

    def _paint(self, painter: QPainter) -> None:
        painter.setFont(self.font())
        line, cell = QFontMetrics(self.font()).height(), self.cell_px
        if not len(self.physical):
            painter.setPen(QColor(self.theme.dim))
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, self._words)
            return
        offset = self.horizontalScrollBar().value()
        first, last = offset // cell, (offset + self.viewport().width()) // cell + 1
        for place in range(first, min(last, len(self.physical))):
            left = place * cell - offset
            block = int(self.physical[place])
            painter.setPen(QColor(self.theme.dim))
            centre = Qt.AlignmentFlag.AlignCenter
            painter.drawText(QRect(left, 0, cell - _GAP_PX, line), centre, str(place))
            box = QRect(left, line + 1, cell - _GAP_PX - 1, line + 3)
            is_selected = block == self.selected
            painter.setBrush(QColor(mixed(self._colour, self.theme.panel, 0.28)))
            ink = self.theme.accent if is_selected else self._colour
            painter.setPen(QPen(QColor(ink), 2 if is_selected else 1))
            painter.drawRect(box)
            painter.setPen(QColor(self.theme.text))
            painter.drawText(box, centre, str(block))

    def _place(self, point: QPoint) -> int | None:
        place = (point.x() + self.horizontalScrollBar().value()) // self.cell_px
        return place if 0 <= place < len(self.physical) else None

    def _set_range(self) -> None:
        bar = self.horizontalScrollBar()
        width = self.viewport().width()
        bar.setRange(0, max(0, len(self.physical) * self.cell_px - width))
        bar.setPageStep(width)
        bar.setSingleStep(self.cell_px)

    def _reveal(self) -> None:
        places = np.flatnonzero(self.physical == self.selected)
        if not len(places):
            return
        bar, left = self.horizontalScrollBar(), int(places[0]) * self.cell_px
        if not bar.value() <= left <= bar.value() + self.viewport().width() - self.cell_px:
            bar.setValue(left - self.viewport().width() // 2)
