"""WaterfallPanel: what lies between the tokens a draft could gain and the speed-up there is."""

# ruff: noqa: RUF001 - gamma's letter, a times and a minus sign are meant

from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from sessions.metrics.costs import measured_costs
from sessions.metrics.counts import count
from sessions.metrics.doubt import calibration_doubt
from sessions.metrics.selection import Selection
from sessions.metrics.waterfall import waterfall
from ui.moment import Moment, View
from ui.panels.base import Empty, Panel
from ui.plain_text import plain_label, plain_tip
from ui.plots.waterfall_chart import FallRow, WaterfallChart
from ui.speedup_words import THE_OTHERS
from ui.theme import CAPTION, interface_font

NAMES = {
    "ideal": "ideal",
    "pattern": "pattern",
    "draft": "draft cost",
    "verify_width": "verify width",
    "sampling": "sampling",
    "bookkeeping": "bookkeeping",
    "measured": "mean steps",
}
BARE = "vs bare forward"  # measured, but against no session
IN_NOTES = {
    "pattern": "the pattern",
    "draft": "drafting",
    "verify_width": "verify width",
    "sampling": "sampling",
    "bookkeeping": "bookkeeping",
}
IN_A_LINE = "⚠ In doubt: timing disturbed"
_WORTH_A_WORD = 0.005
_ROOMY = 1.5  # times the chart's least height
_LOSS_HATCH, _GAIN_HATCH = 1, 2


@dataclass(frozen=True, slots=True)
class Losses:
    """``keys``, ``deltas`` and ``afters`` of the changes, in order: ideal plus all deltas is
    measured."""

    against_session: bool
    """Whether the baseline is a session; else it is the bare target forward."""
    ideal: float
    keys: tuple[str, ...]
    deltas: tuple[float, ...]
    afters: tuple[float, ...]
    measured: float
    doubt: str = ""
    """Why the times cannot be trusted, in sentences; "" where they can."""

    @property
    def against(self) -> str:
        """What the last bar divides by: it is of mean steps, not prompt by prompt."""
        whose = "baseline's mean step" if self.against_session else "bare target forward"
        return f"mean step vs {whose}"


