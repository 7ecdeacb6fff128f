"""EntropyPanel: how acceptance falls where the target itself is unsure."""

# ruff: noqa: RUF001 - alpha's letter is meant

from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from sessions.columns import Array
from sessions.metrics.breakdown import EntropyBin, acceptance_by_entropy
from sessions.metrics.interval import ratio
from sessions.metrics.kinds import selections
from sessions.metrics.selection import Selection
from sessions.snapshot import Snapshot
from sessions.tables import ACCEPTED, DISCARDED
from ui.moment import Moment, View
from ui.panels.base import Empty, Panel
from ui.plots.bars import whiskers
from ui.plots.home_plot import HomePlot, ceiling
from ui.plots.labelled_lines import LabelledLines, NamedLine

MAX_POINTS = 2000
SURE, UNSURE = 0.5, 2.0
"""Nats: below the first and above the second is what the note compares."""
_SCATTER = 2654435761
"""Odd, near 2**32 / golden ratio: multiples of it spread evenly over 32 bits."""
_JITTER = 2246822519
NAN = float("nan")


@dataclass(frozen=True, slots=True, eq=False)
class BinnedLine:
    """Arrays [m], one entry per bin that holds tokens."""

    entropy: np.ndarray  # mean of the bin's, nats
    acceptance: np.ndarray
    low: np.ndarray
    high: np.ndarray
    expected: np.ndarray
    n: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class ByEntropy:
    """Arrays of the sampled tokens, and the bins of all."""

    accepted_x: np.ndarray
    accepted_y: np.ndarray
    rejected_x: np.ndarray
    rejected_y: np.ndarray
    bins: BinnedLine
    kinds: tuple[tuple[str, BinnedLine], ...]
    top: float  # the highest sampled entropy
    alpha_sure: float | None
    alpha_unsure: float | None


