"""PartBars: stacked bars side by side with a limit that the last one is held against."""

from collections.abc import Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from ui.plots.hatched_bars import HatchedBar, HatchedBars
from ui.plots.home_plot import HomePlot, ceiling
from ui.theme import CAPTION, Theme, interface_font

_THICKNESS = 0.62


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar; ``hatch`` of ``ui.plots.hatched_bars.HATCHES``."""

    name: str
    value: float
    colour: str
    hatch: int = 0


@dataclass(frozen=True, slots=True)
class PartBar:
    name: str
    parts: tuple[Part, ...]

    @property
    def total(self) -> float:
        return sum(part.value for part in self.parts)


class PartBars(HomePlot):
    """Bars lie on their sides, the first one on top."""

    def __init__(self, theme: Theme, *, x_label: str = "") -> None:
        super().__init__(theme, x_label=x_label, pans_y=False)
        self.shown: tuple[PartBar, ...] = ()
        self.bars = HatchedBars()
        self.limit = pg.InfiniteLine(angle=90, movable=False)
        self.limit_words = pg.TextItem(anchor=(1, 0))
        self.limit_words.setFont(interface_font(CAPTION))
        self.totals: list[pg.TextItem] = []
        for item in (self.bars, self.limit, self.limit_words):
            self.addItem(item, ignoreBounds=True)
        self.set_read_out(self._read)

    def show_bars(
        self, bars: Sequence[PartBar], *, limit: float | None = None, limit_name: str = ""
    ) -> None:
        theme = self.theme
        self.shown = tuple(bars)
        boxes = []
        for row, bar in enumerate(bars):
            y, x = len(bars) - 1 - row, 0.0
            for part in bar.parts:
                low, high = y - _THICKNESS / 2, y + _THICKNESS / 2
                boxes.append(
                    HatchedBar(x, x + part.value, low, high, part.colour, theme.panel, part.hatch)
                )
                x += part.value
        self.bars.show_bars(boxes)
        ticks = [(float(len(bars) - 1 - row), bar.name) for row, bar in enumerate(bars)]
        self.getPlotItem().getAxis("left").setTicks([ticks])
        self._write_totals()
        most = max([bar.total for bar in bars], default=1.0)
        top = ceiling(1.12 * max(most, limit or 0.0))
        self._draw_limit(limit, limit_name, is_left=(limit or 0.0) < top / 2)
        self.set_home((0.0, top), (-0.6, len(bars) - 0.4 + (0.5 if limit is not None else 0.0)))

    def _write_totals(self) -> None:
        while len(self.totals) < len(self.shown):
            words = pg.TextItem(anchor=(0, 0.5))
            words.setFont(interface_font(CAPTION))
            self.addItem(words, ignoreBounds=True)
            self.totals.append(words)
        for row, words in enumerate(self.totals):
            words.setVisible(row < len(self.shown))
            if row < len(self.shown):
                total = self.shown[row].total
                words.setText(f"{total:.3g}")
                words.setColor(QColor(self.theme.text))
                words.setPos(total, len(self.shown) - 1 - row)

    def _draw_limit(self, limit: float | None, name: str, *, is_left: bool) -> None:
        self.limit.setVisible(limit is not None)
        self.limit_words.setVisible(limit is not None)
        if limit is None:
            return
        self.limit.setValue(limit)
        self.limit.setPen(pg.mkPen(self.theme.text, width=1, style=Qt.PenStyle.DashLine))
        self.limit_words.setText(name)
        self.limit_words.setColor(QColor(self.theme.dim))
        self.limit_words.setAnchor((0, 0) if is_left else (1, 0))
        self.limit_words.setPos(limit, len(self.shown) + 0.1)

    def _read(self, x: float, y: float) -> str:
        row = len(self.shown) - 1 - round(y)
        if not 0 <= row < len(self.shown):
            return ""
        bar, start = self.shown[row], 0.0
        for part in bar.parts:
            if start <= x < start + part.value:
                return f"{bar.name}: {part.name}\n{part.value:.4g}"
            start += part.value
        return f"{bar.name}: {bar.total:.4g} in all"
