"""LaneStrip: one thin lane per name, with blocks where something of it went on."""

from collections.abc import Mapping

import numpy as np
from PySide6.QtGui import QFontMetricsF

from ui.plots.hatched_bars import HatchedBar, HatchedBars
from ui.plots.home_plot import HomePlot
from ui.theme import CAPTION, Theme, interface_font, mixed


class LaneStrip(HomePlot):
    """Sits beneath a chart and shares its x axis. Lanes are told apart by name and by hatch."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, pans_y=False)
        self.getPlotItem().hideAxis("bottom")
        self.getPlotItem().getViewBox().invertY(True)
        self.setMinimumSize(80, 10)
        self.blocks = HatchedBars()
        self.addItem(self.blocks, ignoreBounds=True)
        self.set_read_out(lambda _x, y: self._name_at(y))
        self._names: list[str] = []

    def set_lanes(self, lanes: Mapping[str, np.ndarray]) -> None:
        """``lanes[name]`` is [n, 2] stretches of x."""
        self._names = list(lanes)
        colour = mixed(self.theme.dim, self.theme.panel, 0.55)
        bars = [
            HatchedBar(x0, x1, lane + 0.2, lane + 0.8, colour, self.theme.text, lane)
            for lane, stretches in enumerate(lanes.values())
            for x0, x1 in np.asarray(stretches).tolist()
        ]
        self.blocks.show_bars(bars)
        axis = self.getPlotItem().getAxis("left")
        axis.setTicks([[(lane + 0.5, name) for lane, name in enumerate(self._names)]])
        axis.setStyle(tickLength=0)
        line_px = QFontMetricsF(interface_font(CAPTION)).height()
        self.setFixedHeight(int(line_px * max(1, len(self._names)) + 6))

    def _name_at(self, y: float) -> str:
        lane = int(y)
        return self._names[lane] if 0 <= lane < len(self._names) else ""
