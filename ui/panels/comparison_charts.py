"""ComparisonChartsPanel: acceptance by place and the steps in time, of all sessions at once."""

from dataclasses import dataclass
from html import escape

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter

from sessions.columns import Array
from sessions.metrics.breakdown import acceptance_by_position
from sessions.metrics.over_time import engine_steps
from sessions.snapshot import Snapshot
from ui.moment import Moment, NamedSnapshot, View
from ui.panels.base import Empty, Panel
from ui.plots.home_plot import HomePlot, ceiling
from ui.plots.labelled_lines import LabelledLines, NamedLine
from ui.plots.step_rows import StepRow, StepRows

N_STEPS = 600
"""How many of each session's newest steps are drawn."""
N_FOLLOWED = 24
"""How many of the slowest session's steps fill the picture while it follows."""
_NS_PER_S = 1e9
_HIGH = 0.75
"""Height by width above which the two plots stand above each other."""


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """One session. Arrays [m] by place in the draft, NaN where none was tested."""

    name: str
    position: Array  # from 1
    acceptance: Array
    n_tested: Array
    steps: StepRow


@dataclass(frozen=True, slots=True, eq=False)
class Charts:
    """``x`` is the stretch of time to show, in seconds."""

    charts: tuple[Chart, ...]
    x: tuple[float, float]


