"""StepPanel: one step taken apart - what was drafted, what the target gave, how each token met its
number."""

import html
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton

from ui.bars.sequence_bar import SequenceBar
from ui.icons import icon
from ui.moment import Moment, TokenRef, View
from ui.panels.base import Empty, Panel
from ui.plain_text import plain_label, plain_tip
from ui.plots.paired_bars import PairedBars
from ui.step.figure_table import HEADS, FigureTable
from ui.step.step_digest import StepDigest, step_digest
from ui.step.verdict_words import short
from ui.theme import CAPTION, Theme, interface_font

_MOST_ROWS = 7
_TABLE_FROM = 330  # pixels: a lower panel has no room for the table
_PLOT_PIXELS = 140  # what the plot and the line above it need
_BUTTONS_FROM = 330  # pixels: a narrower panel has room for the step's number only
_LEGEND_FROM = 400  # pixels: in a narrower panel the long legend would be cut
_LETTERS = 190  # of the words, as long as they usually are


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
        self.newest_button = _button("", "Follow the newest step", self._go_newest)
        self.heading = plain_label()
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
        self.words = _Words()
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
        self.heading.setToolTip(plain_tip(digest.heading))
        self.before_button.setEnabled(digest.before is not None)
        self.behind_button.setEnabled(digest.behind is not None)
        self.bar.setVisible(len(digest.sequences) > 1)
        self.bar.show_sequences(digest.sequences, digest.sequence_id)
        self.plot.set_bars(digest.bars)
        self.table.show_rows(digest.rows, digest.bars.marked)
        self._fit()

    def restyle(self) -> None:
        self.plot.restyle(self.theme)
        self.before_button.setIcon(icon("back", self.theme))
        self.behind_button.setIcon(icon("forward", self.theme))
        self.newest_button.setIcon(icon("last", self.theme))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit()

    # --- inside ----------------------------------------------------------------------------------

    def _fit(self) -> None:
        """Room for the words and the table by the panel's size, not by what they say, so that the
        plot stays where it is while steps go by."""
        metrics = self.words.fontMetrics()
        has_table = self.height() >= _TABLE_FROM
        room = self.height() - _PLOT_PIXELS - (_TABLE_FROM // 3 if has_table else 0)
        width = max(1, self.width() - 20)
        n_lines = -(-_LETTERS * metrics.averageCharWidth() // width) + 1
        n_lines = max(1, min(n_lines, room // metrics.lineSpacing(), 6))
        height = n_lines * metrics.lineSpacing() + 2
        self.words.set_height(height)
        if isinstance(self.digested, StepDigest):
            self._show_words(self.digested.words, width, height)
            has_room = self.width() >= _BUTTONS_FROM
            self.newest_button.setVisible(self.digested.is_selected and has_room)
            heading = self.digested.heading
            self.heading.setText(heading if has_room else heading.partition(" · ")[0])
        self.noted.emit(_legend(self.theme, is_short=self.width() < _LEGEND_FROM))
        self.table.setVisible(has_table)
        places = self.digested.bars.n_places if isinstance(self.digested, StepDigest) else 1
        rows = min(places, _MOST_ROWS, max(2, (self.height() - 250) // 20))
        self.table.fit(rows)

    def _show_words(self, words: str, width: int, height: int) -> None:
        """As many of them as there is room for; all of them are in the tooltip."""
        # A tooltip takes for markup what looks like it.
        self.words.setToolTip(f"<p>{html.escape(words)}</p>")
        metrics, flags = self.words.fontMetrics(), int(Qt.TextFlag.TextWordWrap)
        shown, rest = words, words
        while metrics.boundingRect(0, 0, width, 10_000, flags, shown).height() > height and rest:
            rest = rest.rpartition(" ")[0]
            shown = f"{rest}…"
        self.words.setText(shown)

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


class _Words(QLabel):
    """As high as it is told, whatever it says; less where there is no room."""

    def __init__(self) -> None:
        super().__init__()
        self._height = 0
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setSizePolicy(policy)  # without height for width

    def set_height(self, height: int) -> None:
        if height != self._height:
            self._height = height
            self.setMaximumHeight(height)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(100, self._height)

    def minimumSizeHint(self) -> QSize:
        return QSize(50, self.fontMetrics().lineSpacing())


def _legend(theme: Theme, *, is_short: bool) -> str:
    return (
        f'<span style="color:{theme.draft}">●</span> draft '
        f'<span style="color:{theme.verify}">■</span> target '
        f'<span style="color:{theme.text}">◆</span> uniform'
        + ("" if is_short else ", below ╌ threshold: accepted")
    )


def _button(text: str, tip: str, act: Callable[[], None]) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setFont(interface_font(CAPTION))
    button.clicked.connect(act)
    return button
