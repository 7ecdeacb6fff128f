"""CurvePanel: what every gamma would have done with this session's drafts."""

# ruff: noqa: RUF001 - gamma's letter, a times and a minus sign are meant

from dataclasses import dataclass

import numpy as np
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton

from sessions.findings import gamma_to_try
from sessions.metrics.costs import measured_costs
from sessions.metrics.counts import Counts, count
from sessions.metrics.doubt import calibration_doubt
from sessions.metrics.over_time import tokens_per_second
from sessions.metrics.selection import Selection
from sessions.metrics.speedup import measured_speedup
from sessions.what_if import by_formula, gamma_what_if
from ui.moment import Moment, View
from ui.panels.base import Empty, Panel
from ui.plots.curve import CurvePlot, Mark
from ui.speedup_words import THE_OTHERS
from ui.theme import CAPTION, interface_font

SPEEDUP, PER_SECOND = "speed-up", "tokens/s"


@dataclass(frozen=True, slots=True, eq=False)
class SpeedupCurve:
    """Arrays [n], one entry per gamma from 0. ``measured`` are None where nobody measured."""

    gamma: np.ndarray
    speedup: np.ndarray
    per_second: np.ndarray
    formula: np.ndarray
    is_guessed: np.ndarray
    best: int  # of those that nothing is extrapolated for
    may_longer_pay: bool
    recorded: float
    measured_speedup: float | None
    measured_per_second: float | None
    source: str
    is_doubtful: bool


