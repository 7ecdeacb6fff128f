"""SettingsBox: the numbers of a run, those that matter most first."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QWidget,
)

from engine.wire.config import (
    ALLOCATIONS,
    BLOCK_SIZES,
    DTYPES,
    MAX_BATCH,
    MAX_GAMMA,
    WEIGHTS,
    RunConfig,
)
from ui.dialogs.graphs_box import GraphsBox
from ui.number_fields import (
    DecimalField,
    NumberField,
    WholeField,
    decimal_field,
    whole_field,
)
from ui.plain_text import plain_label
from ui.theme import CAPTION, interface_font

_COLUMNS = 2
_LARGE = 2**31 - 1


class SettingsBox(QWidget):
    """Fields of a RunConfig, by their names there. ``has_gpu`` says where "auto" decodes."""

    changed = Signal()

    def __init__(self, *, has_gpu: bool) -> None:
        super().__init__()
        self._has_gpu = has_gpu
        self._fields: dict[str, QWidget] = {}
        self._labels: dict[str, str] = {}
        self._notes: dict[str, QLabel] = {}  # a sentence beneath each number
        self._context_length: int | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(5)
        self._add("gamma", "γ, tokens drafted a step", whole_field(-1, MAX_GAMMA, word="auto"))  # noqa: RUF001
        self._add("max_gamma", "most that auto drafts", whole_field(1, MAX_GAMMA))
        self._add("max_new_tokens", "new tokens a prompt", whole_field(1, 1_000_000))
        self._add("temperature", "temperature (0: greedy)", decimal_field(0.0, 10.0, step=0.1))
        self._add("top_k", "top-k", whole_field(0, _LARGE, word="off"))
        self._add("top_p", "top-p (1: off)", decimal_field(0.01, 1.0, step=0.05))
        self._add("seed", "seed", whole_field(0, _LARGE))
        self._add("batch", "sequences together", whole_field(1, MAX_BATCH))
        self._add("block_size", "KV block, slots", _choice([str(size) for size in BLOCK_SIZES]))
        self._add("allocation", "KV memory", _choice(ALLOCATIONS))
        self._add("device", "device", _choice(["auto", "cpu", "cuda"], is_editable=True))
        self._add("dtype", "dtype", _choice(DTYPES))
        self._add("weights", "weights", _choice(WEIGHTS))
        self._add(
            "kernels_every", "kernels of every n-th step", whole_field(0, 1_000_000, word="none")
        )
        self._add("chat", "", QCheckBox("chat template"))
        self.graphs = GraphsBox()
        self._add("graphs", "", self.graphs)
        self._add("calibrate", "", QCheckBox("calibrate first"))
        self._fields["chat"].setToolTip("Wrap each prompt in the model's own template")
        self._fields["kernels_every"].setToolTip(
            "Record the kernels (on a CPU: the operators) of every so many steps. Those steps are "
            "slower and are left out of figures of speed."
        )
        self._fields["calibrate"].setToolTip("Measure c and v before decoding; under a second")
        device = self._fields["device"]
        assert isinstance(device, QComboBox)
        device.currentTextChanged.connect(self._device_chosen)
        self._device_chosen(device.currentText())
        self.fill(_defaults())

    def values(self) -> dict[str, Any]:
        """As RunConfig takes them."""
        return {name: _value(name, field) for name, field in self._fields.items()}

    @property
    def problem(self) -> str:
        """Why a number cannot be taken, in a sentence; "" when all can."""
        for name, field in self._fields.items():
            if isinstance(field, NumberField) and field.problem:
                return f"{self._labels[name]}: {field.problem}"
        return ""

    def set_context_length(self, n_tokens: int | None) -> None:
        """Of the chosen target; None where it is not known."""
        self._context_length = n_tokens
        self._say_beneath("max_new_tokens")

    def fill(self, values: Mapping[str, Any]) -> None:
        """Set the fields; what does not fit one is left out."""
        for name, field in self._fields.items():
            if name in values:
                _set(name, field, values[name])

    def _device_chosen(self, text: str) -> None:
        is_auto = text.strip() == "auto"
        self.graphs.set_has_gpu(self._has_gpu if is_auto else text.strip().startswith("cuda"))

    def _add(self, name: str, label: str, field: QWidget) -> None:
        place = len(self._fields)
        line, column = divmod(place, _COLUMNS)
        line *= 2  # between two lines of fields one of notes
        self._fields[name], self._labels[name] = field, label
        if label:
            words = QLabel(label)
            words.setBuddy(field)
            self._grid.addWidget(words, line, column * 2)
            self._grid.addWidget(field, line, column * 2 + 1)
        else:
            self._grid.addWidget(field, line, column * 2, 1, 2)
        self._grid.setColumnStretch(column * 2 + 1, 1)
        if isinstance(field, NumberField):
            self._notes[name] = note = _note()
            self._grid.addWidget(note, line + 1, column * 2, 1, 2)
            field.valueChanged.connect(lambda _: self._say_beneath(name))
            field.valueChanged.connect(lambda *_: self.changed.emit())
        elif isinstance(field, QComboBox):
            field.currentTextChanged.connect(lambda *_: self.changed.emit())
        elif isinstance(field, QCheckBox):
            field.toggled.connect(lambda *_: self.changed.emit())

    def _say_beneath(self, name: str) -> None:
        field, note = self._fields[name], self._notes[name]
        assert isinstance(field, NumberField)
        context = self._context_words(int(field.value())) if name == "max_new_tokens" else ""
        note.setText(field.problem or context)
        note.setVisible(bool(note.text()))

    def _context_words(self, n_new_tokens: int) -> str:
        """That a sequence ends before it has so many, which is no mistake; "" if it need not."""
        most = self._context_length
        if most is None or n_new_tokens < most:
            return ""
        return f"At most {most:,} with this target, prompt included."


def _note() -> QLabel:
    """A sentence beneath a field, in no line of its own while there is none."""
    note = plain_label()
    note.setFont(interface_font(CAPTION))
    note.setWordWrap(True)
    note.setVisible(False)
    return note


def _defaults() -> dict[str, Any]:
    config = RunConfig()
    return {name: getattr(config, name) for name in RunConfig.__struct_fields__}


def _value(name: str, field: QWidget) -> Any:
    if isinstance(field, GraphsBox):
        return field.is_wanted
    if isinstance(field, QCheckBox):
        return field.isChecked()
    if isinstance(field, QComboBox):
        text = field.currentText().strip()
        return int(text) if name == "block_size" else text
    assert isinstance(field, NumberField)
    if name == "gamma" and field.value() < 0:
        return "auto"
    return field.value()


def _set(name: str, field: QWidget, value: Any) -> None:
    if isinstance(field, GraphsBox):
        field.want(value is True)
    elif isinstance(field, QCheckBox):
        field.setChecked(value is True)
    elif isinstance(field, QComboBox):
        text = str(value)
        if field.isEditable() or field.findText(text) >= 0:
            field.setCurrentText(text)
    elif name == "gamma" and value == "auto" and isinstance(field, WholeField):
        field.setValue(-1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(field, WholeField):
            field.setValue(int(value))
        elif isinstance(field, DecimalField):
            field.setValue(float(value))


def _choice(names: Sequence[str], *, is_editable: bool = False) -> QComboBox:
    field = QComboBox()
    field.addItems(list(names))
    field.setEditable(is_editable)
    return field
