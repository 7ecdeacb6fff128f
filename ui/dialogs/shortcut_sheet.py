"""ShortcutSheet: every key and what it does, on one page."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QVBoxLayout, QWidget

from ui.dialogs.card_keys import CARD_KEYS
from ui.theme import CAPTION, interface_font

_COLUMNS = 3
_CHIP_PX = 22
"""What a chip is wider than its keys."""


class ShortcutSheet(QDialog):
    """Groups of (keys, what they do), the window's and then the cards', in columns."""

    def __init__(
        self, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Keyboard shortcuts")
        columns = QGridLayout(self)
        columns.setContentsMargins(22, 18, 22, 20)
        columns.setHorizontalSpacing(36)
        shown = (*groups, *CARD_KEYS)
        metrics = self.fontMetrics()
        widest = max(metrics.horizontalAdvance(keys) for _, lines in shown for keys, _ in lines)
        heights = [0] * _COLUMNS
        boxes = [QVBoxLayout() for _ in range(_COLUMNS)]
        for index, box in enumerate(boxes):
            columns.addLayout(box, 0, index)
        for name, lines in shown:
            place = heights.index(min(heights))
            heights[place] += len(lines) + 2
            boxes[place].addWidget(_group(name, lines, widest + _CHIP_PX))
        for box in boxes:
            box.addStretch(1)


def _group(name: str, lines: Sequence[tuple[str, str]], width: int) -> QWidget:
    """Keys ``width`` pixels wide, so that what they do stands in one line down a column."""
    group = QWidget()
    grid = QGridLayout(group)
    grid.setContentsMargins(0, 0, 0, 12)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(3)
    title = QLabel(name.upper())
    title.setObjectName("title")
    title.setFont(interface_font(CAPTION, is_bold=True))
    grid.addWidget(title, 0, 0, 1, 2)
    for row, (keys, words) in enumerate(lines, 1):
        key = QLabel(keys)
        key.setObjectName("chip")
        key.setFixedWidth(width)
        grid.addWidget(key, row, 0)
        grid.addWidget(QLabel(words), row, 1)
    grid.setColumnStretch(1, 1)
    return group
