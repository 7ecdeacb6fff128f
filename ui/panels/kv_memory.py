"""KvMemoryPanel: how much of the caches is handed out, filled, and spared, over time."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF

from engine.theory.workload import MIB
from sessions.metrics.kv_over_time import KvOverTime, kv_over_time
from sessions.tables import DRAFT, TARGET
from ui.moment import Moment, View
from ui.panels.base import Empty, Panel
from ui.plots.home_plot import ceiling
from ui.plots.strip_chart import StripChart, StripLine, nearest
from ui.theme import CAPTION, Theme, interface_font

_NAMES = {TARGET: "target", DRAFT: "draft"}
_STYLES = {TARGET: Qt.PenStyle.SolidLine, DRAFT: Qt.PenStyle.DashLine}
_SIGNS = {TARGET: "─", DRAFT: "╌"}
_ALONE_PX = 190
"""Below this height there is room for one chart."""


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """A value that holds until the next one, as a line; arrays [2 n - 1]."""

    t_s: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class CacheOverTime:
    """One role's; arrays [n], one entry per event that changed the cache."""

    role: int
    series: KvOverTime
    t_s: np.ndarray
    unfilled: np.ndarray  # share of the owned slots, NaN where none is owned
    owned_line: Steps
    reserved_line: Steps
    unfilled_line: Steps  # per cent, where it is known


@dataclass(frozen=True, slots=True, eq=False)
class KvMemory:
    caches: tuple[CacheOverTime, ...]
    first_s: float
    last_s: float
    """What the x axis reaches to."""
    top_blocks: float


