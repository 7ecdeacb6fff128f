"""The planner's form for memory: two models, a load, and what of it fits where."""

# ruff: noqa: RUF001 - the letters alpha and gamma and the times sign are meant

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QComboBox,
    QFormLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from engine.theory.devices import KNOWN_DEVICES, find_device
from engine.theory.plans import (
    PART_TEXTS,
    MemoryPlan,
    Mode,
    fitting_text,
    memory_plan,
    room_text,
    weight_format,
)
from engine.theory.presets import PRESETS, find_preset
from engine.theory.shape_source import NamedShape, resolve_shape
from engine.theory.workload import Workload, to_gib
from ui.look import Look
from ui.number_fields import DecimalField, NumberField, require
from ui.panels.planner_fields import (
    FormBars,
    bits_field,
    choice_field,
    count_field,
    models_field,
)
from ui.panels.planner_parts import bars, finding, parts_text, size_text
from ui.panels.planner_source import FormSource
from ui.plain_text import plain_label
from ui.theme import CAPTION, interface_font

NONE = "none"
MODES: tuple[Mode, ...] = ("exact", "document")
MOST_TOKENS = 2**24
"""Of a sequence."""
_WIDE_PX = 510


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryInputs:
    """What the form holds. Models as they are typed: a preset, a loaded one, a folder, numbers."""

    target: str = "llama-3-70b"
    draft: str = "llama-3-8b"
    batch: int = 4
    context: int = 4096
    gamma: int = 5
    target_bits: float = 16.0
    draft_bits: float = 16.0
    kv_bits: float = 16.0
    n_gpus: int = 1
    mode: Mode = "exact"
    device: str = KNOWN_DEVICES[0].name

    def load(self) -> Workload:
        """ValueError, with a sentence, for what is no load."""
        return Workload(
            batch_size=self.batch,
            context_length=self.context,
            gamma=self.gamma,
            tensor_parallel=self.n_gpus,
            target_weights=weight_format(self.target_bits),
            draft_weights=weight_format(self.draft_bits),
            bytes_per_kv=self.kv_bits / 8,
        )


def planned(inputs: MemoryInputs, loaded: Mapping[str, NamedShape]) -> MemoryPlan:
    """ValueError, with a sentence, for what makes no plan."""

    def model(text: str) -> NamedShape:
        """A model of the session may be called with blanks around; what is typed is not."""
        return loaded[text] if text in loaded else resolve_shape(text.strip())

    has_draft = inputs.draft in loaded or inputs.draft.strip().casefold() not in {NONE, ""}
    draft = model(inputs.draft) if has_draft else None
    device = find_device(inputs.device)
    return memory_plan(
        model(inputs.target),
        draft,
        inputs.load(),
        mode=inputs.mode,
        budget_bytes=None if device is None else device.memory_bytes,
    )