class EntropyPanel(Panel):
    key = "acceptance-entropy"
    title = "Acceptance · by entropy"
    reads = ("draft_tokens", "sequences")
    hint = "Whether drafts fail where the target is unsure. Start a run that drafts, or open one."
    explanation = (
        "Each dot is a tested draft token that was accepted, each cross one that was rejected "
        f"(a sample of at most {MAX_POINTS:,}), over the entropy of the target's distribution at "
        "temperature 1, before top-k and top-p: H = - sum p ln p, in nats.\n"
        "Line: accepted / tested in each bin of entropy, with 95 % Wilson intervals, at the bin's "
        "mean.\nDashes: mean of the sum of min(draft, target), what it should be."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.plot = HomePlot(self.theme, x_label="target entropy (nats)")
        self.accepted = pg.ScatterPlotItem(size=4, symbol="o", pen=pg.mkPen(None))
        self.rejected = pg.ScatterPlotItem(size=6, symbol="x")
        self.line = pg.PlotDataItem(symbol="o", symbolSize=5)
        self.expected = pg.PlotCurveItem()
        self.whiskers = pg.PlotCurveItem(connect="pairs")
        for place, item in enumerate(
            (self.accepted, self.rejected, self.expected, self.whiskers, self.line)
        ):
            item.setZValue(place)
            self.plot.addItem(item)
        self.kinds = LabelledLines(self.plot)
        self.plot.set_read_out(self._read)
        self.body.addWidget(self.plot)

    @staticmethod
    def digest(moment: Moment, view: View) -> ByEntropy | Empty | None:
        snapshot, selection = moment.snapshot, Selection(view.only_sequence_id)
        if not len(snapshot.draft_tokens):
            if not len(snapshot.steps):
                return None
            return Empty("Nothing was drafted: these steps are ordinary decoding.")
        bins = acceptance_by_entropy(snapshot, selection)
        if not any(each.acceptance.n_of for each in bins):
            return Empty("No draft token of this sequence was tested yet.")
        rows = sampled(snapshot, selection)
        tokens = snapshot.draft_tokens
        entropies = tokens["target_entropy"][rows]
        is_accepted = tokens["fate"][rows] == ACCEPTED
        jitter = _spread(rows, _JITTER) * 0.06
        parts = selections(snapshot) if view.only_sequence_id is None else {}
        kinds = [(label, acceptance_by_entropy(snapshot, part)) for label, part in parts.items()]
        return ByEntropy(
            accepted_x=entropies[is_accepted],
            accepted_y=1.0 - jitter[is_accepted],
            rejected_x=entropies[~is_accepted],
            rejected_y=jitter[~is_accepted],
            bins=_line(bins),
            kinds=tuple((label, _line(each)) for label, each in kinds),
            top=float(entropies.max(initial=0.0)),
            alpha_sure=_alpha([each for each in bins if each.high and each.high <= SURE]),
            alpha_unsure=_alpha([each for each in bins if each.low >= UNSURE]),
        )

    def draw(self, digest: ByEntropy) -> None:
        theme, bins = self.theme, digest.bins
        self.accepted.setData(
            digest.accepted_x, digest.accepted_y, brush=_faint(theme.accepted), pen=None
        )
        self.rejected.setData(
            digest.rejected_x, digest.rejected_y, brush=_faint(theme.rejected), pen=None
        )
        self.line.setData(bins.entropy, bins.acceptance)
        pen = pg.mkPen(QColor(theme.accent), width=1)
        self.line.setPen(pen)
        self.line.setSymbolPen(pen)
        self.line.setSymbolBrush(pg.mkBrush(theme.accent))
        top = ceiling(max(digest.top, 0.1))
        strokes = whiskers(bins.entropy, bins.low, bins.high, cap=top / 90)
        self.whiskers.setData(*strokes)
        self.whiskers.setPen(pen)
        self.expected.setData(bins.entropy, bins.expected)
        self.expected.setPen(pg.mkPen(QColor(theme.text), width=1, style=Qt.PenStyle.DashLine))
        self.kinds.show(
            [NamedLine(label, line.entropy, line.acceptance) for label, line in digest.kinds],
            theme.dim,
        )
        self.plot.set_home((0.0, top), (-0.04, 1.04), right_px=self.kinds.labels.room_px)
        self.plot.set_columns(
            {
                "mean_entropy_nats": bins.entropy,
                "n_tested": bins.n,
                "acceptance": bins.acceptance,
                "low": bins.low,
                "high": bins.high,
                "expected": bins.expected,
            }
        )
        self.noted.emit(note(digest))

    def restyle(self) -> None:
        self.plot.restyle(self.theme)

    def _read(self, x: float, y: float) -> str:
        digest = self.digested
        if not isinstance(digest, ByEntropy):
            return ""
        bins = digest.bins
        place = int(np.abs(bins.entropy - x).argmin())
        return (
            f"about {bins.entropy[place]:.2f} nats, {int(bins.n[place]):,} tested\n"
            f"accepted {bins.acceptance[place]:.3f} "
            f"({bins.low[place]:.3f} - {bins.high[place]:.3f})\n"
            f"expected {bins.expected[place]:.3f}"
        )


def note(digest: ByEntropy) -> str:
    """Acceptance where the target is sure, and where it is not."""
    words = []
    if digest.alpha_sure is not None:
        words.append(f"α {digest.alpha_sure:.2f} below {SURE:g} nats")
    if digest.alpha_unsure is not None:
        words.append(f"{digest.alpha_unsure:.2f} above {UNSURE:g}")
    return ", ".join(words)


def sampled(snapshot: Snapshot, selection: Selection) -> Array:
    """Rows of tested tokens, ``MAX_POINTS`` at most. Which ones depends on the row alone, and on
    a stride that doubles as the session grows: a point once left out never comes back."""
    tokens = snapshot.draft_tokens
    rows = np.flatnonzero(tokens["fate"] != DISCARDED)
    mask = selection.rows(tokens)
    if not isinstance(mask, slice):
        rows = rows[mask[rows]]
    places = _spread(rows, _SCATTER)
    share = 1.0
    while np.count_nonzero(places < share) > MAX_POINTS:
        share /= 2
    rows = rows[places < share]
    return rows[np.isfinite(tokens["target_entropy"][rows])]


def _spread(rows: Array, factor: int) -> Array:
    """A number in [0, 1) for each row, always the same."""
    mixed = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(factor)
    return (mixed & np.uint64(0xFFFFFFFF)).astype(np.float64) / 2.0**32


def _line(bins: tuple[EntropyBin, ...]) -> BinnedLine:
    filled = [each for each in bins if each.acceptance.n_of]

    def floats(values: list[float | None]) -> np.ndarray:
        return np.array([NAN if value is None else value for value in values], np.float64)

    return BinnedLine(
        entropy=floats([each.mean_entropy for each in filled]),
        acceptance=floats([each.acceptance.value for each in filled]),
        low=floats([each.acceptance.low for each in filled]),
        high=floats([each.acceptance.high for each in filled]),
        expected=floats([each.expected for each in filled]),
        n=np.array([each.acceptance.n_of for each in filled]),
    )


def _alpha(bins: list[EntropyBin]) -> float | None:
    return ratio(
        sum(each.acceptance.n for each in bins), sum(each.acceptance.n_of for each in bins)
    )


def _faint(colour: str) -> QColor:
    """So that points on each other show how many they are."""
    ink = QColor(colour)
    ink.setAlpha(150)
    return ink
