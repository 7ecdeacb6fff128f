"""WaterfallChart: a value that falls (or rises) to another in named changes, top to bottom."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtGui import QColor, QFontMetricsF

from ui.plots.hatched_bars import HatchedBar, HatchedBars
from ui.plots.home_plot import HomePlot, ceiling
from ui.theme import CAPTION, Theme, interface_font

_HALF = 0.33
"""Half a bar's height; rows are 1 apart."""
_AXIS_PX = 26


@dataclass(frozen=True, slots=True)
class FallRow:
    """A bar from ``start`` to ``end`` and what is written behind it."""

    name: str
    start: float
    end: float
    label: str
    colour: str
    hatch: int = 0


class WaterfallChart(HomePlot):
    """Level bars: names of any length fit at the left."""

    def __init__(self, theme: Theme, *, x_label: str = "") -> None:
        super().__init__(theme, x_label=x_label, pans_y=False)
        self.bars = HatchedBars()
        self.joints = pg.PlotCurveItem(connect="pairs")
        for item in (self.joints, self.bars):
            self.addItem(item, ignoreBounds=True)
        self.labels: list[pg.TextItem] = []
        self._rows: tuple[FallRow, ...] = ()
        self.getPlotItem().getAxis("left").setStyle(tickLength=0)
        self.getPlotItem().getViewBox().invertY(True)

    def set_rows(self, rows: Sequence[FallRow]) -> None:
        self._rows = tuple(rows)
        theme = self.theme
        self.bars.show_bars(
            [
                HatchedBar(row.start, row.end, place - _HALF, place + _HALF, row.colour,
                           theme.on_colour, row.hatch)
                for place, row in enumerate(rows)
            ]
        )  # fmt: skip
        joint_x = [row.end for row in rows[:-1] for _ in range(2)]
        joint_y = [place + end for place in range(len(rows) - 1) for end in (_HALF, 1 - _HALF)]
        self.joints.setData(joint_x, joint_y)
        self.joints.setPen(pg.mkPen(QColor(theme.dim), width=1))
        metrics = QFontMetricsF(interface_font(CAPTION))
        while len(self.labels) < len(rows):
            item = pg.TextItem(anchor=(0, 0.5))
            item.setFont(interface_font(CAPTION))
            self.addItem(item, ignoreBounds=True)
            self.labels.append(item)
        for place, item in enumerate(self.labels):
            item.setVisible(place < len(rows))
        for place, (row, item) in enumerate(zip(rows, self.labels, strict=False)):
            item.setText(row.label)
            item.setColor(QColor(theme.text))
            item.setPos(max(row.start, row.end), place)
        axis = self.getPlotItem().getAxis("left")
        axis.setTicks([[(place, row.name) for place, row in enumerate(rows)]])
        axis.setWidth(int(max(metrics.horizontalAdvance(row.name) for row in rows)) + 12)
        top = max(max(row.start, row.end) for row in rows)
        room = max(metrics.horizontalAdvance(row.label) for row in rows)
        self.setMinimumHeight(_AXIS_PX + round(len(rows) * metrics.ascent()))  # names stay apart
        self.set_home((0.0, ceiling(top)), (-0.5, len(rows) - 0.5), right_px=int(room) + 8)
