"""Timeline: what the engine did when, and beneath it, on the same axis, what became of each draft
token."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QToolButton

from sessions.metrics.lanes import PREFILL, Lane
from ui.moment import Moment, View
from ui.panels.base import Empty, Panel
from ui.panels.timeline_columns import fate_columns, lane_columns
from ui.panels.timeline_digest import LANE_NAMES, TimelineDigest, timeline_digest
from ui.panels.timeline_words import fate_words, lane_words, step_at
from ui.plots.fate_raster import Caption, Cells, FateRaster, Shares
from ui.plots.lane_chart import LaneChart, Strip
from ui.plots.time_plot import TimePlot

_STILL_FRAMES = 5
"""The other panels are told where the user has gone when he has stopped, or left what is drawn."""
_ZOOMED = 1.35
_ROOM_FOR_HOW = 430
_WIDTH_PX = 1000  # of a plot whose width is not known
_TOO_WIDE, _TOO_NARROW = 1.8, 0.55
_INKS = {"draft": "draft", "draft_forward": "draft", "verify": "verify", "sample": "sample",
         "commit": "commit", PREFILL: "prefill", "kernels": "expected"}  # fmt: skip


class TimelinePanel(Panel):
    key = "timeline"
    title = "Timeline"
    reads = (
        "drafts", "verdicts", "draft_tokens", "steps", "spans", "prefills", "kernels", "states",
        "sequences",
    )  # fmt: skip
    follows_window = True
    hint = (
        "Here each step passes by: drafting, verifying, sampling, committing, and beneath them "
        "what became of every draft token. Start a run or open a session."
    )
    explanation = (
        "Lanes: the host's time in each phase (a device is given its work by the host and waits "
        "in no lane; its own time is in the read-out). Inside a draft, its forwards.\n"
        "Raster: a column a step, a row a draft position. Filled: accepted (uniform < target / "
        "draft). Crossed: rejected, at most one a step. Outline: discarded, behind the rejected "
        "one and never tested.\n"
        "Where steps are narrower than 3 pixels: the share of each column's time that a lane is "
        "busy, and the share of accepted and rejected tokens among those drafted at a position."
    )

    def build(self) -> None:
        self.lanes = LaneChart(self.theme)
        self.raster = FateRaster(self.theme)
        self.body.addWidget(self.lanes)
        self.body.addWidget(self.raster)
        self.body.setSpacing(0)
        self.plots: tuple[TimePlot, ...] = (self.lanes, self.raster)
        for plot in self.plots:
            plot.moved.connect(self._user_moved)
            plot.all_wanted.connect(self._show_all)
            plot.clicked.connect(self._clicked)
            view = plot.getPlotItem().getViewBox()
            view.sigXRangeChanged.connect(lambda _, seen, plot=plot: self._link(plot, seen))
        self.lanes.show_axis(False)
        self.lanes.set_read_out(self._read_lane)
        self.raster.set_read_out(self._read_fate)
        self.lanes.set_columns(partial(self._columns, lane_columns))
        self.raster.set_columns(partial(self._columns, fate_columns))
        self.follow = QToolButton(self.content)
        self.follow.setText("Follow")
        self.follow.setToolTip("Show the newest steps again (End)")
        self.follow.clicked.connect(self._follow)
        self.follow.hide()
        self._width_ns: float | None = None
        self._published: tuple[int, int] | None = None
        self._is_moved = False
        self._still = 0
        self._made_for = self._width_px()

    # --- digest and draw -------------------------------------------------------------------------

    @staticmethod
    def digest(moment: Moment, view: View) -> TimelineDigest | Empty | None:
        return timeline_digest(moment, view, width_px=_WIDTH_PX)

    def order(self, moment: Moment, view: View) -> Callable[[], Any]:
        """It depends on how wide the plot is."""
        return partial(timeline_digest, moment, view, width_px=self._width_px())

    def draw(self, digest: TimelineDigest) -> None:
        self._made_for = self._width_px()
        self._set_range(digest)
        self._draw_lanes(digest)
        has_rows = digest.n_positions > 0
        if has_rows == self.raster.isHidden():
            self.raster.setVisible(has_rows)
            self.lanes.show_axis(not has_rows)
        if has_rows:
            self._draw_fates(digest)
        pauses = digest.pauses.bars
        for plot in self.plots:
            if pauses is not None:
                plot.set_marks(
                    pauses=(pauses.start_ns, pauses.end_ns),
                    step_starts_ns=digest.steps.start_ns,
                    selected_ns=digest.selected_ns,
                    playhead_ns=digest.playhead_ns,
                )
        self._share_height(digest)
        self.follow.setVisible(self.state.now.window_ns is not None)
        how = f"{digest.note} \u00b7 drag to pan, wheel to zoom"
        self.noted.emit(how if self.width() >= _ROOM_FOR_HOW else digest.note)

    def has_moved(self) -> bool:
        """Publishes where the user has gone, once he rests or nears the end of what is drawn."""
        digest = self.digested
        if not isinstance(digest, TimelineDigest):
            return False
        if not self._is_moved:
            return not 1 / _ZOOMED < self._made_for / self._width_px() < _ZOOMED
        self._still += 1
        if self._still < _STILL_FRAMES and not self._has_left(digest):
            return False
        self._publish()
        return True

    # --- inside: drawing -------------------------------------------------------------------------

    def _draw_lanes(self, digest: TimelineDigest) -> None:
        names = list(LANE_NAMES)
        if any(lane.key == "kernels" for lane in digest.lanes):
            names.append(digest.kernels_name)
        strips = []
        for lane in digest.lanes:
            shown = {"draft_forward": "draft", "kernels": digest.kernels_name}
            row = names.index(shown.get(lane.key, lane.key))
            strips.append(_strip(digest, lane, row))
        self.lanes.set_lanes(names, strips, message=digest.problem)

    def _draw_fates(self, digest: TimelineDigest) -> None:
        self.raster.set_rows(digest.n_slots, digest.n_positions)
        captions = [Caption(slot, t_ns, f"seq {name}") for slot, t_ns, name in digest.captions]
        if digest.counts is not None:
            self.raster.set_fates(Shares(digest.fate_grid.edges_ns, digest.counts), captions)
        elif digest.tokens is not None and digest.token_ns is not None:
            tokens = digest.tokens
            cells = Cells(
                *digest.token_ns, tokens.slot, tokens.draft_index, tokens.fate, digest.chosen
            )
            self.raster.set_fates(cells, captions)

    def _set_range(self, digest: TimelineDigest) -> None:
        """Following, the range keeps its width as long as about so many steps fit, and those that
        must be seen do."""
        window = self.state.now.window_ns
        if window is not None:
            self._width_ns = None
            if window != self._published:
                self._published, self._is_moved = window, False
                self.lanes.show_range(*window)
            return
        self._published = None
        if self._is_moved or not digest.is_following:
            return
        width = self._width_ns
        fits = width is not None and _TOO_NARROW < digest.width_ns / width < _TOO_WIDE
        if width is None or not fits or width < digest.least_ns:
            width = self._width_ns = float(digest.width_ns)
        right = max(digest.window_ns[1], digest.extent_ns[0] + width)
        self.lanes.show_range(right - width, right)

    def _share_height(self, digest: TimelineDigest) -> None:
        """Rows of both plots are about as high."""
        n_lanes = len(self.lanes.names)
        n_rows = self.raster.height_rows + 3 if digest.n_positions else 0
        self.body.setStretch(0, 10 * n_lanes)
        self.body.setStretch(1, round(10 * min(max(n_rows, n_lanes), 3 * n_lanes)))

    # --- inside: the user ------------------------------------------------------------------------

    def _width_px(self) -> int:
        return max(60, int(self.lanes.width_px))

    def _has_left(self, digest: TimelineDigest) -> bool:
        low, high = self.lanes.range_ns
        zoom = (high - low) / max(1, digest.window_ns[1] - digest.window_ns[0])
        margin = (high - low) / 4
        is_outside = low - margin < digest.covered_ns[0] or high + margin > digest.covered_ns[1]
        return is_outside or not 1 / _ZOOMED < zoom < _ZOOMED

    def _user_moved(self) -> None:
        self._is_moved, self._still = True, 0
        if self.state.now.window_ns is None:
            self._publish()  # it follows no longer

    def _publish(self) -> None:
        low, high = self.lanes.range_ns
        self._is_moved, self._still = False, 0
        self._published = (round(low), max(round(high), round(low) + 1))
        self.state.look_at(self._published)

    def _link(self, source: TimePlot, seen: tuple[float, float]) -> None:
        for plot in self.plots:
            if plot is not source:
                plot.show_range(*seen)

    def _show_all(self) -> None:
        if isinstance(self.digested, TimelineDigest):
            start, end = self.digested.extent_ns
            room = max(1, (end - start) // 100)
            self.state.look_at((start - room, end + room))

    def _follow(self) -> None:
        self._is_moved = False
        self.state.look_at(None)

    def _clicked(self, x: float, _y: float) -> None:
        if isinstance(self.digested, TimelineDigest):
            step = step_at(self.digested, x)
            if step is not None:
                self.state.select_step(step)

    own_keys = frozenset({Qt.Key.Key_End})  # while the keyboard is in the card

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_End:
            self._follow()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        size = self.follow.sizeHint()
        self.follow.setGeometry(
            self.width() - size.width() - 10, self.height() - size.height() - 5,
            size.width(), size.height(),
        )  # fmt: skip

    def restyle(self) -> None:
        for plot in self.plots:
            plot.restyle(self.theme)

    # --- inside: words and columns ---------------------------------------------------------------

    def _read_lane(self, x: float, y: float) -> str:
        row = self.lanes.row_at(y)
        if row is None or not isinstance(self.digested, TimelineDigest):
            return ""
        name = self.lanes.names[row]
        keys = {"draft": ("draft", "draft_forward"), self.digested.kernels_name: ("kernels",)}
        return lane_words(self.digested, keys.get(name, (name,)), x)

    def _read_fate(self, x: float, y: float) -> str:
        place = self.raster.row_at(y)
        if place is None or not isinstance(self.digested, TimelineDigest):
            return ""
        return fate_words(self.digested, *place, x)

    def _columns(self, make: Callable[[TimelineDigest], dict[str, Any]]) -> dict[str, Any]:
        return make(self.digested) if isinstance(self.digested, TimelineDigest) else {}


def _strip(digest: TimelineDigest, lane: Lane, row: int) -> Strip:
    is_faint = lane.key == "draft"
    if lane.bars is not None:
        return Strip(row, _INKS[lane.key], is_faint, lane.bars.start_ns, lane.bars.end_ns)
    assert lane.busy_ns is not None
    shares = lane.busy_ns / digest.grid.column_ns
    return Strip(row, _INKS[lane.key], is_faint, edges_ns=digest.grid.edges_ns, shares=shares)