class WaterfallPanel(Panel):
    key = "waterfall"
    title = "Why not faster"
    reads = ("spans", "steps", "draft_tokens", "calibrations")
    hint = (
        "How the gain of an ideal draft shrinks to the speed-up that is measured. Start a run that "
        "drafts, or open one."
    )
    explanation = (
        "Speed-up N B / D: a step commits N tokens and takes D; a step of ordinary decoding "
        "commits one and takes B. D grows from B to what it is, one cost after the other:\n"
        "ideal: E[N] at the acceptance rate and the lengths drafted, as if all were free\n"
        "pattern: N - E[N], real acceptance is not the same everywhere\n"
        "draft cost: the draft's forwards\n"
        "verify width: what a verification takes longer than the baseline's forward\n"
        "sampling: what judging takes longer than the baseline's\n"
        "bookkeeping: the rest, drawing drafts, caches, events.\n"
        "The order matters: a cost weighs less once others have slowed the step. Without a "
        "baseline session, B is a bare target forward, and all sampling and bookkeeping is loss.\n"
        "The last bar holds all tokens together; the speed-up that is called measured is the mean "
        "over prompts, each with its own baseline, so the two may differ.\n" + THE_OTHERS
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.chart = WaterfallChart(self.theme, x_label="speed-up (×)")
        self.chart.set_read_out(self._read)
        self._doubt = ""
        self.doubt = plain_label()
        self.doubt.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.doubt.setFont(interface_font(CAPTION))
        self.doubt.hide()
        self.body.addWidget(self.doubt)
        self.body.addWidget(self.chart, 1)
        self.restyle()

    @staticmethod
    def digest(moment: Moment, view: View) -> Losses | Empty | None:
        snapshot, selection = moment.snapshot, Selection(view.only_sequence_id)
        if not len(snapshot.steps):
            return None
        counts = count(snapshot, selection)
        if not counts.n_drafted:
            return Empty("Nothing was drafted: there is nothing to lose.")
        if not len(snapshot.spans):
            return Empty("Recorded without measurements: where a step's time goes is not known.")
        doubt = None
        if moment.baseline is None:
            costs = measured_costs(snapshot, selection)
            if costs is None:
                return Empty(
                    "What a bare target forward costs was not measured. Choose a baseline session."
                )
            if costs.source == "calibration" and counts.n_steps > counts.n_engine_steps:
                return Empty(
                    "Sequences were decoded together, and a bare target forward was timed for one "
                    "alone. Choose a baseline session."
                )
            doubt = calibration_doubt(snapshot, selection)
        found = waterfall(snapshot, moment.baseline, selection)
        if found is None:
            return Empty("The steps, or the baseline's, were not measured.")
        return Losses(
            against_session=found.baseline == "session",
            ideal=found.ideal,
            keys=tuple(change.key for change in found.changes),
            deltas=tuple(change.delta for change in found.changes),
            afters=tuple(change.after for change in found.changes),
            measured=found.measured,
            doubt=f"{doubt.sentence} A baseline session measures instead." if doubt else "",
        )

    def draw(self, digest: Losses) -> None:
        theme = self.theme
        self._doubt = digest.doubt
        rows = [FallRow(NAMES["ideal"], 0.0, digest.ideal, f"{digest.ideal:.2f}×", theme.expected)]
        before = digest.ideal
        for key, delta, after in zip(digest.keys, digest.deltas, digest.afters, strict=True):
            is_loss = delta < 0
            rows.append(
                FallRow(
                    NAMES[key], before, after, signed(delta),
                    theme.rejected if is_loss else theme.good,
                    _LOSS_HATCH if is_loss else _GAIN_HATCH,
                )
            )  # fmt: skip
            before = after
        word = f"{digest.measured:.2f}×"
        last = NAMES["measured"] if digest.against_session else BARE
        ink = theme.good if digest.measured >= 1.0 else theme.rejected
        rows.append(FallRow(last, 0.0, digest.measured, word, ink))
        self.chart.set_rows(rows)
        self.chart.set_columns(
            {
                "part": ["ideal", *digest.keys, "measured"],
                "delta": [digest.ideal, *digest.deltas, digest.measured],
                "after": [digest.ideal, *digest.afters, digest.measured],
            }
        )
        self._say_doubt()
        self.noted.emit(note(digest))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._say_doubt()

    def _say_doubt(self) -> None:
        """All of it where the chart keeps its room; else in one line, and all as its tooltip."""
        label, metrics, margins = self.doubt, self.doubt.fontMetrics(), self.body.contentsMargins()
        room = self.size().shrunkBy(margins)
        whole = f"⚠ In doubt: {self._doubt}"
        beneath = round(_ROOMY * self.chart.minimumHeight())
        wraps = Qt.TextFlag.TextWordWrap
        height = metrics.boundingRect(QRect(0, 0, room.width(), 0), wraps, whole).height()
        is_whole = height + beneath <= room.height()
        line = metrics.elidedText(IN_A_LINE, Qt.TextElideMode.ElideRight, room.width())
        label.setWordWrap(is_whole)
        label.setText(whole if is_whole else line)
        label.setToolTip("" if is_whole else plain_tip(whole))
        label.setVisible(bool(self._doubt))

    def restyle(self) -> None:
        self.chart.restyle(self.theme)
        self.doubt.setStyleSheet(f"color: {self.theme.warning};")

    def _read(self, x: float, y: float) -> str:
        digest = self.digested
        place = round(y)
        if not isinstance(digest, Losses) or not 0 <= place <= len(digest.keys) + 1:
            return ""
        if place == 0:
            return f"ideal {digest.ideal:.4f}×"
        if place > len(digest.keys):
            return f"measured {digest.measured:.4f}×\n{digest.against}"
        key, delta = digest.keys[place - 1], digest.deltas[place - 1]
        return f"{NAMES[key]} {delta:+.4f}, leaves {digest.afters[place - 1]:.4f}×"


def signed(delta: float) -> str:
    """With the sign that is a minus, and none where it rounds to nothing."""
    if round(delta, 2) == 0:
        return "0"
    return f"{'+' if delta > 0 else '−'}{abs(delta):.2f}"


def note(digest: Losses) -> str:
    """The two largest losses, as shares of what was there before each."""
    befores = (digest.ideal, *digest.afters[:-1])
    losses = sorted(
        (delta, -delta / before, key)
        for key, delta, before in zip(digest.keys, digest.deltas, befores, strict=True)
        if delta < 0 and before > 0 and -delta / before >= _WORTH_A_WORD
    )
    words = [f"{IN_NOTES[key]} {share:.0%}" for _, share, key in losses[:2]]
    doubt = "in doubt · " if digest.doubt else ""
    lost = f"lost to {', '.join(words)}" if words else "nothing lost"
    return f"{doubt}{lost} · {digest.against}"
