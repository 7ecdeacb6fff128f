"""TargetBox: which model's text it is to be."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QGridLayout,
    QPushButton,
    QWidget,
)

from ui.models_offered import OfferedModel
from ui.plain_text import plain_label
from ui.typed_path import model_problem


class TargetBox(QWidget):
    """A name of the list, or any folder, ``.gguf`` file or hub id."""

    changed = Signal(str)
    settled = Signal(str)
    """It is chosen, or typing it is done: what is looked up by it would hold up every key."""

    def __init__(self, models: Sequence[OfferedModel]) -> None:
        super().__init__()
        self._words = {model.name: model for model in models}
        self.box = QComboBox()
        self.box.setEditable(True)
        self.box.setToolTip("A known model, a folder, a .gguf file or a hub id")
        self.box.addItems([model.name for model in models])
        self.words = plain_label()
        self.words.setProperty("dim", True)
        self.words.setWordWrap(True)
        browse = QPushButton("Folder…")
        browse.clicked.connect(self._browse)
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.box, 0, 0)
        layout.addWidget(browse, 0, 1)
        layout.addWidget(self.words, 1, 0, 1, 2)
        layout.setColumnStretch(0, 1)
        self.box.currentTextChanged.connect(self._tell)
        self.box.activated.connect(self._settle)
        line = self.box.lineEdit()
        assert line is not None  # it is editable
        line.editingFinished.connect(self._settle)
        self._settled = self.value
        self._tell(self.value)

    @property
    def value(self) -> str:
        return self.box.currentText().strip()

    @property
    def problem(self) -> str:
        """Why it can be no model, in a sentence; "" for all that may be one."""
        return "" if self.value in self._words else model_problem(self.value)

    @property
    def context_length(self) -> int | None:
        """Of a model of the list; None where it is not known."""
        known = self._words.get(self.value)
        return None if known is None else known.context_length

    def choose(self, name: str) -> None:
        self.box.setCurrentText(name)
        self._settle()

    def _browse(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "A model's folder")
        if folder:
            self.choose(folder)

    def _settle(self) -> None:
        """Once for each name: Return and the focus both end typing."""
        if self.value != self._settled:
            self._settled = self.value
            self.settled.emit(self.value)

    def _tell(self, _text: str) -> None:
        known = self._words.get(self.value)
        words = self.problem or "A folder, a .gguf file or a hub id."
        if known is not None:
            words = known.words if known.is_here else f"{known.words}; not on this machine yet."
        self.words.setText(words)
        self.changed.emit(self.value)
