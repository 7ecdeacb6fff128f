"""StepPanel: one step taken apart - what was drafted, what the target gave, how each token met its
number."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton

from ui.figure_table import HEADS, FigureTable
from ui.icons import icon
from ui.moment import Moment, TokenRef, View
from ui.panels.base import Empty, Panel
from ui.plots.paired_bars import PairedBars
from ui.sequence_bar import SequenceBar
from ui.step_digest import StepDigest, step_digest
from ui.theme import CAPTION, Theme, interface_font
from ui.verdict_words import short

_MOST_ROWS = 7
_TABLE_FROM = 330  # pixels: a lower panel has no room for the table
_LETTERS = 250  # of the words, as long as they usually are


class StepPanel(Panel):
    key = "step"
    title = "Step"
    reads = ("sequences", "drafts", "proposals", "verdicts", "draft_tokens", "settings")
    hint = (
        "A step will be taken apart here: each draft token with what draft and target gave it, "
        "and the number that decided. Start a run, or click a token."
    )
    explanation = (
        "A draft token is accepted if its uniform number lies below min(1, target / draft).\n"
        "At the first rejection the rest is discarded, and one token is drawn from "
        "max(0, target - draft), normalised: the recovered one.\n"
        "If all are accepted, one more is drawn from the target: the bonus.\n"
        "overlap = sum of min(draft, target); entropy in nats, at temperature 1."
    )
    frames_per_draw = 6

    def build(self) -> None:
        self.before_button = _button("", "The step before", self._go_before)
        self.behind_button = _button("", "The step behind", self._go_behind)
        self.newest_button = _button("newest", "Follow the newest step", self._go_newest)
        self.heading = QLabel()
        self.heading.setFont(interface_font(CAPTION))
        self.heading.setMinimumWidth(1)
        self.bar = SequenceBar(has_tabs=False)
        self.bar.chosen.connect(self.state.select_sequence)
        line = QHBoxLayout()
        line.setSpacing(5)
        line.addWidget(self.before_button)
        line.addWidget(self.behind_button)
        line.addWidget(self.heading, 1)
        line.addWidget(self.newest_button)
        line.addWidget(self.bar)
        self.body.addLayout(line)
        self.plot = PairedBars(self.theme, shorten=short)
        self.plot.clicked.connect(self._click)
        self.plot.set_read_out(self._read_out)
        self.body.addWidget(self.plot, 1)
        self.words = QLabel()
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self.words.setFont(interface_font(CAPTION))
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.body.addWidget(self.words)
        self.table = FigureTable()
        self.table.cellClicked.connect(lambda row, _column: self._select(row))
        self.body.addWidget(self.table)
        self.restyle()

    @staticmethod
    def digest(moment: Moment, view: View) -> StepDigest | Empty | None:
        return step_digest(moment.snapshot, view)

    def draw(self, digest: StepDigest) -> None:
        self.heading.setText(digest.heading)
        self.heading.setToolTip(digest.heading)
        self.before_button.setEnabled(digest.before is not None)
        self.behind_button.setEnabled(digest.behind is not None)
        self.newest_button.setVisible(digest.is_selected)
        self.bar.setVisible(len(digest.sequences) > 1)
        self.bar.show_sequences(digest.sequences, digest.sequence_id)
        self.plot.set_bars(digest.bars)
        self.words.setText(digest.words)
        self.table.show_rows(digest.rows, digest.bars.marked)
        self._fit()
        self.noted.emit(_legend(self.theme))

    def restyle(self) -> None:
        self.plot.restyle(self.theme)
        self.before_button.setIcon(icon("back", self.theme))
        self.behind_button.setIcon(icon("forward", self.theme))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit()

    # --- inside ----------------------------------------------------------------------------------

    def _fit(self) -> None:
        """Room for the words and the table by the panel's size, not by what they say, so that the
        plot stays where it is while steps go by."""
        metrics = self.words.fontMetrics()
        width = max(1, self.width() - 20)
        n_lines = min(max(-(-_LETTERS * metrics.averageCharWidth() // width), 2), 6)
        if self.height() < 240:
            n_lines = min(n_lines, 3)
        self.words.setFixedHeight(n_lines * metrics.lineSpacing() + 2)
        self.words.setToolTip(self.words.text())
        self.table.setVisible(self.height() >= _TABLE_FROM)
        places = self.digested.bars.n_places if isinstance(self.digested, StepDigest) else 1
        rows = min(places, _MOST_ROWS, max(2, (self.height() - 250) // 20))
        self.table.fit(rows)

    def _select(self, index: int) -> None:
        """Select a draft token by its place, or the step's own behind them."""
        digest = self.digested
        if isinstance(digest, StepDigest) and 0 <= index < len(digest.rows):
            draft_index = index if index < digest.n_drafted else None
            self.state.select_token(
                TokenRef(sequence_id=digest.sequence_id, step=digest.step, draft_index=draft_index)
            )

    def _click(self, x: float, _y: float) -> None:
        index = self.plot.index_at(x)
        if index is not None:
            self._select(index)

    def _read_out(self, x: float, _y: float) -> str:
        """All figures of the token at ``x``."""
        index = self.plot.index_at(x)
        if index is None or not isinstance(self.digested, StepDigest):
            return ""
        values = self.digested.rows[index]
        pairs = zip(HEADS[1:], values[1:], strict=True)
        return "\n".join([values[0], *(f"{name} {value}" for name, value in pairs)])

    def _go(self, step: int | None) -> None:
        digest = self.digested
        if isinstance(digest, StepDigest) and step is not None:
            self.state.select_sequence(digest.sequence_id)
            self.state.select_step(step)

    def _go_before(self) -> None:
        self._go(self.digested.before if isinstance(self.digested, StepDigest) else None)

    def _go_behind(self) -> None:
        self._go(self.digested.behind if isinstance(self.digested, StepDigest) else None)

    def _go_newest(self) -> None:
        self.state.select_step(None)


def _legend(theme: Theme) -> str:
    return (
        f'<span style="color:{theme.draft}">●</span> draft '
        f'<span style="color:{theme.verify}">■</span> target '
        f'<span style="color:{theme.text}">◆</span> uniform, below ╌ threshold: accepted'
    )


def _button(text: str, tip: str, act: Callable[[], None]) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setFont(interface_font(CAPTION))
    button.clicked.connect(act)
    return button