class MemoryForm(QWidget):
    """Works everything out anew at each change."""

    found = Signal(str)
    """The finding; "" while what is typed makes no plan."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._offered: dict[str, NamedShape] = {}  # files that are here
        self._loaded: dict[str, NamedShape] = {}  # by the open session
        self._is_filling = False
        self._session: MemoryInputs | None = None  # what the open session ran
        self._typed_numbers: set[QWidget] = set()
        self.plan: MemoryPlan | None = None
        self._make_fields()
        self.problem, self.words, self.parts = plain_label(), QLabel(), QLabel()
        self.parts.setFont(interface_font(CAPTION))
        self.parts.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.parts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for label in (self.problem, self.words):
            label.setWordWrap(True)
        self.plot = FormBars(look.theme, x_label="GiB")
        self.plot.setMinimumSize(160, 120)
        self.plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        right = QVBoxLayout()
        right.addWidget(self.plot, 1)
        right.addWidget(self.parts)
        left = QVBoxLayout()
        left.addLayout(self._form)
        left.addWidget(self.source)
        left.addStretch(1)
        column = QVBoxLayout(self)  # the answer first: it is seen wherever the form is small
        column.setContentsMargins(0, 4, 0, 0)
        column.addWidget(self.problem)
        column.addWidget(self.words)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._layout.setSpacing(12)
        column.addLayout(self._layout, 1)
        self._layout.addLayout(left)
        self._layout.addLayout(right, 1)
        self.recompute()

    def _make_fields(self) -> None:
        first = MemoryInputs()
        self.target, self.draft = models_field(first.target), models_field(first.draft, NONE)
        self.batch = count_field(first.batch, 1, 65536)
        self.context = count_field(first.context, 1, MOST_TOKENS)
        self.gamma = count_field(first.gamma, 0, 1024)
        self.target_bits, self.draft_bits = (
            bits_field(first.target_bits),
            bits_field(first.draft_bits),
        )
        self.kv_bits = bits_field(first.kv_bits)
        self.n_gpus = count_field(first.n_gpus, 1, 64)
        self._numbers: dict[str, NumberField] = {
            "sequences": self.batch, "tokens of each": self.context, "γ": self.gamma,
            "GPUs": self.n_gpus, "target bits": self.target_bits, "draft bits": self.draft_bits,
            "KV bits": self.kv_bits,
        }  # fmt: skip
        self.mode = choice_field(MODES)
        self.device = choice_field([device.name for device in KNOWN_DEVICES])
        self.mode.setToolTip(
            "Exact: what an engine allocates. Document: the simple estimate often seen in print, "
            "with round model sizes and 8 % on top."
        )
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(8)
        self._form.setVerticalSpacing(3)
        for name, field in (
            ("target", self.target), ("draft", self.draft), ("sequences", self.batch),
            ("tokens of each", self.context), ("γ", self.gamma),
            ("target bits", self.target_bits), ("draft bits", self.draft_bits),
            ("KV bits", self.kv_bits), ("GPUs", self.n_gpus), ("GPU", self.device),
            ("mode", self.mode),
        ):  # fmt: skip
            field.setFixedWidth(148)
            self._form.addRow(name, field)
            if isinstance(field, QComboBox):
                field.currentTextChanged.connect(self._typed)
            else:
                field.valueChanged.connect(partial(self._number_typed, field))
        self.target.currentTextChanged.connect(self._take_usual)
        self.draft.currentTextChanged.connect(self._take_usual)
        self.source = FormSource()
        self.source.taken.connect(self._fill)

    def offer(self, folders: Mapping[str, Path]) -> None:
        """Models to choose among besides the presets: folders with a configuration, by name. One
        whose configuration cannot be read is left out."""
        for name in folders:
            with contextlib.suppress(ValueError):
                self._offered[name] = resolve_shape(name, folders)
        self._fill_choices()

    def set_loaded(
        self, models: Mapping[str, NamedShape], preset: MemoryInputs | None = None
    ) -> None:
        """The models of the open session, to choose among; and what it ran, which fills the form
        until somebody types."""
        if dict(models) != self._loaded:
            self._loaded = dict(models)
            self._fill_choices()
        self._session = preset
        reason = "" if preset is not None else "No model of known shape is loaded."
        self.source.offer(preset, reason)

    def _fill_choices(self) -> None:
        """Keeps what is typed."""
        here = dict.fromkeys((*self._loaded, *self._offered))
        for box, first in ((self.target, ()), (self.draft, (NONE,))):
            text = box.currentText()
            box.blockSignals(True)
            box.clear()
            box.addItems([*first, *here, *PRESETS])
            box.setCurrentText(text)
            box.blockSignals(False)
        self.recompute()

    def _number_typed(self, field: QWidget, _value: float) -> None:
        if not self._is_filling:
            self._typed_numbers.add(field)
        self._typed()

    def _take_usual(self) -> None:
        """Numbers that nobody typed come with the model: a preset knows nothing of the run whose
        models were there before."""
        if self._is_filling:
            return
        self._is_filling = True
        target, draft = self._usual(self.target), self._usual(self.draft)
        if target is not None:
            self._suggest(self.target_bits, target.target_bits)
            self._suggest(self.kv_bits, target.kv_bits)
            if self.context not in self._typed_numbers:
                self.context.setValue(target.context)
        if draft is not None:
            self._suggest(self.draft_bits, draft.draft_bits)
        self._is_filling = False
        self.recompute()

    def _usual(self, box: QComboBox) -> MemoryInputs | None:
        """What goes with the model in ``box``; None for one of which nothing is known."""
        name, ran = box.currentText(), self._session
        if ran is not None and name == (ran.target if box is self.target else ran.draft):
            return ran
        is_preset = name not in self._loaded and find_preset(name) is not None
        return MemoryInputs() if is_preset else None

    def _suggest(self, field: DecimalField, bits: float) -> None:
        if field not in self._typed_numbers:
            field.setValue(bits)

    def _typed(self) -> None:
        if not self._is_filling:
            self.source.note_typing()
            self.recompute()

    def _fill(self, inputs: MemoryInputs) -> None:
        """But for the GPUs and the mode, of which a session knows nothing."""
        self._typed_numbers.clear()
        mine = self.inputs()
        if replace(inputs, n_gpus=mine.n_gpus, mode=mine.mode, device=mine.device) == mine:
            return
        self._is_filling = True
        self.target.setCurrentText(inputs.target)
        self.draft.setCurrentText(inputs.draft)
        self.batch.setValue(inputs.batch)
        self.context.setValue(inputs.context)
        self.gamma.setValue(inputs.gamma)
        self.target_bits.setValue(inputs.target_bits)
        self.draft_bits.setValue(inputs.draft_bits)
        self.kv_bits.setValue(inputs.kv_bits)
        self._is_filling = False
        self.recompute()

    def inputs(self) -> MemoryInputs:
        return MemoryInputs(
            target=self.target.currentText(),
            draft=self.draft.currentText(),
            batch=self.batch.value(),
            context=self.context.value(),
            gamma=self.gamma.value(),
            target_bits=self.target_bits.value(),
            draft_bits=self.draft_bits.value(),
            kv_bits=self.kv_bits.value(),
            n_gpus=self.n_gpus.value(),
            mode=MODES[self.mode.currentIndex()],
            device=self.device.currentText(),
        )

    def recompute(self) -> None:
        """Plan what is typed, or say why it cannot be."""
        inputs = self.inputs()
        try:
            for name, field in self._numbers.items():
                require(field, name)
            self.plan = planned(inputs, {**self._offered, **self._loaded})
        except ValueError as error:
            self.plan = None
            self.problem.setText(f"⚠ {error}")
        theme, plan = self._look.theme, self.plan
        self.problem.setStyleSheet(f"color: {theme.warning}")
        self.problem.setVisible(plan is None)
        for widget in (self.plot, self.words):
            widget.setVisible(plan is not None)
        self.parts.setVisible(plan is not None and self._has_room)
        if plan is not None:
            self._draw(plan, inputs)
        self.found.emit(finding(plan) if plan is not None else "")

    def restyle(self) -> None:
        self.plot.restyle(self._look.theme)
        self.recompute()

    def resizeEvent(self, event: object) -> None:
        direction = QBoxLayout.Direction
        is_wide = self.width() >= _WIDE_PX
        self._layout.setDirection(direction.LeftToRight if is_wide else direction.TopToBottom)
        self.parts.setVisible(self.plan is not None and self._has_room)

    @property
    def _has_room(self) -> bool:
        """For the list of parts beneath the bars, which tell the same when pointed at."""
        return self.width() < _WIDE_PX or self.height() > 420

    def _draw(self, plan: MemoryPlan, inputs: MemoryInputs) -> None:
        theme, device = self._look.theme, find_device(inputs.device)
        limit = None if device is None else to_gib(device.memory_bytes or 0)
        shown = bars(plan, theme)
        self.plot.show_bars(shown, limit=limit, limit_name=f"{limit or 0:.0f} GiB")
        components = plan.need.components()
        self.plot.set_columns(
            {
                "part": [PART_TEXTS[part] for part in components],
                "bytes": list(components.values()),
            }
        )
        total = to_gib(plan.need.total_bytes)
        size = size_text(plan.need.total_bytes)
        verdict = "fits" if limit is not None and total <= limit else "does not fit"
        words = f"<b>{size}</b>{' per GPU' if inputs.n_gpus > 1 else ''}: {verdict}"
        if plan.room is not None:
            words += f"; {room_text(plan.room, inputs.load())}"
        self.words.setText(f"{words}<br>fits on: {fitting_text(plan.fitting)}")
        self.parts.setText(parts_text(plan, theme))
