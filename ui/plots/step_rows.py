"""StepRows: a row per session on one time axis, each step a block as high as its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetrics

from ui.plots.home_plot import HomePlot
from ui.theme import CAPTION, Theme, interface_font, mixed

_FILLED = 0.8
"""The part of a row that its highest block is high."""
_NAME_PX = 96
_NAME_SHARE = 0.28
_MOST_FILLED = 400
"""More blocks than these are outlined alone: filling them is slow, and nothing is seen of it."""


@dataclass(frozen=True, slots=True, eq=False)
class StepRow:
    """Blocks [n] of one row: ``start`` and ``end`` in seconds, ``n_tokens`` that came."""

    name: str
    start: np.ndarray
    end: np.ndarray
    n_tokens: np.ndarray
    playhead: float
    n_steps: int = 1  # that share a block, which then is as high as their mean


def outline(
    row: StepRow, part: slice, *, base: float, highest: float
) -> tuple[np.ndarray, np.ndarray]:
    """The outline [4n] of ``part`` of the blocks; one of ``highest`` tokens fills its row."""
    start, end = row.start[part], row.end[part]
    heights = base + row.n_tokens[part] / max(highest, 1.0) * _FILLED
    x = np.stack([start, start, end, end], axis=1).ravel()
    floor = np.full(len(start), base)
    return x, np.stack([floor, heights, heights, floor], axis=1).ravel()


class StepRows(HomePlot):
    """The first row is uppermost; row ``i`` of ``n`` stands on y = n - 1 - i. What lies out of
    sight is not stroked; a row that ended before what is in sight says when."""

    def __init__(self, theme: Theme) -> None:
        self.rows: tuple[StepRow, ...] = ()
        self.curves: list[pg.PlotCurveItem] = []
        self.heads: list[pg.PlotCurveItem] = []
        self.ends: list[pg.TextItem] = []
        self.highest = 1.0
        super().__init__(theme, x_label="time since the first prompt (s)", pans_y=False)
        self.getPlotItem().getAxis("left").setStyle(tickLength=0)
        self.getPlotItem().getViewBox().sigXRangeChanged.connect(lambda *_: self._stroke())
        self.set_read_out(self._read)

    def set_rows(self, rows: Sequence[StepRow], x: tuple[float, float]) -> None:
        """Show the stretch ``x`` of time, until the user looks elsewhere."""
        has_other_names = [row.name for row in rows] != [row.name for row in self.rows]
        self.rows = tuple(rows)
        self.highest = max((float(r.n_tokens.max()) for r in rows if len(r.n_tokens)), default=1.0)
        while len(self.curves) < len(rows):
            self._add_row()
        theme = self.theme
        for curve, head, end in zip(self.curves, self.heads, self.ends, strict=True):
            curve.setPen(pg.mkPen(QColor(theme.accepted), width=1))
            head.setPen(pg.mkPen(QColor(theme.accent), width=1, style=Qt.PenStyle.DashLine))
            end.setColor(QColor(theme.dim))
        if has_other_names:
            self._name()
        self.set_home(x, (-0.05, max(1, len(rows)) + 0.02))
        self._stroke()

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if self.rows and self.getPlotItem() is not None:  # None while it is closing
            self._name()

    # --- inside ----------------------------------------------------------------------------------

    def _add_row(self) -> None:
        curve, head = pg.PlotCurveItem(), pg.PlotCurveItem()
        end = pg.TextItem(anchor=(0, 0.5))
        end.setFont(interface_font(CAPTION))
        for item, z in ((curve, 10), (head, 20), (end, 30)):
            item.setZValue(z)
            self.addItem(item, ignoreBounds=True)
        self.curves.append(curve)
        self.heads.append(head)
        self.ends.append(end)

    def _stroke(self) -> None:
        """Draw what lies in sight, a block beyond at each side."""
        (x0, x1), _ = self.getPlotItem().getViewBox().viewRange()
        ground = pg.mkBrush(QColor(mixed(self.theme.accepted, self.theme.panel, 0.5)))
        n = len(self.rows)
        for place, (curve, head, end) in enumerate(
            zip(self.curves, self.heads, self.ends, strict=True)
        ):
            if place >= n:
                curve.setData([], [])
                head.setData([], [])
                end.setVisible(False)
                continue
            row, base = self.rows[place], float(n - 1 - place)
            first = max(0, int(np.searchsorted(row.end, x0)) - 1)
            last = int(np.searchsorted(row.start, x1, side="right")) + 1
            curve.setBrush(ground if last - first <= _MOST_FILLED else None)
            curve.setFillLevel(base if last - first <= _MOST_FILLED else None)
            curve.setData(*outline(row, slice(first, last), base=base, highest=self.highest))
            head.setData([row.playhead] * 2, [base, base + 0.92])
            is_past = len(row.end) > 0 and float(row.end[-1]) < x0
            end.setVisible(is_past)
            if is_past:
                end.setText(f"◀ last step at {row.end[-1]:.2f} s")
                end.setPos(x0, base + _FILLED / 2)

    def _name(self) -> None:
        metrics = QFontMetrics(interface_font(CAPTION))
        room = max(30, min(_NAME_PX, int(self.width() * _NAME_SHARE)))
        n, middle = len(self.rows), Qt.TextElideMode.ElideMiddle
        ticks = [
            (n - 1 - place + _FILLED / 2, metrics.elidedText(row.name, middle, room - 10))
            for place, row in enumerate(self.rows)
        ]
        axis = self.getPlotItem().getAxis("left")
        axis.setWidth(room)
        axis.setTicks([ticks])

    def _read(self, x: float, y: float) -> str:
        place = len(self.rows) - 1 - int(np.floor(y))
        if not 0 <= place < len(self.rows):
            return ""
        row = self.rows[place]
        step = int(np.searchsorted(row.start, x, side="right")) - 1
        if step < 0 or x > row.end[step]:
            return f"{row.name}\n{x:.4f} s, between steps"
        n, ms = float(row.n_tokens[step]), 1e3 * (row.end[step] - row.start[step])
        if row.n_steps > 1:
            return f"{row.name}\n{n:.2f} tokens a step, {row.n_steps} steps in {ms:.1f} ms"
        return f"{row.name}\n{n:.0f} token{'' if n == 1 else 's'} in {ms:.2f} ms, at {x:.4f} s"
