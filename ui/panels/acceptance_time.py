"""AcceptanceTimePanel: acceptance as it went along, beside what the two models should give."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF

from sessions.metrics.kinds import spells
from sessions.metrics.over_time import WINDOW_DRAFTS, acceptance_history
from sessions.metrics.selection import Selection
from ui.moment import Moment, View
from ui.panels.base import Empty, Panel
from ui.plots.home_plot import ceiling
from ui.plots.lanes import LaneStrip
from ui.plots.strip_chart import StripChart, StripLine, nearest
from ui.theme import CAPTION, interface_font


@dataclass(frozen=True, slots=True, eq=False)
class AcceptanceOverTime:
    """Arrays [n], one entry per verified draft; ``t_s`` since the session's start."""

    t_s: np.ndarray
    step: np.ndarray
    observed: np.ndarray
    expected: np.ndarray
    so_far: np.ndarray
    first_s: float
    last_s: float
    """What the x axis reaches to."""
    cursor_s: float | None
    kinds: Mapping[str, np.ndarray]
    """Seconds [m, 2] in which sequences of the label were decoded."""


class AcceptanceTimePanel(Panel):
    key = "acceptance-time"
    title = "Acceptance · over time"
    reads = ("verdicts", "draft_tokens", "sequences")
    hint = "How acceptance changes while a text is written. Start a run that drafts, or open one."
    explanation = (
        f"Observed: accepted / tested over the last {WINDOW_DRAFTS} drafts.\n"
        "Expected: mean over the tokens tested in them of the sum of min(draft, target), from the "
        "two models' distributions. Chance parts the two for a while; a lasting difference would "
        "be a fault of the sampler.\nSo far: accepted / tested of all drafts up to there.\n"
        "Beneath: when sequences of each kind were decoded. A click selects the step."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.chart = StripChart(self.theme, x_label="time since start (s)")
        self.chart.clicked.connect(self._select)
        self.chart.set_read_out(self._read)
        self.lanes = LaneStrip(self.theme)
        self.lanes.follow_x(self.chart)
        self.body.addWidget(self.chart, 1)
        self.body.addWidget(self.lanes)

    @staticmethod
    def digest(moment: Moment, view: View) -> AcceptanceOverTime | Empty | None:
        snapshot = moment.snapshot
        history = acceptance_history(snapshot, Selection(view.only_sequence_id))
        if not len(history.t_ns):
            if not len(snapshot.steps):
                return None
            return Empty("Nothing was drafted: there is no acceptance to follow.")
        t_s = history.t_ns / 1e9
        found = spells(snapshot) if view.only_sequence_id is None else {}
        cursor_s = None
        if view.step is not None:
            place = int(np.searchsorted(history.step, view.step))
            if place < len(t_s) and history.step[place] == view.step:
                cursor_s = float(t_s[place])
        return AcceptanceOverTime(
            t_s=t_s,
            step=history.step,
            observed=history.observed,
            expected=history.expected,
            so_far=history.so_far,
            first_s=float(t_s[0]),
            last_s=_end_s(moment, float(t_s[0])),
            cursor_s=cursor_s,
            kinds={label: spell / 1e9 for label, spell in found.items()} if len(found) > 1 else {},
        )

    def draw(self, digest: AcceptanceOverTime) -> None:
        theme, chart = self.theme, self.chart
        chart.set_lines(
            [
                StripLine("observed", digest.t_s, digest.observed, theme.accepted),
                StripLine(
                    "expected", digest.t_s, digest.expected, theme.expected, Qt.PenStyle.DashLine
                ),
                StripLine("so far", digest.t_s, digest.so_far, theme.text, Qt.PenStyle.DotLine),
            ]
        )
        chart.set_cursor(digest.cursor_s)
        home = (digest.first_s, digest.last_s)
        right_px = chart.labels.room_px
        chart.set_home(home, (0.0, 1.05), right_px=right_px)
        metrics = QFontMetricsF(interface_font(CAPTION))
        widths = [metrics.horizontalAdvance(name) for name in ("0.0", *digest.kinds)]
        for plot in (chart, self.lanes):
            plot.getPlotItem().getAxis("left").setWidth(int(max(widths)) + 14)
        self.lanes.set_lanes(digest.kinds)
        self.lanes.set_home(home, (0.0, float(len(digest.kinds))), right_px=right_px)
        self.lanes.setVisible(bool(digest.kinds))
        chart.set_columns(
            {
                "t_s": digest.t_s,
                "step": digest.step,
                "observed": digest.observed,
                "expected": digest.expected,
                "so_far": digest.so_far,
            }
        )
        observed, expected = digest.observed[-1], digest.expected[-1]
        self.noted.emit(f"last {WINDOW_DRAFTS} drafts {observed:.2f} · expected {expected:.2f}")

    def restyle(self) -> None:
        self.chart.restyle(self.theme)
        self.lanes.restyle(self.theme)

    def _read(self, x: float, y: float) -> str:
        digest = self.digested
        place = nearest(digest.t_s, x) if isinstance(digest, AcceptanceOverTime) else None
        if place is None:
            return ""
        return (
            f"{digest.t_s[place]:.3f} s, step {digest.step[place]}\n"
            f"observed {digest.observed[place]:.3f}\nexpected {digest.expected[place]:.3f}\n"
            f"so far {digest.so_far[place]:.3f}"
        )

    def _select(self, x: float, y: float) -> None:
        digest = self.digested
        place = nearest(digest.t_s, x) if isinstance(digest, AcceptanceOverTime) else None
        if place is not None:
            self.state.select_step(int(digest.step[place]))


def _end_s(moment: Moment, first_s: float) -> float:
    """Where the axis ends: the session's last verdict, while live with room to grow into."""
    newest = moment.newest.verdicts["t_ns"]
    last_s = float(newest[-1]) / 1e9 if len(newest) else first_s
    length_s = max(last_s - first_s, 1e-3)
    return first_s + (ceiling(length_s) if moment.is_live else length_s)
