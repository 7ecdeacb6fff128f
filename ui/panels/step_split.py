"""SplitPanel: where the time of a step goes, now and over the whole session."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QGridLayout, QLabel

from sessions.metrics.costs import measured_costs
from sessions.metrics.counts import count
from sessions.metrics.selection import Selection
from sessions.metrics.time_split import TimeSplit, time_split
from ui.moment import Moment, View
from ui.painting import painting
from ui.panels.base import Empty, Panel
from ui.plots.hatched_bars import fill_hatched
from ui.plots.stacked_bars import BarPart, StackedBars
from ui.theme import CAPTION, Theme, interface_font

RECENT_STEPS = 32

PARTS = ("draft forwards", "draft rest", "verify", "sample", "commit", "other")
_HATCHES = (0, 1, 0, 3, 4, 2)


@dataclass(frozen=True, slots=True)
class Split:
    """Mean ms of a step, in the order of ``PARTS``, and their shares of the step."""

    n_steps: int
    ms: tuple[float, ...]
    shares: tuple[float, ...]

    @property
    def step_ms(self) -> float:
        return sum(self.ms)


@dataclass(frozen=True, slots=True)
class Splits:
    whole: Split
    recent: Split | None
    """The last ``RECENT_STEPS`` steps, where there are more."""
    clock: str
    width_share: float | None
    """What verifying more than one token costs, of a step."""


class SplitPanel(Panel):
    key = "step-split"
    title = "Where a step goes"
    reads = ("spans", "calibrations")
    hint = "Drafting, verifying, sampling: what each takes of a step. Start a run, or open one."
    explanation = (
        "Mean milliseconds of an engine step, pauses left out; the parts make the whole.\n"
        "draft forwards: the draft model's forwards\ndraft rest: drawing draft tokens, looking "
        "n-grams up\nverify: the target's forward over the draft\nsample: judging the draft\n"
        "commit: appending tokens, rolling caches back\nother: what no part covers.\n"
        f"Beneath: the same of the last {RECENT_STEPS} steps.\nVerify width: (T(n + 1) - T(1)) / "
        "step, T(w) a target forward w tokens wide, n the mean draft length."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.bars = StackedBars(self.theme)
        self.bars.setMaximumHeight(160)
        self.bars.set_read_out(lambda _x, _y: "")
        self.body.addWidget(self.bars, 1)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(7)
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        self._swatches: list[QLabel] = []
        self.cells: list[list[QLabel]] = []
        for row in range(len(PARTS) + 1):
            swatch = QLabel()
            self._swatches.append(swatch)
            grid.addWidget(swatch, row, 0)
            cells = [QLabel() for _ in range(4)]  # name, whole ms, whole %, recent %
            for column, cell in enumerate(cells):
                cell.setFont(interface_font(CAPTION))
                if column:
                    cell.setAlignment(Qt.AlignmentFlag.AlignRight)
                if row == 0:
                    cell.setProperty("dim", True)
                grid.addWidget(cell, row, column + 1)
            self.cells.append(cells)
        self.body.addLayout(grid)
        self.body.addStretch(0)

    @staticmethod
    def digest(moment: Moment, view: View) -> Splits | Empty | None:
        snapshot, selection = moment.snapshot, Selection(view.only_sequence_id)
        whole = time_split(snapshot, selection)
        if whole is None:
            if not len(snapshot.steps):
                return None
            return Empty("Recorded without measurements: where a step's time goes is not known.")
        if whole.whole_ns <= 0:
            return Empty("The clock was too coarse for steps as short as these.")
        last = int(snapshot.spans["step"][-1])
        part = Selection(view.only_sequence_id, first_step=max(0, last - RECENT_STEPS + 1))
        recent = time_split(snapshot, part, clock=whole.clock)
        has_recent = recent is not None and 0 < recent.n_steps < whole.n_steps
        has_recent = has_recent and recent is not None and recent.whole_ns > 0
        return Splits(
            whole=_split(whole),
            recent=_split(recent) if recent is not None and has_recent else None,
            clock=whole.clock,
            width_share=_width_share(moment, selection, whole),
        )

    def draw(self, digest: Splits) -> None:
        theme = self.theme
        colours = _colours(theme)
        rows = [("all", self._parts(digest.whole, colours))]
        if digest.recent is not None:
            rows.append((f"last {digest.recent.n_steps}", self._parts(digest.recent, colours)))
        self.bars.set_rows(rows)
        self.bars.set_columns(
            {
                "part": PARTS,
                "ms": digest.whole.ms,
                "share": digest.whole.shares,
                "recent_ms": digest.recent.ms if digest.recent else ["n/a"] * len(PARTS),
                "recent_share": digest.recent.shares if digest.recent else ["n/a"] * len(PARTS),
            }
        )
        recent = digest.recent
        heads = (
            f"{digest.whole.step_ms:.2f} ms a step",
            "ms",
            "%",
            f"last {recent.n_steps}" if recent else "",
        )
        self.cells[0][0].setToolTip(f"By the {digest.clock}'s clock.")
        for cell, text in zip(self.cells[0], heads, strict=True):
            cell.setText(text)
        for place, name in enumerate(PARTS):
            words = (
                name,
                f"{digest.whole.ms[place]:.2f}",
                f"{digest.whole.shares[place]:.0%}",
                f"{recent.shares[place]:.0%}" if recent else "",
            )
            for cell, text in zip(self.cells[place + 1], words, strict=True):
                cell.setText(text)
        self.noted.emit(note(digest))

    def restyle(self) -> None:
        self.bars.restyle(self.theme)
        colours = _colours(self.theme)
        for place, swatch in enumerate(self._swatches[1:]):
            swatch.setPixmap(_swatch(colours[place], self.theme.on_colour, _HATCHES[place],
                                     self.devicePixelRatioF()))  # fmt: skip

    def showEvent(self, event: object) -> None:
        self.restyle()
        super().showEvent(event)  # type: ignore[arg-type]

    @staticmethod
    def _parts(split: Split, colours: tuple[str, ...]) -> list[BarPart]:
        return [
            BarPart(name, share, f"{ms:.1f} ms · {share:.0%}", colour, hatch)
            for name, share, ms, colour, hatch in zip(
                PARTS, split.shares, split.ms, colours, _HATCHES, strict=True
            )
        ]


def note(digest: Splits) -> str:
    """What drafting and the width of verifications cost."""
    drafting = digest.whole.shares[0] + digest.whole.shares[1]
    words = f"drafting costs {drafting:.0%}"
    if digest.width_share is not None:
        words += f", verify width {digest.width_share:.0%}"
    return words


def _split(split: TimeSplit) -> Split:
    parts = (
        split.draft_forward_ns, split.draft_rest_ns, split.verify_ns, split.sample_ns,
        split.commit_ns, split.other_ns,
    )  # fmt: skip
    return Split(
        n_steps=split.n_steps,
        ms=tuple(part / split.n_steps / 1e6 for part in parts),
        # Clocks that overlap may leave a part a little below nothing: it has no length.
        shares=tuple(max(0.0, split.share(part) or 0.0) for part in parts),
    )


def _width_share(moment: Moment, selection: Selection, split: TimeSplit) -> float | None:
    counts = count(moment.snapshot, selection)
    costs, length = measured_costs(moment.snapshot, selection), counts.mean_draft_length
    if costs is None or length is None or counts.n_steps > counts.n_engine_steps:
        return None
    more_ns = costs.verify_ns(length + 1) - costs.plain_ns
    return max(0.0, more_ns) / (split.whole_ns / split.n_steps)


def _colours(theme: Theme) -> tuple[str, ...]:
    """In the order of ``PARTS``."""
    return (theme.draft, theme.draft, theme.verify, theme.sample, theme.commit, theme.discarded)


def _swatch(colour: str, ink: str, hatch: int, ratio: float) -> QPixmap:
    picture = QPixmap(QSize(11, 11) * ratio)
    picture.setDevicePixelRatio(ratio)
    with painting(picture) as painter:
        fill_hatched(painter, QRectF(0, 0, 11, 11), colour, ink, hatch)
    return picture
