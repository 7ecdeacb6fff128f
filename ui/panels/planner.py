"""PlannerPanel: what to expect of a pair of models, worked out while it is typed. It needs no
session, and offers the figures of the one that is open."""

# ruff: noqa: RUF001 - the letters alpha and gamma and the times sign are meant

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QTabWidget, QWidget

from engine.theory.shape import ModelShape
from engine.theory.shape_source import NamedShape
from sessions.metrics.costs import MeasuredCosts, measured_costs
from sessions.metrics.counts import count
from sessions.metrics.selection import Selection
from sessions.metrics.time_split import time_split
from sessions.snapshot import Snapshot
from ui.moment import Moment, View
from ui.panels.base import Panel
from ui.panels.planner_memory import MemoryForm
from ui.panels.planner_speedup import SpeedupForm, SpeedupInputs

_WIDEST = 17
"""Verify costs are filled in up to this width, gamma 16."""


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """What the open session has to offer. ``reason`` says why there is no preset."""

    preset: SpeedupInputs | None
    reason: str
    models: Mapping[str, NamedShape]


class PlannerPanel(Panel):
    key = "planner"
    title = "Planner"
    reads = ("steps", "models", "calibrations")
    hint = "What a pair of models should gain and need."
    explanation = (
        "Speed-up: S = E[N] / (γ c + v + overhead), E[N] = (1 - α^(γ+1)) / (1 - α); every draft "
        "token is taken to be accepted with the same probability α.\n"
        "Memory: weights, both caches of the whole context, the tokens in flight, a step's "
        "logits and probabilities, activations, and allowances for CUDA. Document mode is the "
        "simple estimate often seen in print.\n"
        "Everything is worked out anew at each change; a click on the curve takes its γ."
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

    @staticmethod
    def digest(moment: Moment, view: View) -> SessionFigures:
        preset, reason = session_preset(moment.snapshot, Selection(view.only_sequence_id))
        return SessionFigures(preset, reason, loaded_models(moment.snapshot))

    def draw(self, digest: SessionFigures) -> None:
        self.speedup.set_preset(digest.preset, digest.reason)
        self.memory.set_loaded(digest.models)
        self._note()

    def restyle(self) -> None:
        self.speedup.restyle()
        self.memory.restyle()

    def _hear(self, place: int, text: str) -> None:
        self._findings[place] = text
        self._note()

    def _note(self) -> None:
        self.noted.emit(self._findings[self.tabs.currentIndex()])


def session_preset(snapshot: Snapshot, selection: Selection) -> tuple[SpeedupInputs | None, str]:
    """The equation's figures as the session measured them, or why there are none."""
    counts, costs = count(snapshot, selection), measured_costs(snapshot, selection)
    if counts.acceptance_rate is None or counts.mean_draft_length is None:
        return None, "No draft token was tested in this session yet."
    if costs is None:
        return None, "What a forward costs was not measured in this session."
    return SpeedupInputs(
        alpha=round(counts.acceptance_rate, 3),
        gamma=max(1, round(counts.mean_draft_length)),
        c=round(costs.c, 3),
        v=",".join(f"{costs.v(width):.4g}" for width in range(1, _WIDEST + 1)),
        overhead=round(_overhead(snapshot, selection, costs), 3),
    ), ""


def _overhead(snapshot: Snapshot, selection: Selection, costs: MeasuredCosts) -> float:
    """Of a step, in plain target forwards; 0 where steps were not measured."""
    split = time_split(snapshot, selection)
    if split is None:
        return 0.0
    rest_ns = max(0, split.whole_ns - split.forward_ns) / split.n_steps
    return rest_ns / costs.plain_ns


def loaded_models(snapshot: Snapshot) -> dict[str, NamedShape]:
    """The shapes that the session's models told, by their names; those that told none are left
    out."""
    models, found = snapshot.models, {}
    for row in range(len(models)):
        try:
            told = json.loads(models.text("shape_json", row))
            shape = ModelShape(**told)
        except (ValueError, TypeError, RecursionError):
            continue
        name = models.text("name", row)
        found[name] = NamedShape(name, shape, shape.n_parameters)
    return found


def _scrolled(form: QWidget) -> QScrollArea:
    """In a small panel the form scrolls rather than being cut."""
    area = QScrollArea()
    area.setWidget(form)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
    return area
