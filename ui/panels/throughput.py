"""ThroughputPanel: how fast it decodes as it goes along, and how many tokens a step commits."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtGui import QFontMetricsF

from engine.wire.events import EngineState
from sessions.metrics.over_time import (
    WINDOW_STEPS,
    engine_steps,
    throughput_over_time,
    tokens_per_second,
    tokens_per_step_over_time,
)
from sessions.metrics.selection import Selection
from sessions.tables import STATE_CODES
from ui.moment import Moment, View
from ui.panels.base import Panel
from ui.plots.home_plot import ceiling
from ui.plots.strip_chart import StripChart, StripLine, nearest
from ui.theme import CAPTION, interface_font


@dataclass(frozen=True, slots=True, eq=False)
class Throughput:
    """Arrays [n], one entry per engine step; ``t_s`` since the session's start."""

    t_s: np.ndarray
    step: np.ndarray
    per_second: np.ndarray
    per_step: np.ndarray
    first_s: float
    last_s: float
    pauses_s: np.ndarray  # [m, 2]
    baseline_per_second: float | None
    mean_per_second: float | None
    mean_per_step: float
    cursor_s: float | None


class ThroughputPanel(Panel):
    key = "throughput"
    title = "Speed · over time"
    reads = ("steps", "states")
    hint = "Tokens per second and tokens per step as they go along. Start a run, or open one."
    explanation = (
        f"Tokens/s: committed / time in steps, over the last {WINDOW_STEPS} engine steps; prefill, "
        "calibration and pauses are apart. All sequences decoded together count.\n"
        f"Tokens/step: committed / steps of each sequence, over the same {WINDOW_STEPS}; 1 is "
        "ordinary decoding.\nDashed: the baseline's tokens per second over its whole session.\n"
        "Hatched: pauses. A click selects the step."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.speed = StripChart(self.theme, y_label="tokens/s")
        self.tokens = StripChart(self.theme, x_label="time since start (s)", y_label="tokens/step")
        self.speed.getPlotItem().getAxis("bottom").setStyle(showValues=False)
        self.speed.getPlotItem().getAxis("bottom").setHeight(6)
        self.tokens.follow_x(self.speed)
        self.body.setSpacing(0)
        self.tokens.small_px = 84
        for chart in (self.speed, self.tokens):
            chart.setMinimumSize(80, 40)
            chart.clicked.connect(self._select)
            chart.set_read_out(self._read)
        self.body.addWidget(self.speed, 3)
        self.body.addWidget(self.tokens, 2)

    @staticmethod
    def digest(moment: Moment, view: View) -> Throughput | None:
        snapshot, selection = moment.snapshot, Selection(view.only_sequence_id)
        steps = engine_steps(snapshot, selection)
        speed = throughput_over_time(snapshot, selection)
        if not len(speed.values):
            return None
        tokens = tokens_per_step_over_time(snapshot, selection)
        t_s = speed.t_ns / 1e9
        per_step = tokens.values[np.searchsorted(tokens.t_ns, speed.t_ns)]
        numbers = steps.step[np.searchsorted(steps.t_ns, speed.t_ns)]
        cursor_s = None
        if view.step is not None:
            place = int(np.searchsorted(numbers, view.step))
            if place < len(t_s) and numbers[place] == view.step:
                cursor_s = float(t_s[place])
        first_s, newest = float(t_s[0]), moment.newest.steps["t_ns"]
        length_s = max(float(newest[-1]) / 1e9 - first_s, 1e-3) if len(newest) else 1e-3
        baseline = moment.baseline
        return Throughput(
            t_s=t_s,
            step=numbers,
            per_second=speed.values,
            per_step=per_step,
            first_s=first_s,
            last_s=first_s + (ceiling(length_s) if moment.is_live else length_s),
            pauses_s=_pauses_s(moment),
            baseline_per_second=None if baseline is None else tokens_per_second(baseline),
            mean_per_second=tokens_per_second(snapshot, selection),
            mean_per_step=float(steps.n_committed.sum() / steps.n_sequences.sum()),
            cursor_s=cursor_s,
        )

    def draw(self, digest: Throughput) -> None:
        theme = self.theme
        baseline = digest.baseline_per_second
        self.speed.set_lines(
            [
                StripLine("tokens/s", digest.t_s, digest.per_second, theme.verify),
            ],
            n_labelled=0,
        )
        self.tokens.set_lines(
            [StripLine("tokens/step", digest.t_s, digest.per_step, theme.text)], n_labelled=0
        )
        self.speed.set_level(baseline, theme.expected)
        self.tokens.set_level(1.0, theme.expected)
        tops = (
            ceiling(1.05 * max(float(digest.per_second.max()), baseline or 0.0)),
            ceiling(1.05 * max(float(digest.per_step.max()), 1.0)),
        )
        metrics = QFontMetricsF(interface_font(CAPTION))
        axis_px = int(max(metrics.horizontalAdvance(f"{top / 2:g}") for top in tops))
        charts = (self.speed, self.tokens)
        has_title = any(chart.getPlotItem().getAxis("left").label.isVisible() for chart in charts)
        for chart, top in zip(charts, tops, strict=True):
            chart.align(axis_px + 18 + int(has_title * metrics.height()))
            chart.set_shades(digest.pauses_s)
            chart.set_cursor(digest.cursor_s)
            chart.set_home((digest.first_s, digest.last_s), (0.0, top))
            chart.set_columns(
                {
                    "t_s": digest.t_s,
                    "step": digest.step,
                    "tokens_per_second": digest.per_second,
                    "tokens_per_step": digest.per_step,
                }
            )
        # Three ticks: the lower chart has room for no more.
        ticks = [(value, f"{value:g}") for value in (0.0, tops[1] / 2, tops[1])]
        self.tokens.getPlotItem().getAxis("left").setTicks([ticks])
        self.noted.emit(self._note(digest))

    def restyle(self) -> None:
        self.speed.restyle(self.theme)
        self.tokens.restyle(self.theme)

    @staticmethod
    def _note(digest: Throughput) -> str:
        mean = digest.mean_per_second
        words = f"mean {mean:.1f} tokens/s" if mean is not None else "mean n/a"
        words += f" · {digest.mean_per_step:.2f} tokens/step"
        if digest.baseline_per_second is not None:
            words += f" · ┄ baseline {digest.baseline_per_second:.1f}"
        return words

    def _read(self, x: float, y: float) -> str:
        digest = self.digested
        place = nearest(digest.t_s, x) if isinstance(digest, Throughput) else None
        if place is None:
            return ""
        return (
            f"{digest.t_s[place]:.3f} s, step {digest.step[place]}\n"
            f"{digest.per_second[place]:.2f} tokens/s\n{digest.per_step[place]:.3f} tokens/step"
        )

    def _select(self, x: float, y: float) -> None:
        digest = self.digested
        place = nearest(digest.t_s, x) if isinstance(digest, Throughput) else None
        if place is not None:
            self.state.select_step(int(digest.step[place]))


def _pauses_s(moment: Moment) -> np.ndarray:
    """[m, 2], up to the moment where one still lasts."""
    states = moment.snapshot.states
    t_ns = states["t_ns"]
    ends = np.append(t_ns[1:], max(moment.snapshot.t_ns, int(t_ns[-1]) if len(t_ns) else 0))
    is_paused = states["state"] == STATE_CODES[EngineState.PAUSED]
    return np.stack([t_ns, ends[: len(t_ns)]], axis=1)[is_paused] / 1e9
