"""The planner's form for the speed-up equation: what is typed, the curve, the table."""

# ruff: noqa: RUF001 - the letters alpha and gamma and the times sign are meant

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QBoxLayout,
    QFormLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from engine.theory.plans import (
    SpeedupPlan,
    break_even_text,
    parse_verify_costs,
    speedup_plan,
    with_overhead,
)
from engine.theory.speedup import PUBLISHED_BAND
from ui.look import Look
from ui.number_fields import NumberField, require, whole_field
from ui.panels.planner_fields import FormCurve, number_field
from ui.panels.planner_source import FormSource
from ui.plain_text import plain_label, plain_tip
from ui.plots.curve import Mark
from ui.theme import CAPTION, Theme, interface_font

MOST_GAMMA = 64
_CURVE_TO = 16
_TABLE_GAMMAS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
_WIDE_PX = 470
_V_TIP = (
    "Verify-width cost T(γ + 1) / T(1): a number for every width, or a list from width 1 on, such "
    "as 1,1.02,1.05."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedupInputs:
    """What the form holds; ``v`` as it is typed."""

    alpha: float = 0.8
    gamma: int = 4
    c: float = 0.1
    v: str = "1"
    overhead: float = 0.0  # in plain target forwards


def planned(inputs: SpeedupInputs) -> SpeedupPlan:
    """ValueError, with a sentence, for what makes no plan."""
    v = with_overhead(parse_verify_costs(inputs.v), inputs.overhead)
    shown = range(max(_CURVE_TO, inputs.gamma) + 1)
    return speedup_plan(inputs.alpha, inputs.gamma, c=inputs.c, v=v, shown=shown)


def finding(plan: SpeedupPlan) -> str:
    """The plan in a few words."""
    if plan.best.gamma == 0:
        return "drafting does not pay here"
    limit = ", the largest tried" if plan.best.is_at_limit else ""
    return f"best γ {plan.best.gamma}{limit}, by the formula: {plan.best.speedup:.2f}×"


DOUBTED = "⚠ in doubt: the timing that c, v and overhead come from was disturbed"


def beside(plan: SpeedupPlan, run_best: int | None) -> str:
    """What the open run's own drafts call best, and why the formula may not; "" for no run."""
    if run_best is None:
        return ""
    if run_best == plan.best.gamma:
        return f"this run's drafts agree: best γ {run_best}"
    return (
        f"this run's drafts: best γ {run_best}, by the acceptance of each place; the formula has "
        "one α for all"
    )


def summary(plan: SpeedupPlan, run_best: int | None = None) -> str:
    """The asked gamma, as rich text."""
    asked = plan.asked
    low, high = (asked.speedup * edge for edge in PUBLISHED_BAND)
    return (
        f"<b>{asked.speedup:.2f}×</b> at γ {asked.gamma}, {asked.tokens_per_step:.2f} tokens/step"
        f"<br>{'<br>'.join(filter(None, (finding(plan), beside(plan, run_best))))}"
        f"<br>{break_even_text(asked)}"
        f"<br>published runs: {low:.2f}× to {high:.2f}×"
    )


def table(plan: SpeedupPlan, theme: Theme) -> str:
    """Several gammas as an HTML table; the asked and the best one are marked as in the curve."""
    head = "".join(
        f'<td align="right" style="color:{theme.dim}">&nbsp;&nbsp;{name}</td>'
        for name in ("γ", "tokens/step", "speed-up", "pays above α", "")
    )
    rows = []
    for point in plan.points:
        if (
            point.gamma not in {*_TABLE_GAMMAS, plan.asked.gamma, plan.best.gamma}
            or not point.gamma
        ):
            continue
        marks = {"★": point.gamma == plan.best.gamma, "◆": point.gamma == plan.asked.gamma}
        even = "never" if point.break_even_alpha is None else f"{point.break_even_alpha:.2f}"
        cells = (
            str(point.gamma), f"{point.tokens_per_step:.2f}", f"{point.speedup:.2f}×", even,
            "".join(name for name, is_marked in marks.items() if is_marked),
        )  # fmt: skip
        weight = "bold" if marks["★"] else "normal"
        rows.append("".join(
            f'<td align="right" style="font-weight:{weight}">&nbsp;&nbsp;{cell}</td>'
            for cell in cells
        ))  # fmt: skip
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in (head, *rows)) + "</table>"


