"""DraftList: what may propose for the target; what may not says why."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ui.look import Look
from ui.models_offered import OfferedDraft
from ui.plain_text import plain_label, without_mnemonic
from ui.tab_order import stops_before, tab_through
from ui.theme import CAPTION, interface_font
from ui.typed_path import model_problem, path_problem


class DraftList(QWidget):
    """Boxes to tick. Several are run one after the other and compared."""

    changed = Signal()

    def __init__(self, offer: Callable[[str], Sequence[OfferedDraft]], look: Look) -> None:
        super().__init__()
        self._offer = offer
        self._look = look
        self._target = ""
        self._boxes: dict[str, QCheckBox] = {}
        self._own: list[str] = []  # folders and hub ids that were typed
        self._list = QWidget()
        self._lines = QVBoxLayout(self._list)
        self._lines.setContentsMargins(0, 0, 4, 0)
        self._lines.setSpacing(4)
        scroll = QScrollArea()
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what is in it comes into sight by itself
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._list)
        self.other = QLineEdit()
        self.other.setAccessibleName("Another draft")
        self.other.setPlaceholderText("another: a folder, a .gguf file or a hub id")
        add = QPushButton("Add")
        add.setAutoDefault(False)
        add.clicked.connect(self._add_own)
        self.other.returnPressed.connect(self._add_own)
        line = QHBoxLayout()
        line.addWidget(self.other, 1)
        line.addWidget(add)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(scroll, 1)
        layout.addLayout(line)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The drafts that are ticked, in the list's order."""
        return tuple(name for name, box in self._boxes.items() if box.isChecked())

    @property
    def problem(self) -> str:
        """Why one that was typed and is ticked can be no model; "" for all that may be one."""
        typed = (name for name in self.chosen if name in self._own)
        return next(filter(None, map(model_problem, typed)), "")

    def choose(self, names: Sequence[str]) -> None:
        """Tick these, as far as they may be."""
        for name in names:
            if name not in self._boxes:
                self._own.append(name)
        self._fill(names)

    def offer_for(self, target: str) -> None:
        """List what may draft for ``target``; what was ticked stays so where it still may be."""
        if target != self._target:
            self._target = target
            self._fill(self.chosen)

    def _fill(self, ticked: Sequence[str]) -> None:
        while (item := self._lines.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self._boxes.clear()
        # What cannot even be looked for has no drafts; the target's box says why.
        offered = [] if path_problem(self._target) else list(self._offer(self._target))
        known = {draft.name for draft in offered}
        offered += [OfferedDraft(name=name, words="") for name in self._own if name not in known]
        for draft in offered:
            self._lines.addWidget(self._line(draft, draft.name in ticked))
        self._lines.addStretch(1)
        self._order_tabs()
        if not self.chosen:  # the first that may be
            for box in self._boxes.values():
                if box.isEnabled():
                    box.setChecked(True)
                    break
        self.changed.emit()

    def _order_tabs(self) -> None:
        """The boxes are made anew behind all else of the window: they belong before the field."""
        tab_through(*stops_before(self), *self._boxes.values(), self.other)

    def _line(self, draft: OfferedDraft, is_ticked: bool) -> QWidget:
        line = QWidget()
        layout = QVBoxLayout(line)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        box = QCheckBox(without_mnemonic(draft.name))
        box.setEnabled(not draft.refusal)
        box.setChecked(is_ticked and not draft.refusal)
        box.toggled.connect(self.changed)
        self._boxes[draft.name] = box
        layout.addWidget(box)
        words = plain_label(draft.refusal or draft.words)
        words.setProperty("dim", True)
        words.setFont(interface_font(CAPTION))
        words.setWordWrap(True)
        words.setContentsMargins(22, 0, 0, 2)
        layout.addWidget(words)
        words.setVisible(bool(words.text()))  # in its line: without one it would be a window
        return line

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return in the field adds a draft, and does not run the dialog, too."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.other.hasFocus():
            event.accept()
        else:
            super().keyPressEvent(event)

    def _add_own(self) -> None:
        name = self.other.text().strip()
        if not name:
            return
        self.other.clear()
        self.choose([*self.chosen, name])
