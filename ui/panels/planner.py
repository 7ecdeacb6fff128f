"""PlannerPanel: what to expect of a pair of models, worked out while it is typed. It needs no
session, and begins with the figures of the one that is open."""

# ruff: noqa: RUF001 - the letters alpha and gamma and the times sign are meant

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QTabWidget, QWidget

from sessions.metrics.selection import Selection
from ui.moment import Moment, View
from ui.panels.base import Panel
from ui.panels.planner_memory import MemoryForm
from ui.panels.planner_session import SessionFigures, session_figures
from ui.panels.planner_speedup import SpeedupForm


class PlannerPanel(Panel):
    key = "planner"
    title = "Planner"
    reads = ("steps", "models", "calibrations")
    hint = "What a pair of models should gain and need."
    explanation = (
        "Speed-up: S = E[N] / (γ c + v + r), E[N] = (1 - α^(γ+1)) / (1 - α); every draft "
        "token is taken to be accepted with the same probability α. r, the rest, is what a step "
        "takes beside its forwards, in plain target forwards. A noisy v that falls with the width "
        "is evened out before.\n"
        "Memory: weights, both caches of the whole context, the tokens in flight, a step's "
        "logits and probabilities, activations, and allowances for CUDA. Document mode is the "
        "simple estimate often seen in print.\n"
        "Everything is worked out anew at each change; a click on the curve takes its γ. "
        "Ctrl and the wheel zoom a chart here; the wheel alone scrolls the form.\n"
        "Until something is typed, both forms follow the open session."
    )
    frames_per_draw = 30

    def build(self) -> None:
        self.speedup, self.memory = SpeedupForm(self.look), MemoryForm(self.look)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(_scrolled(self.speedup), "Speed-up")
        self.tabs.addTab(_scrolled(self.memory), "Memory")
        self.body.addWidget(self.tabs)
        self._findings = ["", ""]
        self.speedup.found.connect(partial(self._hear, 0))
        self.memory.found.connect(partial(self._hear, 1))
        self.speedup.recompute()
        self.memory.recompute()
        self.tabs.currentChanged.connect(lambda _place: self._note())
        self._stack.setCurrentWidget(self.content)  # it is of use without any session

    def offer(self, folders: Mapping[str, Path]) -> None:
        """Models to choose among besides the presets: folders with a configuration, by name."""
        self.memory.offer(folders)

    @staticmethod
    def digest(moment: Moment, view: View) -> SessionFigures:
        return session_figures(moment.snapshot, Selection(view.only_sequence_id))

    def draw(self, digest: SessionFigures) -> None:
        self.speedup.set_preset(
            digest.speedup,
            digest.reason,
            run_best=digest.run_best,
            is_doubtful=digest.is_doubtful,
        )
        self.memory.set_loaded(digest.models, digest.memory)
        self._note()

    def restyle(self) -> None:
        self.speedup.restyle()
        self.memory.restyle()

    def _hear(self, place: int, text: str) -> None:
        self._findings[place] = text
        self._note()

    def _note(self) -> None:
        self.noted.emit(self._findings[self.tabs.currentIndex()])


def _scrolled(form: QWidget) -> QScrollArea:
    """In a small panel the form scrolls rather than being cut."""
    area = QScrollArea()
    area.setWidget(form)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    return area
