"""TokensPanel: the text as it comes, every token drawn by where it came from."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from sessions.snapshot import Snapshot
from sessions.step_verdict import step_verdict
from sessions.token_trail import NO_STEP, TokenTrail, TrailKind, token_trail
from ui.bars.sequence_bar import SequenceBar
from ui.moment import Moment, TokenRef, View
from ui.panels.base import Empty, Panel
from ui.plain_text import plain_label
from ui.step.cut_short import cut_short
from ui.step.looked_at import NamedSequence, sequence_of, started_sequences
from ui.step.verdict_words import greedy_words, quoted, token_figures, token_words
from ui.text.cells import mark_of
from ui.text.token_card import TokenCard
from ui.text.token_view import TokenView
from ui.theme import CAPTION, Theme, interface_font

MOST_COLUMNS = 4
_COLUMN_PIXELS = 170  # a narrower column cannot be read
_LEGEND_FROM, _BRIEF_LEGEND_FROM = 380, 230
"""From so many pixels on there is room for it beside the title; else it has lines of its own."""
_OWN = (TrailKind.RECOVERED, TrailKind.BONUS)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SequenceText:
    """One sequence's text. The marks are those of the selected step and token."""

    sequence: NamedSequence
    trail: TokenTrail
    marked_step: int | None
    marked_item: int | None
    end: str = ""
    """Why it ended before it was done."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TokensDigest:
    """``texts`` are the sequences that may be seen side by side, the one looked at among them."""

    sequences: tuple[NamedSequence, ...]
    current: int
    texts: tuple[SequenceText, ...]
    shows_refused: bool
    snapshot: Snapshot  # what the card of the token under the mouse is read from

    @property
    def place(self) -> int:
        """Which of ``texts`` is looked at."""
        ids = [text.sequence.sequence_id for text in self.texts]
        return ids.index(self.current)


class TokensPanel(Panel):
    key = "tokens"
    title = "Tokens"
    reads = (
        "sequences", "prompt_tokens", "drafts", "proposals", "verdicts", "draft_tokens", "steps",
        "output_tokens",
    )  # fmt: skip
    hint = "The text will appear here, each token in the colour of its origin. Start a run."
    explanation = (
        "accepted: drafted, and kept by the target\n"
        "recovered: drawn from max(0, target - draft) after a rejection\n"
        "bonus: the target's own, after a draft that was accepted whole\n"
        "rejected: drafted and refused; the recovered token stands in its place\n"
        "discarded: drafted behind a rejected token, never tested\n"
        "Click a token for its step; left and right go from token to token. A double click, or "
        "Enter, goes to its moment: the caches and the figures as they were."
    )
    frames_per_draw = 6
    is_brief = True

    def build(self) -> None:
        self.legend = QLabel()
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setWordWrap(True)
        self.legend.setFont(interface_font(CAPTION))
        self.body.addWidget(self.legend)
        self.bar = SequenceBar()
        self.bar.chosen.connect(self.state.select_sequence)
        self.columns_button = QToolButton()
        self.columns_button.setText("columns")
        self.columns_button.setFont(interface_font(CAPTION))
        self.columns_button.setCheckable(True)
        self.columns_button.setToolTip(f"Up to {MOST_COLUMNS} sequences side by side")
        self.columns_button.toggled.connect(self._rearrange)
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.bar, 1)
        line.addWidget(self.columns_button)
        self._top = QWidget()
        self._top.setLayout(line)
        self.body.addWidget(self._top)
        self._row = QHBoxLayout()
        self._row.setSpacing(10)
        self.body.addLayout(self._row, 1)
        self.card = TokenCard(self.theme)
        self.columns: list[_Column] = []
        self._column(0)

    @staticmethod
    def digest(moment: Moment, view: View) -> TokensDigest | Empty | None:
        snapshot = moment.snapshot
        current = sequence_of(snapshot, view)
        if current is None:
            return None
        sequences = started_sequences(snapshot)
        ids = [each.sequence_id for each in sequences]
        first = ids.index(current) // MOST_COLUMNS * MOST_COLUMNS
        ends = cut_short(snapshot)
        return TokensDigest(
            sequences=sequences,
            current=current,
            texts=tuple(
                _text_of(snapshot, view, sequence, end=ends.get(sequence.sequence_id, ""))
                for sequence in sequences[first : first + MOST_COLUMNS]
            ),
            shows_refused=view.shows_refused,
            snapshot=snapshot,
        )

    def draw(self, digest: TokensDigest) -> None:
        self._top.setVisible(len(digest.sequences) > 1)
        self.bar.show_sequences(digest.sequences, digest.current)
        is_split = self.columns_button.isChecked() and len(digest.texts) > 1
        fits = max(1, min(len(digest.texts), self.width() // _COLUMN_PIXELS)) if is_split else 1
        first = min(digest.place // fits * fits, len(digest.texts) - fits)
        shown = digest.texts[first : first + fits]
        for index, text in enumerate(shown):
            self._column(index).show_text(text, has_name=is_split)
        for index, column in enumerate(self.columns):
            column.setVisible(index < len(shown))
        self.columns_button.setVisible(self.width() >= 2 * _COLUMN_PIXELS)
        words = legend(self.theme, has_refused=digest.shows_refused)
        fits_title = self.width() >= (_LEGEND_FROM if digest.shows_refused else _BRIEF_LEGEND_FROM)
        self.noted.emit(words if fits_title else "")
        self.legend.setText(words)
        self.legend.setVisible(not fits_title)

    def restyle(self) -> None:
        self.card.restyle(self.theme)
        for column in self.columns:
            column.view.restyle(self.theme)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._rearrange()

    def hideEvent(self, event: Any) -> None:
        self.card.hide()
        super().hideEvent(event)

    # --- inside ----------------------------------------------------------------------------------

    def _column(self, index: int) -> "_Column":
        """The column of that number, made when it is first wanted."""
        while len(self.columns) <= index:
            column = _Column(self.theme)
            column.view.token_chosen.connect(partial(self._act, column, self.state.select_token))
            column.view.token_opened.connect(partial(self._act, column, self.state.go_to_token))
            column.view.hovered.connect(partial(self._hover, column))
            column.view.released.connect(partial(self.state.select_step, None))
            self._row.addWidget(column, 1)
            self.columns.append(column)
        return self.columns[index]

    def _rearrange(self, *_: object) -> None:
        self.card.hide()
        if isinstance(self.digested, TokensDigest):
            self.draw(self.digested)

    def _act(self, column: "_Column", act: Callable[[TokenRef], None], item: int) -> None:
        if column.text is not None and (token := _ref(column.text, item)) is not None:
            act(token)

    def _hover(self, column: "_Column", item: int, corner: QPoint) -> None:
        digest, text = self.digested, column.text
        if item < 0 or text is None or not isinstance(digest, TokensDigest):
            self.card.hide()
            return
        words = text.trail.texts(item, item + 1)[0]
        kind = TrailKind(int(text.trail.kind[item]))
        title = f"{quoted(words)}  {kind.name.lower()}"
        figures, said = _card(digest.snapshot, text, item)
        said = "\n".join(filter(None, (said, _invisible(words))))
        self.card.tell(self.window(), corner, title=title, figures=figures, words=said)


class _Column(QWidget):
    """A sequence's text, with its name above where there are several."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.text: SequenceText | None = None
        self.name = plain_label()
        self.name.setProperty("dim", True)
        self.name.setFont(interface_font(CAPTION))
        self.view = TokenView(theme)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.name)
        layout.addWidget(self.view, 1)
        self.end = plain_label()
        self.end.setWordWrap(True)
        self.end.setFont(interface_font(CAPTION))
        layout.addWidget(self.end)

    def show_text(self, text: SequenceText, *, has_name: bool) -> None:
        is_other = self.text is None or self.text.sequence != text.sequence
        self.text = text
        self.name.setText(f"sequence {text.sequence.name}")
        self.name.setVisible(has_name)
        self.end.setText(f"\u26a0 {text.end}")
        self.end.setVisible(bool(text.end))
        if is_other:
            self.view.follows = True
        self.view.show_tokens(
            text.trail, marked_step=text.marked_step, marked_item=text.marked_item
        )