class ComparisonChartsPanel(Panel):
    key = "comparison-charts"
    title = "Compare · acceptance and timeline"
    reads = ("steps", "draft_tokens", "sequences")
    follows_window = True
    hint = (
        "Acceptance by position and the steps of several sessions on shared axes. Open two to "
        "four sessions from Sessions with Compare, or several drafts in the run dialog."
    )
    explanation = (
        "Acceptance: accepted / tested at each place of the draft. A lower line with longer drafts "
        "is no worse: what ranks is tokens per second.\n"
        "Timeline: every step a block, as wide as it took and as high as the tokens it committed, "
        "counted from each session's first prompt; many steps share a block of their mean. The "
        "dashed line is where a session stands."
    )
    frames_per_draw = 2

    def build(self) -> None:
        self.acceptance = HomePlot(self.theme, x_label="draft position", y_label="accepted")
        self.acceptance.getPlotItem().getAxis("bottom").setStyle(maxTickLevel=0)
        self.lines = LabelledLines(self.acceptance)
        self.acceptance.set_read_out(self._read)
        self.timeline = StepRows(self.theme)
        self.split = QSplitter()
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(self.acceptance)
        self.split.addWidget(self.timeline)
        self.split.setStretchFactor(0, 2)
        self.split.setStretchFactor(1, 3)
        self.split.setHandleWidth(6)
        self.split.setStyleSheet("QSplitter::handle { background: transparent; }")
        self.body.addWidget(self.split)

    @staticmethod
    def digest(moment: Moment, view: View) -> Charts | Empty | None:
        if not moment.others:
            return None
        is_over = all(len(other.snapshot.ends) for other in moment.others)
        charts = tuple(_chart(other, is_whole=is_over) for other in moment.others)
        if not any(len(chart.steps.start) for chart in charts):
            return Empty("Nothing was decoded yet: the charts come with the first step.")
        return Charts(charts, _stretch(charts, moment.snapshot, view, is_whole=is_over))

    def draw(self, digest: Charts) -> None:
        drafting = [chart for chart in digest.charts if len(chart.position)]
        lines = [NamedLine(chart.name, chart.position, chart.acceptance) for chart in drafting]
        end = max((float(chart.position[-1]) for chart in drafting), default=1.0) + 0.3
        self.lines.show(lines, self.theme.accepted, label_x=end)
        self.acceptance.set_home((0.7, end), (0.0, 1.05), right_px=self.lines.labels.room_px)
        ticks = [(float(place), str(place)) for place in range(1, int(end) + 1)]
        self.acceptance.getPlotItem().getAxis("bottom").setTicks([ticks[:: len(ticks) // 16 + 1]])
        self.acceptance.set_columns(lambda: _acceptance_columns(digest))
        self.timeline.set_rows([chart.steps for chart in digest.charts], digest.x)
        self.timeline.set_columns(lambda: _step_columns(digest))
        silent = [chart.name for chart in digest.charts if not len(chart.position)]
        words = f"{', '.join(silent)} drafted nothing · " if silent else ""
        self.noted.emit(f"{escape(words)}higher block: more tokens in the step")

    def restyle(self) -> None:
        self.acceptance.restyle(self.theme)
        self.timeline.restyle(self.theme)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Above each other where the card is high."""
        super().resizeEvent(event)
        is_high = self.height() > _HIGH * self.width()
        self.split.setOrientation(Qt.Orientation.Vertical if is_high else Qt.Orientation.Horizontal)

    def _read(self, x: float, y: float) -> str:
        digest = self.digested
        place = round(x) - 1
        if not isinstance(digest, Charts) or place < 0:
            return ""
        words = []
        for chart in digest.charts:
            if place < len(chart.position):
                value, n = chart.acceptance[place], int(chart.n_tested[place])
                share = f"{value:.3f} of {n:,}" if n else "n/a: never reached"
                words.append(f"{chart.name} {share}")
        return "\n".join((f"position {place + 1}", *words)) if words else ""


def _chart(other: NamedSnapshot, *, is_whole: bool) -> Chart:
    places = acceptance_by_position(other.snapshot)
    rates = [place.conditional for place in places]
    return Chart(
        name=other.name,
        position=np.array([place.draft_index + 1.0 for place in places]),
        acceptance=np.array([np.nan if r.value is None else r.value for r in rates]),
        n_tested=np.array([rate.n_of for rate in rates]),
        steps=_steps(other, is_whole=is_whole),
    )


def _steps(other: NamedSnapshot, *, is_whole: bool) -> StepRow:
    """The newest steps, in seconds since the first prompt; or all of them, several to a block
    where there are many, which then is as high as their mean."""
    snapshot = other.snapshot
    zero, steps = _zero_ns(snapshot), engine_steps(snapshot)
    end = (steps.t_ns - zero) / _NS_PER_S
    start = end - steps.ns / _NS_PER_S
    n_tokens = steps.n_committed.astype(np.float64)
    n_merged = -(-len(end) // N_STEPS) if is_whole else 1
    if n_merged > 1:
        firsts = np.arange(0, len(end), n_merged)
        sizes = np.diff(firsts, append=len(end))
        start, end = start[firsts], end[firsts + sizes - 1]
        n_tokens = np.add.reduceat(n_tokens, firsts) / sizes
    newest = slice(-N_STEPS, None)
    return StepRow(
        name=other.name,
        start=start[newest],
        end=end[newest],
        n_tokens=n_tokens[newest],
        playhead=max(0.0, (_newest_ns(snapshot) - zero) / _NS_PER_S),
        n_steps=max(1, n_merged),
    )


def _zero_ns(snapshot: Snapshot) -> int:
    """When the first sequence started: where sessions that play in step begin."""
    times = snapshot.sequences["t_ns"]
    return int(times[0]) if len(times) else 0


def _newest_ns(snapshot: Snapshot) -> int:
    """The playhead; of a session that is over, its end."""
    known = [
        int(table["t_ns"][-1])
        for table in (snapshot.steps, snapshot.sequences, snapshot.draft_tokens)
        if len(table)
    ]
    newest = max(known, default=0)
    return min(snapshot.t_ns, newest) if len(snapshot.ends) else min(snapshot.t_ns, 2**62)


def _stretch(
    charts: tuple[Chart, ...], shown: Snapshot, view: View, *, is_whole: bool
) -> tuple[float, float]:
    """What the timeline shows, if it was zoomed; else the newest steps; all, once all are over."""
    if view.window_ns is not None:
        zero = _zero_ns(shown)
        first, last = ((each - zero) / _NS_PER_S for each in view.window_ns)
        return first, last
    ends = [float(c.steps.end[-1]) for c in charts if len(c.steps.end)]
    if is_whole:
        return 0.0, max(ends) * 1.02
    lengths = [float(np.median(c.steps.end - c.steps.start)) for c in charts if len(c.steps.end)]
    width = ceiling(max(lengths) * N_FOLLOWED)
    last = max(ends)
    return (last - width, last) if last > width else (0.0, width)


def _acceptance_columns(digest: Charts) -> dict[str, list[object]]:
    rows = [
        (chart.name, int(place), int(n), float(value))
        for chart in digest.charts
        for place, n, value in zip(chart.position, chart.n_tested, chart.acceptance, strict=True)
    ]
    names = ("session", "position", "n_tested", "acceptance")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


def _step_columns(digest: Charts) -> dict[str, list[object]]:
    rows = [
        (chart.name, float(start), float(end), int(n))
        for chart in digest.charts
        for start, end, n in zip(
            chart.steps.start, chart.steps.end, chart.steps.n_tokens, strict=True
        )
    ]
    names = ("session", "start_s", "end_s", "n_tokens")
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}