class SpeedupForm(QWidget):
    """Works everything out anew at each change."""

    found = Signal(str)
    """The finding; "" while what is typed makes no plan."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._is_filling = False
        self._run_best: int | None = None
        self._is_doubtful = False
        self.plan: SpeedupPlan | None = None
        self._make_fields()
        self.plot = FormCurve(look.theme, x_label="γ", y_label="speed-up S(γ)")
        self.plot.setMinimumSize(160, 130)
        self.plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.plot.clicked.connect(lambda x, _y: self.gamma.setValue(round(x)))
        self.plot.set_read_out(self._read)
        self.table = QLabel()
        self.table.setFont(interface_font(CAPTION))
        self.table.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.table.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        left = QVBoxLayout()
        left.addLayout(self._form)
        for widget in (self.source, self.problem, self.words):
            left.addWidget(widget)
        left.addStretch(1)
        right = QVBoxLayout()
        right.addWidget(self.plot, 1)
        right.addWidget(self.table)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 4, 0, 0)
        self._layout.setSpacing(12)
        self._layout.addLayout(left)
        self._layout.addLayout(right, 1)
        self.recompute()

    def _make_fields(self) -> None:
        first = SpeedupInputs()
        self.alpha = number_field(first.alpha, most=1.0, step=0.01)
        self.alpha.setToolTip("Acceptance rate: accepted / tested draft tokens, 0 to 1.")
        self.gamma = whole_field(0, MOST_GAMMA, first.gamma)
        self.gamma.setToolTip("Draft tokens per step.")
        self.c = number_field(first.c, most=10.0, step=0.01)
        self.c.setToolTip("Draft forward / target forward, both one token wide.")
        self.v = QLineEdit(first.v)
        self._tell_v()
        self.overhead = number_field(first.overhead, most=100.0, step=0.05)
        self.overhead.setToolTip(
            "Rest: what a drafting step takes beside its forwards / a plain target forward. The "
            "overhead share of a run is the same time / the whole step."
        )
        self._form = QFormLayout()
        self._form.setHorizontalSpacing(8)
        self._form.setVerticalSpacing(4)
        for name, field in (
            ("acceptance α", self.alpha), ("draft cost c", self.c), ("verify cost v", self.v),
            ("γ", self.gamma), ("rest r", self.overhead),
        ):  # fmt: skip
            field.setFixedWidth(96)
            self._form.addRow(name, field)
        self._numbers: dict[str, NumberField] = {
            "α": self.alpha, "c": self.c, "γ": self.gamma, "r": self.overhead,
        }  # fmt: skip
        for number in self._numbers.values():
            number.valueChanged.connect(self._typed)
        self.v.textChanged.connect(self._tell_v)
        self.v.textChanged.connect(self._typed)
        self.source = FormSource()
        self.source.taken.connect(self._fill)
        self.problem, self.words = plain_label(), QLabel()
        for label in (self.problem, self.words):
            label.setWordWrap(True)

    def set_preset(
        self,
        preset: SpeedupInputs | None,
        reason: str = "",
        *,
        run_best: int | None = None,
        is_doubtful: bool = False,
    ) -> None:
        """What the session measured, which fills the form until somebody types; None with the
        reason where it measured nothing. ``run_best``: the best gamma by its own drafts;
        ``is_doubtful``: whether its timing contradicts itself."""
        is_news = (run_best, is_doubtful) != (self._run_best, self._is_doubtful)
        self._run_best, self._is_doubtful = run_best, is_doubtful
        self.source.offer(preset, reason)
        if is_news:
            self.recompute()

    def inputs(self) -> SpeedupInputs:
        return SpeedupInputs(
            alpha=self.alpha.value(),
            gamma=self.gamma.value(),
            c=self.c.value(),
            v=self.v.text(),
            overhead=self.overhead.value(),
        )

    def recompute(self) -> None:
        """Plan what is typed, or say why it cannot be."""
        try:
            for name, field in self._numbers.items():
                require(field, name)
            self.plan = planned(self.inputs())
        except ValueError as error:
            self.plan = None
            self.problem.setText(f"⚠ {error}")
        theme, plan = self._look.theme, self.plan
        self.problem.setStyleSheet(f"color: {theme.warning}")
        self.problem.setVisible(plan is None)
        self.words.setVisible(plan is not None)
        self.table.setVisible(plan is not None and self._has_room)
        self.plot.setEnabled(plan is not None)
        if plan is not None:
            is_the_runs = self.source.is_followed
            words = summary(plan, self._run_best if is_the_runs else None)
            doubt = f"<br>{DOUBTED}" if is_the_runs and self._is_doubtful else ""
            self.words.setText(f"{words}{doubt}")
            self.table.setText(table(plan, theme))
            self._draw(plan)
        self.found.emit(finding(plan) if plan is not None else "")

    def restyle(self) -> None:
        self.plot.restyle(self._look.theme)
        self.recompute()

    def resizeEvent(self, event: object) -> None:
        direction = QBoxLayout.Direction
        is_wide = self.width() >= _WIDE_PX
        self._layout.setDirection(direction.LeftToRight if is_wide else direction.TopToBottom)
        self.table.setVisible(self.plan is not None and self._has_room)

    @property
    def _has_room(self) -> bool:
        """For the table beneath the curve."""
        return self.width() < _WIDE_PX or self.height() > 330

    def _draw(self, plan: SpeedupPlan) -> None:
        theme = self._look.theme
        last = max(_CURVE_TO, plan.asked.gamma)
        points = [point for point in plan.points if point.gamma <= last]
        gammas = np.array([point.gamma for point in points])
        speeds = np.array([point.speedup for point in points])
        self.plot.set_curve(gammas, speeds, np.zeros(len(gammas), bool), theme.expected)
        self.plot.set_level(1.0)
        marks = [
            Mark(plan.best.gamma, plan.best.speedup, f"best γ {plan.best.gamma}", "star",
                 theme.recovered)
        ]  # fmt: skip
        if plan.asked.gamma != plan.best.gamma:
            marks.append(
                Mark(plan.asked.gamma, plan.asked.speedup, f"{plan.asked.speedup:.2f}×", "d",
                     theme.good)
            )  # fmt: skip
        self.plot.set_marks([mark for mark in marks if mark.x <= last])
        self.plot.set_ticks(last)
        self.plot.fit([speeds, np.array([1.0])], last)
        self.plot.set_columns(
            {
                "gamma": gammas,
                "tokens_per_step": [point.tokens_per_step for point in points],
                "speedup": speeds,
                "break_even_alpha": [point.break_even_alpha for point in points],
            }
        )

    def _read(self, x: float, y: float) -> str:
        near = [] if self.plan is None else [p for p in self.plan.points if p.gamma == round(x)]
        if not near:
            return ""
        point = near[0]
        return f"γ {point.gamma}: {point.speedup:.3f}×\n{point.tokens_per_step:.3f} tokens/step"

    def _tell_v(self) -> None:
        """The field is too narrow for a list of every width."""
        self.v.setToolTip(plain_tip(f"{_V_TIP}\nNow: {self.v.text().replace(',', ', ')}"))

    def _typed(self) -> None:
        if not self._is_filling:
            self.source.note_typing()
            self.recompute()

    def _fill(self, inputs: SpeedupInputs) -> None:
        if inputs == self.inputs():
            return
        self._is_filling = True
        self.alpha.setValue(inputs.alpha)
        self.c.setValue(inputs.c)
        self.v.setText(inputs.v)
        self.v.setCursorPosition(0)
        self.gamma.setValue(inputs.gamma)
        self.overhead.setValue(inputs.overhead)
        self._is_filling = False
        self.recompute()