def legend(theme: Theme, *, has_refused: bool) -> str:
    """Each origin and, with ``has_refused``, each fate in its own style, as rich text."""
    words = [
        f'<span style="color:{theme.accepted}">accepted</span>',
        f'<span style="color:{theme.recovered}"><u>recovered</u></span>',
        f'<span style="color:{theme.bonus}"><b>bonus</b></span>',
    ]
    if has_refused:
        words += [
            f'<span style="color:{theme.rejected}"><s>rejected</s></span>',
            f'<span style="color:{theme.discarded}">[discarded]</span>',
        ]
    return " ".join(words)


def _text_of(snapshot: Snapshot, view: View, sequence: NamedSequence, *, end: str) -> SequenceText:
    trail = token_trail(snapshot, sequence.sequence_id, has_refused=view.shows_refused)
    step, token, item = view.step, view.token, None
    if token is not None and token.sequence_id == sequence.sequence_id:
        item = trail.find(token.step, token.draft_index)
    if step is not None:
        first, last = trail.span(step)
        step = step if first < last else None
    return SequenceText(sequence=sequence, trail=trail, marked_step=step, marked_item=item, end=end)


def _ref(text: SequenceText, item: int) -> TokenRef | None:
    """What is selected by a click on a token; None for the prompt."""
    trail = text.trail
    step, index = int(trail.step[item]), int(trail.draft_index[item])
    if step == NO_STEP or trail.kind[item] == TrailKind.REMAINDER:
        return None
    sequence_id = text.sequence.sequence_id
    return TokenRef(
        sequence_id=sequence_id, step=step, draft_index=None if index == NO_STEP else index
    )


def _card(
    snapshot: Snapshot, text: SequenceText, item: int
) -> tuple[tuple[tuple[str, str], ...], str]:
    """Figures and words about a token."""
    kind = TrailKind(int(text.trail.kind[item]))
    if kind is TrailKind.PROMPT:
        return (("place in the prompt", str(item + 1)),), "Given, not generated."
    token = _ref(text, item)
    if token is None:
        return (), "Bytes of a character that never became whole."
    verdict = step_verdict(snapshot, token.sequence_id, token.step)
    if verdict is None:
        return (("step", str(token.step)),), "Its draft is not in this session."
    index = None if kind in _OWN else token.draft_index
    said = " ".join(filter(None, (token_words(verdict, index), greedy_words(verdict))))
    return tuple(token_figures(verdict, index)), said


def _invisible(text: str) -> str:
    """The names of the characters that show as marks."""
    names = [
        f"U+{ord(c):04X} {unicodedata.name(c, 'control character')}"
        for c in dict.fromkeys(text)
        if mark_of(ord(c))
    ]
    return f"Holds {', '.join(names[:3])}." if names else ""
