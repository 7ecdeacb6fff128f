"""PromptBox: what is decoded - example prompts by kind, or one's own."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from engine.wire.config import ConfigError
from ui.number_fields import whole_field
from ui.run_order import OrderedPrompt
from ui.theme import token_font

_SEPARATOR = "---"
_LEAST_PX = 64  # three lines
_MAX_BYTES = 4 * 2**20  # of one prompt; far above any model's context


class PromptBox(QWidget):
    """Kinds to tick with how many of each, and a field for one's own; both together may be used."""

    changed = Signal()

    def __init__(self, examples: Mapping[str, Sequence[str]]) -> None:
        super().__init__()
        self._examples = examples
        self.kinds = {kind: QCheckBox(kind) for kind in examples}
        most = max((len(texts) for texts in examples.values()), default=1)
        self.n_each = whole_field(1, most, 2)
        self.own = QPlainTextEdit()
        self.own.setFont(token_font())
        self.own.setTabChangesFocus(True)
        self.own.setMinimumHeight(_LEAST_PX)
        # It takes what room there is: a low screen is not to scroll for a field that may be low.
        self.own.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.own.setPlaceholderText(
            f"Your own prompts. A line of {_SEPARATOR} alone stands between two."
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        line = QHBoxLayout()
        line.addWidget(QLabel("Examples"))
        for kind, box in self.kinds.items():
            box.setChecked(kind == "code")
            box.setToolTip(f"{len(examples[kind])} bundled prompts")
            box.toggled.connect(self.changed)
            line.addWidget(box)
        line.addWidget(self.n_each)
        line.addWidget(QLabel("of each"))
        line.addStretch(1)
        layout.addLayout(line)
        layout.addWidget(self.own, 1)
        self.n_each.valueChanged.connect(self.changed)
        self.own.textChanged.connect(self.changed)

    def chosen(self) -> tuple[OrderedPrompt, ...]:
        """The prompts, examples first. Raises ConfigError where there is none, one is too long, or
        more examples are asked for than there are."""
        if self.n_each.problem:
            raise ConfigError(f"Examples of each kind: {self.n_each.problem}")
        found = [
            OrderedPrompt(text, label=kind)
            for kind, box in self.kinds.items()
            if box.isChecked()
            for text in self._examples[kind][: self.n_each.value()]
        ]
        found += [OrderedPrompt(text) for text in self._own_prompts()]
        if not found:
            raise ConfigError("There is no prompt: tick a kind of examples, or write one.")
        if any(len(prompt.text.encode("utf-8", "replace")) > _MAX_BYTES for prompt in found):
            raise ConfigError("A prompt is longer than 4 MiB: shorten it.")
        return tuple(found)

    def fields(self) -> dict[str, Any]:
        return {
            "kinds": [kind for kind, box in self.kinds.items() if box.isChecked()],
            "n_each": self.n_each.value(),
            "own": self.own.toPlainText(),
        }

    def fill(self, fields: Mapping[str, Any]) -> None:
        """As remembered; what is no such value is left out."""
        kinds, own, n_each = fields.get("kinds"), fields.get("own"), fields.get("n_each")
        if isinstance(kinds, list):
            for kind, box in self.kinds.items():
                box.setChecked(kind in kinds)
        if isinstance(own, str):
            self.own.setPlainText(own)
        if isinstance(n_each, int):
            self.n_each.setValue(n_each)

    def _own_prompts(self) -> list[str]:
        prompts: list[list[str]] = [[]]
        for line in self.own.toPlainText().split("\n"):
            if line.strip() == _SEPARATOR:
                prompts.append([])
            else:
                prompts[-1].append(line)
        texts = ["\n".join(lines) for lines in prompts]
        return [text for text in texts if text.strip()]