class KvMemoryPanel(Panel):
    key = "kv-memory"
    title = "KV memory · over time"
    reads = ("caches", "kv_changes", "sequences")
    hint = "How full the KV caches were, over time. Start a run, or open a session."
    explanation = (
        "Owned: blocks that sequences hold.\n"
        "Contiguous would hold: for each of the same sequences its prompt and max_new_tokens, "
        "reserved at once, in whole blocks.\n"
        "Unfilled (internal fragmentation): 1 - committed slots / owned slots."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.blocks = StripChart(self.theme, y_label="blocks")
        self.unfilled = StripChart(
            self.theme, x_label="time since start (s)", y_label="unfilled, %"
        )
        self.unfilled.follow_x(self.blocks)
        self.body.setSpacing(0)
        for chart, share in ((self.blocks, 3), (self.unfilled, 2)):
            chart.setMinimumSize(80, 40)
            chart.set_read_out(self._read)
            chart.getPlotItem().getAxis("bottom").setStyle(maxTextLevel=0)
            self.body.addWidget(chart, share)
        self._make_room()

    @staticmethod
    def digest(moment: Moment, view: View) -> KvMemory | Empty | None:
        found = [(role, kv_over_time(moment.snapshot, role)) for role in (TARGET, DRAFT)]
        caches = tuple(
            _cache(role, series)
            for role, series in found
            if series is not None and len(series.t_ns)
        )
        if not caches:
            has_caches = len(moment.snapshot.caches) > 0
            return (
                Empty("The caches are empty: no prompt has been read yet.") if has_caches else None
            )
        first_s = min(float(cache.t_s[0]) for cache in caches)
        newest = moment.newest.kv_changes["t_ns"]
        length_s = max(float(newest[-1]) / 1e9 - first_s, 1e-3)
        tops = [
            max(int(cache.series.n_owned.max()), int(cache.series.n_reserved.max()))
            for cache in caches
        ]
        return KvMemory(
            caches=caches,
            first_s=first_s,
            last_s=first_s + (ceiling(length_s) if moment.is_live else length_s),
            top_blocks=ceiling(1.05 * max(tops)),
        )

    def draw(self, digest: KvMemory) -> None:
        theme = self.theme
        blocks: list[StripLine] = []
        unfilled: list[StripLine] = []
        for cache in digest.caches:
            name = _NAMES[cache.role]
            colour, style = theme.role(name), _STYLES[cache.role]
            for lines, line in ((blocks, cache.owned_line), (unfilled, cache.unfilled_line)):
                lines.append(StripLine(name, line.t_s, line.values, colour, style))
        spare = digest.caches[0].reserved_line
        dots = Qt.PenStyle.DotLine
        blocks.append(StripLine("contiguous", spare.t_s, spare.values, theme.expected, dots))
        self.blocks.set_lines(blocks, n_labelled=0)
        self.unfilled.set_lines(unfilled, n_labelled=0)
        metrics = QFontMetricsF(interface_font(CAPTION))
        axis_px = int(max(metrics.horizontalAdvance(t) for t in (f"{digest.top_blocks:g}", "100")))
        for chart, top in ((self.blocks, digest.top_blocks), (self.unfilled, 100.0)):
            has_title = chart.getPlotItem().getAxis("left").label.isVisible()
            chart.align(axis_px + 18 + int(has_title * metrics.height()))
            chart.set_home((digest.first_s, digest.last_s), (0.0, top))
            chart.set_columns(lambda: _columns(digest))
        self.noted.emit(note(digest, theme))

    def restyle(self) -> None:
        self.blocks.restyle(self.theme)
        self.unfilled.restyle(self.theme)

    def resizeEvent(self, event: object) -> None:
        self._make_room()

    def _make_room(self) -> None:
        """In a low panel the blocks alone, with the time beneath."""
        is_alone = self.height() < _ALONE_PX
        self.unfilled.setVisible(not is_alone)
        # A hidden chart has no width to share an axis by.
        self.unfilled.getPlotItem().setXLink(None if is_alone else self.blocks.getPlotItem())
        axis = self.blocks.getPlotItem().getAxis("bottom")
        axis.setStyle(showValues=is_alone)
        axis.setHeight(None if is_alone else 6)

    def _read(self, x: float, y: float) -> str:
        digest = self.digested
        if not isinstance(digest, KvMemory):
            return ""
        lines: list[str] = []
        for cache in digest.caches:
            place = nearest(cache.t_s, x)
            if place is None:
                continue
            series = cache.series
            if not lines:
                lines.append(f"{cache.t_s[place]:.3f} s")
            owned, reserved = int(series.n_owned[place]), int(series.n_reserved[place])
            share = float(cache.unfilled[place])
            words = "n/a" if np.isnan(share) else f"{100 * share:.1f} %"
            lines.append(
                f"{_NAMES[cache.role]}: {owned:,} blocks, "
                f"{_mib(owned * series.bytes_per_block)}, {words} unfilled"
            )
            lines.append(f"  contiguous {reserved:,}, {_mib(reserved * series.bytes_per_block)}")
        return "\n".join(lines)


def note(digest: KvMemory, theme: Theme) -> str:
    """Legend and newest figures in one; once all is given back, the most there was."""
    is_over = not any(int(cache.series.n_owned[-1]) for cache in digest.caches)

    def figure(values: np.ndarray, n_bytes: int) -> str:
        return _mib(int(values.max() if is_over else values[-1]) * n_bytes)

    words = []
    for cache in digest.caches:
        name, series = _NAMES[cache.role], cache.series
        share = float(cache.unfilled[-1])
        text = f"{name} {figure(series.n_owned, series.bytes_per_block)}"
        if not np.isnan(share) and cache is digest.caches[0]:
            text += f", {100 * share:.0f} % unfilled"
        words.append(_sign(_SIGNS[cache.role], theme.role(name)) + text)
    series = digest.caches[0].series
    reserved = figure(series.n_reserved, series.bytes_per_block)
    words.append(_sign("┈", theme.expected) + f"contiguous {reserved}")
    return ("at most " if is_over else "") + "&nbsp;&nbsp; ".join(words)


def _sign(glyph: str, colour: str) -> str:
    return f'<span style="color:{colour}">{glyph}{glyph}</span> '


def _cache(role: int, series: KvOverTime) -> CacheOverTime:
    t_s, unfilled = series.t_ns / 1e9, series.fragmentation
    is_known = np.isfinite(unfilled)
    return CacheOverTime(
        role=role,
        series=series,
        t_s=t_s,
        unfilled=unfilled,
        owned_line=_stepped(t_s, series.n_owned),
        reserved_line=_stepped(t_s, series.n_reserved),
        unfilled_line=_stepped(t_s[is_known], 100 * unfilled[is_known]),
    )


def _stepped(t_s: np.ndarray, values: np.ndarray) -> Steps:
    return Steps(np.repeat(t_s, 2)[1:], np.repeat(values, 2)[:-1])


def _mib(n_bytes: int) -> str:
    return f"{n_bytes / MIB:,.3g} MiB" if n_bytes < 1000 * MIB else f"{n_bytes / MIB:,.0f} MiB"


def _columns(digest: KvMemory) -> dict[str, np.ndarray]:
    """The caches one behind the other: their events are not the same."""
    caches = digest.caches
    return {
        "cache": np.concatenate([[_NAMES[each.role]] * len(each.t_s) for each in caches]),
        "t_s": np.concatenate([each.t_s for each in caches]),
        "owned_blocks": np.concatenate([each.series.n_owned for each in caches]),
        "owned_bytes": np.concatenate(
            [each.series.n_owned * each.series.bytes_per_block for each in caches]
        ),
        "filled_slots": np.concatenate([each.series.n_filled for each in caches]),
        "unfilled_share": np.concatenate([each.unfilled for each in caches]),
        "contiguous_blocks": np.concatenate([each.series.n_reserved for each in caches]),
    }
