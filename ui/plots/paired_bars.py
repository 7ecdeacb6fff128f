"""PairedBars: what the draft and the target gave each token of a draft, and the number each met."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainterPath

from ui.plots.plot import Plot
from ui.theme import CAPTION, Theme, mixed, token_font

Floats = NDArray[np.float64]
_HALF = 0.17  # from a group's middle to the middle of each bar
_WIDTH = 0.3
_MARKS_PIXELS = 22  # above probability 1, for what became of the tokens


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Bars:
    """One entry per token in order; NaN is missing. ``fates`` are accepted, rejected, discarded,
    waiting, recovered or bonus; ``marked`` is the selected one. ``n_places`` is how many tokens the
    axis has room for."""

    labels: tuple[str, ...]
    draft: Floats
    target: Floats
    thresholds: Floats
    uniforms: Floats
    fates: tuple[str, ...]
    marked: int | None = None
    n_places: int = 1


class PairedBars(Plot):
    """Two bars a token: the draft's with a circle on it, the target's with a square; a dashed line
    is the threshold, a diamond the uniform; above them what became of the token."""

    def __init__(self, theme: Theme, *, shorten: Callable[[str, int], str]) -> None:
        super().__init__(theme, y_label="probability", pans_y=False)
        self._shorten = shorten
        self._bars: Bars | None = None
        self._n_places = 0
        self._top = 1.2  # the axis ends here
        self.ground = pg.BarGraphItem(x=[], height=[], width=1.0)
        self.draft_bars = pg.BarGraphItem(x=[], height=[], width=_WIDTH)
        self.target_bars = pg.BarGraphItem(x=[], height=[], width=_WIDTH)
        self.draft_caps = pg.ScatterPlotItem(size=8, symbol="o")
        self.target_caps = pg.ScatterPlotItem(size=8, symbol="s")
        self.thresholds = pg.PlotDataItem(connect="pairs")
        self.uniforms = pg.ScatterPlotItem(size=10, symbol="d")
        self.fates = pg.ScatterPlotItem(size=12)
        for depth, item in enumerate((
            self.ground, self.draft_bars, self.target_bars, self.thresholds, self.draft_caps,
            self.target_caps, self.uniforms, self.fates,
        )):  # fmt: skip
            item.setZValue(depth)
            self.addItem(item)
        axis = self.getPlotItem().getAxis("left")
        axis.setTicks([[(0, "0"), (0.5, "0.5"), (1, "1")]])
        self._label_axis = self.getPlotItem().getAxis("bottom")
        self._label_axis.setStyle(tickFont=token_font(CAPTION), hideOverlappingLabels=False)
        self.setYRange(0, self._top, padding=0)
        view = self.getPlotItem().getViewBox()
        view.disableAutoRange()
        view.sigResized.connect(self._resized)

    def set_bars(self, bars: Bars) -> None:
        """Show these."""
        self._bars = bars
        if bars.n_places != self._n_places:
            self._n_places = bars.n_places
            self.setXRange(-0.6, bars.n_places - 0.4, padding=0)
        self._fit()
        self._paint()
        self._label()
        self.set_columns({
            "token": bars.labels, "draft": bars.draft, "target": bars.target,
            "threshold": bars.thresholds, "uniform": bars.uniforms, "fate": bars.fates,
        })  # fmt: skip

    def index_at(self, x: float) -> int | None:
        """The token whose bars are at ``x``."""
        index = math.floor(x + 0.5)
        n = 0 if self._bars is None else len(self._bars.labels)
        return index if 0 <= index < n else None

    def restyle(self, theme: Theme) -> None:
        super().restyle(theme)
        if getattr(self, "_bars", None) is not None:
            self._paint()

    def show_all(self) -> None:
        self.setXRange(-0.6, max(1, self._n_places) - 0.4, padding=0)
        self.setYRange(0, self._top, padding=0)
        self.moved.emit()

    # --- inside ----------------------------------------------------------------------------------

    def _resized(self, *_: object) -> None:
        if self._bars is not None:
            self._label()
            self._fit()

    def _paint(self) -> None:
        bars, theme = self._bars, self.theme
        assert bars is not None
        places = np.arange(len(bars.labels), dtype=np.float64)
        pale = [0.45 if fate == "discarded" else 1.0 for fate in bars.fates]
        for values, side, items, colour in (
            (bars.draft, -_HALF, (self.draft_bars, self.draft_caps), theme.draft),
            (bars.target, _HALF, (self.target_bars, self.target_caps), theme.verify),
        ):
            known = np.flatnonzero(~np.isnan(values))
            x = places[known] + side
            fills = [QColor(mixed(colour, theme.panel, 0.6 * pale[i])) for i in known]
            rims = [pg.mkPen(mixed(colour, theme.panel, pale[i])) for i in known]
            items[0].setOpts(  # an empty list of pens is none
                x=x,
                height=values[known],
                width=_WIDTH,
                brushes=fills or None,
                pens=rims or None,
            )
            items[1].setData(x=x, y=values[known], pen=pg.mkPen(colour), brush=pg.mkBrush(colour))
        known = np.flatnonzero(~np.isnan(bars.thresholds))
        ends = np.repeat(places[known], 2) + np.tile([-0.42, 0.42], len(known))
        pen = pg.mkPen(theme.text, width=1, style=Qt.PenStyle.DashLine)
        self.thresholds.setData(ends, np.repeat(bars.thresholds[known], 2), pen=pen)
        known = np.flatnonzero(~np.isnan(bars.uniforms))
        self.uniforms.setData(
            x=places[known], y=bars.uniforms[known],
            pen=pg.mkPen(theme.panel), brush=pg.mkBrush(theme.text),
        )  # fmt: skip
        self._paint_fates(places)

    def _paint_fates(self, places: Floats) -> None:
        bars, theme = self._bars, self.theme
        assert bars is not None
        colours = {
            "accepted": theme.accepted, "rejected": theme.rejected, "discarded": theme.discarded,
            "recovered": theme.recovered, "bonus": theme.bonus, "waiting": theme.dim,
        }  # fmt: skip
        fate_y = (1.0 + self._top) / 2
        self.fates.setData([
            {
                "pos": (x, fate_y),
                "symbol": _SYMBOLS[fate],
                "pen": pg.mkPen(colours[fate], width=2),
                "brush": pg.mkBrush(colours[fate] if fate in ("recovered", "bonus") else None),
            }
            for x, fate in zip(places.tolist(), bars.fates, strict=True)
        ])  # fmt: skip
        marked = [] if bars.marked is None else [bars.marked]
        tint = mixed(theme.accent, theme.panel, 0.17)
        self.ground.setOpts(
            x=marked, height=[self._top] * len(marked), width=1.0, brush=tint, pen=pg.mkPen(None)
        )

    def _fit(self) -> None:
        """The marks above the bars need the same room at any height."""
        height = max(self.getPlotItem().getViewBox().height(), 2.0 * _MARKS_PIXELS)
        top = 1.0 / (1.0 - _MARKS_PIXELS / height)
        if abs(top - self._top) > 1e-6:
            self._top = top
            self.setYRange(0, top, padding=0)
            self._paint()

    def _label(self) -> None:
        """The tokens' texts below their bars, as long as there is room."""
        bars = self._bars
        assert bars is not None
        room = self.getPlotItem().getViewBox().width() / max(1, self._n_places)
        letter = QFontMetricsF(token_font(CAPTION)).horizontalAdvance("0")
        n = max(1, int(room / letter - 0.7))
        labels: Sequence[tuple[int, str]] = [
            (index, self._shorten(text, n)) for index, text in enumerate(bars.labels)
        ]
        self._label_axis.setTicks([labels])


def _path(*points: tuple[float, float]) -> QPainterPath:
    path = QPainterPath()
    path.moveTo(*points[0])
    for point in points[1:]:
        path.lineTo(*point)
    return path


def _cross() -> QPainterPath:
    path = _path((-0.36, -0.36), (0.36, 0.36))
    path.moveTo(-0.36, 0.36)
    path.lineTo(0.36, -0.36)
    return path


_SYMBOLS: dict[str, Any] = {
    "accepted": _path((-0.42, 0.02), (-0.12, 0.34), (0.42, -0.36), (-0.12, 0.34)),
    "rejected": _cross(),
    "discarded": "s",
    "waiting": "o",
    "recovered": "t1",
    "bonus": "star",
}
"""A check, a cross, an empty outline; the step's own token is filled."""
