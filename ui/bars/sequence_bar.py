"""SequenceBar: tabs for a few sequences, a list for many."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QTabBar, QWidget

from ui.step.looked_at import NamedSequence
from ui.theme import CAPTION, interface_font

MOST_TABS = 8


class SequenceBar(QWidget):
    """Shows the sequences there are; ``chosen`` gives the id of the one a person picks."""

    chosen = Signal(int)

    def __init__(self, *, has_tabs: bool = True) -> None:
        super().__init__()
        self._has_tabs = has_tabs
        self._shown: tuple[NamedSequence, ...] = ()
        font = interface_font(CAPTION)
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Sequences")
        self.tabs.setFont(font)
        self.tabs.setExpanding(False)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)  # "0 j…" names none: it scrolls
        self.tabs.setUsesScrollButtons(True)
        self.list = QComboBox()
        self.list.setFont(font)
        self.list.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.list.setMinimumContentsLength(8 if has_tabs else 2)
        for part in (self.tabs, self.list):
            part.setAccessibleName("Sequence")
            part.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            part.setToolTip("The sequence that is shown")
        self.tabs.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(self.list)
        layout.addStretch(0 if has_tabs else 1)
        self.tabs.currentChanged.connect(self._choose)
        self.list.activated.connect(self._choose)

    def show_sequences(self, sequences: Sequence[NamedSequence], current: int) -> None:
        """Show these, ``current`` (an id) as the chosen one."""
        shown = tuple(sequences)
        is_tabs = self._has_tabs and len(shown) <= MOST_TABS
        self.tabs.blockSignals(True)
        if shown != self._shown:
            self._fill(shown, is_tabs=is_tabs)
        index = next((i for i, each in enumerate(shown) if each.sequence_id == current), -1)
        if is_tabs:
            self.tabs.setCurrentIndex(index)
        else:
            self.list.setCurrentIndex(index)
        self.tabs.blockSignals(False)
        self.tabs.setVisible(is_tabs)
        self.list.setVisible(not is_tabs)

    def _fill(self, shown: tuple[NamedSequence, ...], *, is_tabs: bool) -> None:
        """What was there before stays, where it is the same: sequences only come to it."""
        known = len(self._shown)
        count = self.tabs.count() if is_tabs else self.list.count()
        if shown[:known] != self._shown or count != known:
            known = 0
            while self.tabs.count():
                self.tabs.removeTab(0)
            self.list.clear()
        names = [each.name for each in shown[known:]]
        if is_tabs:
            for name in names:
                self.tabs.addTab(name.replace("&", "&&"))
        else:
            self.list.addItems(names)
        self._shown = shown

    def _choose(self, index: int) -> None:
        if 0 <= index < len(self._shown):
            self.chosen.emit(self._shown[index].sequence_id)
