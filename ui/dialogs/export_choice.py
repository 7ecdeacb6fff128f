"""What an export is asked for: which format, and which part of the session."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from sessions.export import EXPORTERS, Exporter
from sessions.export.options import ExportOptions, StepRange, TimeRange
from ui.number_fields import whole_field
from ui.theme import CAPTION, interface_font

_NS_PER_S = 1e9
_MAX_STEP = 2**31 - 1
_LAST_STEP = 100
"""Until the person says otherwise: a short export."""


class FormatChoice(QWidget):
    """All exporters with what each is for."""

    chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.buttons: dict[str, QRadioButton] = {}
        group = QButtonGroup(self)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for row, (name, exporter) in enumerate(EXPORTERS.items()):
            button = QRadioButton(name)
            button.setAccessibleDescription(exporter.description)
            button.setEnabled(exporter.is_available)
            button.toggled.connect(lambda is_on: self.chosen.emit() if is_on else None)
            needs = "" if exporter.is_available else f" Needs the package {exporter.needs}."
            words = QLabel(exporter.description + needs)
            words.setProperty("dim", True)
            words.setFont(interface_font(CAPTION))
            words.setWordWrap(True)
            words.setBuddy(button)
            group.addButton(button)
            grid.addWidget(button, row, 0)
            grid.addWidget(words, row, 1)
            self.buttons[name] = button
        next(iter(self.buttons.values())).setChecked(True)

    @property
    def name(self) -> str:
        return next(name for name, button in self.buttons.items() if button.isChecked())

    @property
    def exporter(self) -> Exporter:
        return EXPORTERS[self.name]

    @property
    def extension(self) -> str:
        return self.exporter.extension


class PartChoice(QWidget):
    """All, some steps, or the stretch that the timeline shows (``window_ns``, ns since the
    session's start; None where it follows the newest steps)."""

    changed = Signal()

    def __init__(self, window_ns: tuple[int, int] | None) -> None:
        super().__init__()
        self._window_ns = window_ns
        self.all = QRadioButton("The whole session")
        self.steps = QRadioButton("Steps")
        self.first = whole_field(0, _MAX_STEP)
        self.last = whole_field(0, _MAX_STEP, _LAST_STEP)
        for box, name in ((self.first, "First step"), (self.last, "Last step")):
            box.setAccessibleName(name)
            box.valueChanged.connect(lambda _: self.steps.setChecked(True))
            box.valueChanged.connect(lambda _: self.changed.emit())
        self.window_ = QRadioButton(_window_words(window_ns))
        self.window_.setEnabled(window_ns is not None)
        self.per_step = QCheckBox("Steps alone: leave out single tokens, draft forwards, kernels")
        self.all.setChecked(True)
        group = QButtonGroup(self)
        for button in (self.all, self.steps, self.window_):
            group.addButton(button)
            button.toggled.connect(lambda _: self.changed.emit())
        line = QHBoxLayout()
        line.addWidget(self.steps)
        line.addWidget(self.first)
        line.addWidget(QLabel("to"))
        line.addWidget(self.last)
        line.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.all)
        layout.addLayout(line)
        layout.addWidget(self.window_)
        layout.addWidget(self.per_step)

    def set_timeline(self, is_timeline: bool) -> None:
        """Whether the format has single ranges that can be left out."""
        self.per_step.setEnabled(is_timeline)
        self.per_step.setToolTip("" if is_timeline else "For timelines only.")

    @property
    def problem(self) -> str:
        """Why this part cannot be exported; "" if it can."""
        if self.steps.isChecked() and self.first.value() > self.last.value():
            return "The first step is behind the last."
        return ""

    def options(self, *, is_timeline: bool) -> ExportOptions:
        part: StepRange | TimeRange | None = None
        if self.steps.isChecked():
            part = StepRange(self.first.value(), self.last.value())
        elif self.window_.isChecked() and self._window_ns is not None:
            part = TimeRange(*self._window_ns)
        return ExportOptions(part, is_timeline and self.per_step.isChecked())


def _window_words(window_ns: tuple[int, int] | None) -> str:
    if window_ns is None:
        return "What the timeline shows (it follows the newest steps: zoom it first)"
    start, end = (each / _NS_PER_S for each in window_ns)
    return f"What the timeline shows: {start:,.3f} s to {end:,.3f} s"
