"""TileRow: the six figures over the cards; the one glance that everything else explains."""

# ruff: noqa: RUF001 - the letters alpha and gamma and the times sign are meant

from dataclasses import dataclass
from typing import Any, ClassVar

from PySide6.QtWidgets import QHBoxLayout, QSizePolicy

from sessions.metric_catalog import CATALOG
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.tiles import Tiles, tiles
from ui.bars.tiles import Tile
from ui.moment import Moment, View
from ui.panels.base import Panel
from ui.speedup_words import THE_OTHERS
from ui.theme import Theme

NOT_YET = "n/a"

_NAMES = ("Tokens / s", "Speed-up", "Acceptance α", "Tokens / step", "Step", "KV blocks")
_KEYS = (
    ("tokens_per_second",),
    ("measured_speedup", "predicted_speedup"),
    ("acceptance_rate", "expected_acceptance_rate"),
    ("tokens_per_step",),
    ("draft_share", "verify_share", "overhead_share"),
    ("kv_occupancy", "kv_fragmentation"),
)  # of sessions.metric_catalog: what a tile's tooltip defines


_MORE = {"Speed-up": THE_OTHERS, "Step": "other = (step - draft - verify) / step"}


@dataclass(frozen=True, slots=True)
class Figure:
    """What a tile says; ``ink`` names a colour of the theme, "" is the text's."""

    figure: str
    beneath: str
    ink: str = ""


class TileRow(Panel):
    """Drawn like any panel, but no card: it is always there."""

    key, title = "tiles", "Figures"
    reads: ClassVar[tuple[str, ...]] = (
        "steps", "verdicts", "spans", "kv_changes", "calibrations", "sequences", "settings",
    )  # fmt: skip
    frames_per_draw = 6

    def build(self) -> None:
        self.body.setContentsMargins(0, 0, 0, 0)
        line = QHBoxLayout()
        line.setSpacing(8)
        self.tiles = []
        for name, keys in zip(_NAMES, _KEYS, strict=True):
            metrics = [CATALOG[key] for key in keys]
            words = [f"{m.name} = {m.formula}\n{m.meaning}" for m in metrics]
            if name in _MORE:
                words.append(_MORE[name])
            tile = Tile(name, "\n\n".join(words), self.look)
            self.tiles.append(tile)
            line.addWidget(tile, 1)
        self.body.addLayout(line)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    @staticmethod
    def digest(moment: Moment, view: View) -> tuple[Figure, ...]:
        selection = (
            EVERYTHING if view.only_sequence_id is None else Selection(view.only_sequence_id)
        )
        return figures(tiles(moment.snapshot, moment.baseline, selection))

    def draw(self, digest: Any) -> None:
        for tile, each in zip(self.tiles, digest, strict=True):
            tile.show_figure(each.figure, each.beneath, ink=_ink(self.theme, each.ink))


def figures(known: Tiles) -> tuple[Figure, ...]:
    """The six, in the row's order."""
    return (_speed(known), _speedup(known), _acceptance(known), _tokens(known), _step(known),
            _kv(known))  # fmt: skip


def _speed(known: Tiles) -> Figure:
    baseline = known.baseline_tokens_per_second
    beneath = "no baseline beside it" if baseline is None else f"baseline {_number(baseline)}"
    return Figure(_number(known.tokens_per_second), beneath)


def _speedup(known: Tiles) -> Figure:
    """Measured beside a baseline, and coloured only then; else by the mean steps, as the waterfall
    has it; else by the formula."""
    measured, predicted = known.measured_speedup, known.predicted_speedup
    formula = "" if predicted is None else f" · predicted {predicted:.2f}×"
    if measured is not None:
        ink = "good" if measured >= 1.0 else "rejected"
        return Figure(f"{measured:.2f}×", f"measured vs baseline{formula}", ink)
    reached = known.mean_step_speedup
    value = predicted if reached is None else reached
    if value is None and known.tokens_per_step is not None and known.acceptance.value is None:
        return Figure(NOT_YET, "nothing was drafted")
    if value is None:
        return Figure(NOT_YET, "needs a baseline or a calibration")
    if known.is_doubtful:
        return Figure(f"≈ {value:.2f}×", "in doubt: timing disturbed", "warning")
    how = "predicted from α, c and v" if reached is None else f"vs bare forward{formula}"
    return Figure(f"≈ {value:.2f}×", how)


def _acceptance(known: Tiles) -> Figure:
    rate = known.acceptance
    if rate.value is None:
        return Figure(NOT_YET, "nothing was drafted")
    words = []
    if rate.low is not None and rate.high is not None:
        words.append(f"{rate.low:.2f} to {rate.high:.2f}")
    if known.expected_acceptance is not None:
        words.append(f"expected {known.expected_acceptance:.2f}")
    return Figure(f"{rate.value:.2f}", " · ".join(words))


def _tokens(known: Tiles) -> Figure:
    if known.tokens_per_step is None:
        return Figure(NOT_YET, "no step yet")
    most = known.most_per_step
    beneath = "" if most is None else f"of γ+1 = {most:.3g}"
    return Figure(f"{known.tokens_per_step:.2f}", beneath)


def _step(known: Tiles) -> Figure:
    step = known.step
    if step is None:
        return Figure(NOT_YET, "steps were not timed")
    return Figure(
        _time(step.ns),
        f"draft {step.draft_share:.0%} · verify {step.verify_share:.0%} · "
        f"other {step.other_share:.0%}",
    )


def _kv(known: Tiles) -> Figure:
    kv = known.kv
    if kv is None:
        return Figure(NOT_YET, "no cache was made")
    if kv.unfilled is None:
        return Figure(f"0 / {kv.n_blocks}", "all given back at this moment")
    beneath = f"{kv.unfilled:.1%} unfilled · contiguous {kv.n_contiguous}"
    return Figure(f"{kv.n_owned} / {kv.n_blocks}", beneath)


def _ink(theme: Theme, name: str) -> str:
    return str(getattr(theme, name)) if name else ""


def _number(value: float | None) -> str:
    if value is None:
        return NOT_YET
    return f"{value:.1f}" if value < 1000 else f"{value:,.0f}".replace(",", "\u202f")


def _time(ns: float) -> str:
    if ns < 1e6:
        return f"{ns / 1e3:.0f} µs"
    return f"{ns / 1e6:.1f} ms" if ns < 1e9 else f"{ns / 1e9:.2f} s"