class CurvePanel(Panel):
    key = "speedup-curve"
    title = "Speed-up · S(γ)"
    reads = ("draft_tokens", "steps", "spans", "calibrations")
    hint = (
        "What every draft length would have done with these drafts. Start a run that drafts, or "
        "open one."
    )
    explanation = (
        "What if: S(gamma) = E[N] x bare target forward / step, for every gamma, by whole steps as "
        "they took in this session: at its own gamma, what it reached. Gamma 0 is a bare forward.\n"
        "Solid: E[N] = 1 + R1 + R2 + ..., Ri the share of steps whose drafts were accepted up to "
        "place i. Dashed: acceptance or the cost of that width is extrapolated.\n"
        "Dotted: the formula alone, E[N] / (gamma c + v), E[N] = (1 - alpha^(gamma+1)) / "
        "(1 - alpha): no sampling, no bookkeeping.\n"
        "Star: the best gamma seen, of the most tokens per second.\n"
        "Diamond: measured - speed-up only against a baseline session.\n" + THE_OTHERS
    )
    frames_per_draw = 15

    def build(self) -> None:
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.addStretch(1)
        self.choices = QButtonGroup(self)
        for text in (SPEEDUP, PER_SECOND):
            button = QToolButton()
            button.setText(text)
            button.setFont(interface_font(CAPTION))
            button.setFixedHeight(int(QFontMetricsF(button.font()).height()) + 6)
            button.setStyleSheet("padding: 0 6px;")
            button.setCheckable(True)
            button.setChecked(text == SPEEDUP)
            button.setToolTip(f"Show {text} over gamma")
            self.choices.addButton(button)
            line.addWidget(button)
        self.choices.buttonClicked.connect(lambda *_: self._redraw())
        self.plot = CurvePlot(self.theme, x_label="γ, draft tokens a step")
        self.plot.set_read_out(self._read)
        self.body.addLayout(line)
        self.body.addWidget(self.plot, 1)

    @property
    def shows_speedup(self) -> bool:
        button = self.choices.checkedButton()
        return button is None or button.text() == SPEEDUP

    @staticmethod
    def digest(moment: Moment, view: View) -> SpeedupCurve | Empty | None:
        snapshot, selection = moment.snapshot, Selection(view.only_sequence_id)
        if not len(snapshot.steps):
            return None
        counts = count(snapshot, selection)
        if not counts.n_tested:
            return Empty("Nothing was drafted: no other gamma can be told from this session.")
        what_if = gamma_what_if(snapshot, selection)
        if what_if is None:
            return Empty(_why_not(moment, selection, counts))
        measured = None
        if moment.baseline is not None and selection.is_everything:
            measured = measured_speedup(snapshot, moment.baseline)
        options = what_if.options
        length = counts.mean_draft_length or 0.0
        return SpeedupCurve(
            gamma=np.array([float(option.gamma) for option in options]),
            speedup=np.array([option.speedup for option in options]),
            per_second=np.array([option.tokens_per_second for option in options]),
            formula=np.array(by_formula(what_if)),
            is_guessed=np.array([option.is_extrapolated for option in options]),
            best=what_if.best_seen.gamma,
            may_longer_pay=gamma_to_try(what_if, length) is not None,
            recorded=length,
            measured_speedup=measured.value if measured else None,
            measured_per_second=tokens_per_second(snapshot, selection),
            source=what_if.costs.source,
            is_doubtful=calibration_doubt(snapshot, selection) is not None,
        )

    def draw(self, digest: SpeedupCurve) -> None:
        theme, plot = self.theme, self.plot
        is_ratio = self.shows_speedup
        y = digest.speedup if is_ratio else digest.per_second
        formula = digest.formula * (1.0 if is_ratio else digest.per_second[0])
        plot.set_curve(digest.gamma, y, digest.is_guessed, theme.text)
        plot.set_compared(digest.gamma, formula, theme.expected)
        plot.set_level(1.0 if is_ratio else None)
        marks = [Mark(digest.best, float(y[digest.best]), f"best γ {digest.best}", "star",
                      theme.recovered)]  # fmt: skip
        measured = digest.measured_speedup if is_ratio else digest.measured_per_second
        if measured is not None:
            text = (
                f"measured {measured:.2f}× vs baseline" if is_ratio else f"measured {measured:.1f}"
            )
            marks.append(Mark(digest.recorded, measured, text, "d", theme.accepted))
        plot.set_marks(marks)
        last = int(digest.gamma[-1])
        plot.set_ticks(last)
        plot.fit([y, formula, np.array([mark.y for mark in marks])], last)
        plot.set_columns(
            {
                "gamma": digest.gamma.astype(int),
                "speedup": digest.speedup,
                "speedup_by_formula": digest.formula,
                "tokens_per_second": digest.per_second,
                "is_extrapolated": digest.is_guessed,
            }
        )
        self.noted.emit(note(digest))

    def restyle(self) -> None:
        self.plot.restyle(self.theme)

    def _redraw(self) -> None:
        if isinstance(self.digested, SpeedupCurve):
            self.draw(self.digested)

    def _read(self, x: float, y: float) -> str:
        digest = self.digested
        place = round(x)
        if not isinstance(digest, SpeedupCurve) or not 0 <= place < len(digest.gamma):
            return ""
        guessed = ", extrapolated" if digest.is_guessed[place] else ""
        return (
            f"γ {place}{guessed}\nspeed-up {digest.speedup[place]:.3f}×\n"
            f"by the formula {digest.formula[place]:.3f}×\n{digest.per_second[place]:.2f} tokens/s"
        )


def note(digest: SpeedupCurve) -> str:
    """What is shown, the best by it, and where the run was."""
    recorded = f"{digest.recorded:.1f}".removesuffix(".0")
    among = "of those seen, longer may pay" if digest.may_longer_pay else "by these drafts"
    doubt = "in doubt · " if digest.is_doubtful else ""
    return f"{doubt}what if · best γ {digest.best} {among} · run at γ {recorded}"


def _why_not(moment: Moment, selection: Selection, counts: Counts) -> str:
    costs = measured_costs(moment.snapshot, selection)
    if costs is None:
        return (
            "What a target forward costs was neither calibrated nor measured, so no other gamma "
            "can be told."
        )
    return (
        "Sequences were decoded together, and the forwards were timed for one alone: no other "
        "gamma can be told. Decode one at a time, or calibrate by steps without a draft."
        if counts.n_steps > counts.n_engine_steps
        else "No other gamma can be told."
    )
