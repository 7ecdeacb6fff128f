"""ComparisonOutputsPanel: one prompt's outputs beside the baseline's, and where each leaves it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from html import escape
from itertools import zip_longest

from PySide6.QtWidgets import QComboBox, QTextBrowser

from sessions.aligned_outputs import Aligned, Outputs, PromptKey, align
from sessions.comparability import is_sampled
from sessions.run_facts import run_facts
from ui.moment import Moment, NamedSnapshot, View
from ui.panels.base import Empty, Panel
from ui.text.cells import mark_of
from ui.theme import Theme, mixed, token_font

N_BEFORE, N_AFTER = 16, 24
"""How many tokens are shown before and behind the place where outputs part."""
N_LAST = 48
"""How many are shown of outputs that are the same: the newest."""
_PROMPT_CHARACTERS = 60


class Place(Enum):
    """What a token is, beside the one at the same position of the baseline."""

    SHARED = 0  # before the two part
    PARTING = 1  # the first that differs
    SAME = 2  # behind it, and the same
    DIFFERENT = 3


@dataclass(frozen=True, slots=True)
class Line:
    """Part of one output: ``texts[i]`` is the token at ``first + i``."""

    name: str
    first: int
    texts: tuple[str, ...]
    places: tuple[Place, ...]
    is_cut: bool  # whether there is more behind


@dataclass(frozen=True, slots=True)
class Beside:
    """One session against the baseline; ``lines`` are the baseline's and its own, or one where
    both are the same."""

    name: str
    finding: str
    is_same: bool
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A prompt to choose: its sequence in the session in front, and how many outputs part."""

    sequence_id: int
    words: str
    n_parting: int


@dataclass(frozen=True, slots=True)
class ComparedOutputs:
    choices: tuple[Choice, ...]
    chosen: int
    baseline: str
    besides: tuple[Beside, ...]
    is_sampled: bool  # whether any of the texts was: then they part by chance
    n_parting: int  # prompts that any session parts on
    is_over: bool  # whether none of the sessions has more to come


class ComparisonOutputsPanel(Panel):
    key = "comparison-outputs"
    title = "Outputs aligned"
    reads = ("output_tokens", "sequences", "ends")
    hint = (
        "The outputs of the same prompt in several sessions, and where they part. Open two to "
        "four sessions from Sessions with Compare, or several drafts in the run dialog."
    )
    explanation = (
        "Outputs of the same prompt, token by token against the baseline's.\n"
        "Faint: the same up to there. Shaded and bold: the first token that differs.\n"
        "Underlined: different from the baseline's at the same position.\n"
        "At temperature 0 a correct draft changes nothing but for rounding between forwards of "
        "different widths; above it outputs differ by chance."
    )
    frames_per_draw = 15

    def build(self) -> None:
        self.prompts = QComboBox()
        self.prompts.setAccessibleName("Prompt")
        self.prompts.setToolTip("Which prompt; the other cards look at its sequence, too")
        self.prompts.setMinimumWidth(60)
        policy = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        self.prompts.setSizeAdjustPolicy(policy)
        self.prompts.activated.connect(self._choose)
        self.text = QTextBrowser()
        self.text.setAccessibleName("Outputs")
        self.text.document().setDocumentMargin(0)
        self._html = ""
        self.body.addWidget(self.prompts)
        self.body.addWidget(self.text, 1)

    @staticmethod
    def digest(moment: Moment, view: View) -> ComparedOutputs | Empty | None:
        if not moment.others:
            return None
        base, others = _parts(moment.others)
        baseline = Outputs(base.snapshot)
        outputs = [Outputs(other.snapshot) for other in others]
        aligned = [align(each, baseline) for each in outputs]
        ids = Outputs(moment.snapshot).sequences
        keys = [key for key in ids if any(key in each for each in aligned)]
        if not keys:
            return Empty("These sessions have no prompt in common: there is nothing to align.")
        parting = [_count_parting(aligned, key) for key in keys]
        chosen = _chosen(keys, ids, parting, view)
        key = keys[chosen]
        besides = [
            _beside((other.name, base.name), own, baseline, each[key])
            for other, own, each in zip(others, outputs, aligned, strict=True)
            if key in each
        ]
        return ComparedOutputs(
            choices=tuple(
                Choice(ids[key], _words(key), n) for key, n in zip(keys, parting, strict=True)
            ),
            chosen=chosen,
            baseline=base.name,
            besides=tuple(besides),
            is_sampled=any(is_sampled(each.snapshot) for each in moment.others),
            n_parting=sum(n > 0 for n in parting),
            is_over=all(len(each.snapshot.ends) > 0 for each in moment.others),
        )

    def draw(self, digest: ComparedOutputs) -> None:
        words = [f"≠ {each.words}" if each.n_parting else each.words for each in digest.choices]
        if words != [self.prompts.itemText(row) for row in range(self.prompts.count())]:
            self.prompts.clear()
            self.prompts.addItems(words)
        self.prompts.setCurrentIndex(digest.chosen)
        html = html_of(digest, self.theme)
        if html != self._html:
            self._html = html
            bar = self.text.verticalScrollBar()
            place = bar.value()
            self.text.setHtml(html)
            bar.setValue(place)
        n, n_of = digest.n_parting, len(digest.choices)
        why = " · sampled: by chance" if digest.is_sampled else ""
        same = f"all {n_of:,} the same{'' if digest.is_over else ' so far'}"
        self.noted.emit(f"{n:,} of {n_of:,} prompts part{why}" if n else same)

    def _choose(self, row: int) -> None:
        digest = self.digested
        if isinstance(digest, ComparedOutputs) and row < len(digest.choices):
            self.state.select_sequence(digest.choices[row].sequence_id)


# --- making the digest ---------------------------------------------------------------------------


def _parts(others: Sequence[NamedSnapshot]) -> tuple[NamedSnapshot, list[NamedSnapshot]]:
    """The baseline - the first that drafts nothing, else the first - and the rest."""
    place = next((i for i, o in enumerate(others) if run_facts(o.snapshot).is_baseline), 0)
    return others[place], [*others[:place], *others[place + 1 :]]


def _count_parting(aligned: Sequence[dict[PromptKey, Aligned]], key: PromptKey) -> int:
    """How many have left the baseline's output; one that is merely not as far yet has not."""
    return sum(key in each and _parts_at(each[key]) is not None for each in aligned)


def _parts_at(aligned: Aligned) -> int | None:
    """Where two outputs differ; None where one only ends, or stands, before the other."""
    place = aligned.position
    shorter = min(aligned.n_tokens, aligned.n_baseline_tokens)
    return None if place is None or place >= shorter else place


def _chosen(
    keys: Sequence[PromptKey], ids: dict[PromptKey, int], parting: Sequence[int], view: View
) -> int:
    """The sequence that is looked at; else the first whose outputs part; else the first."""
    looked_at = [i for i, key in enumerate(keys) if ids[key] == view.sequence_id]
    differing = [i for i, n in enumerate(parting) if n]
    return (looked_at or differing or [0])[0]


def _words(key: PromptKey) -> str:
    prompt, nth = key
    words = " ".join(prompt.split())
    if len(words) > _PROMPT_CHARACTERS:
        words = words[: _PROMPT_CHARACTERS - 1] + "…"
    return f"{words or '(empty)'} ({nth + 1})" if nth else words or "(empty)"


def _beside(
    names: tuple[str, str], outputs: Outputs, baseline: Outputs, aligned: Aligned
) -> Beside:
    """``names`` are the session's and the baseline's."""
    name, base_name = names
    place = _parts_at(aligned)
    n, n_base = aligned.n_tokens, aligned.n_baseline_tokens
    if place is None:
        first, last = max(0, min(n, n_base) - N_LAST), min(n, n_base) + N_AFTER
    else:
        first, last = max(0, place - N_BEFORE), place + N_AFTER
    own = outputs.texts(aligned.sequence_id, first, last)
    theirs = baseline.texts(aligned.baseline_id, first, last)
    ours_ids = outputs.token_ids(aligned.sequence_id)[first:last].tolist()
    base_ids = baseline.token_ids(aligned.baseline_id)[first:last].tolist()
    places = tuple(
        _place(first + i, place, is_same=one == two)
        for i, (one, two) in enumerate(zip_longest(ours_ids, base_ids))
    )
    line = Line(name, first, tuple(own), places[: len(own)], last < n)
    if place is not None:
        base = Line(base_name, first, tuple(theirs), places[: len(theirs)], last < n_base)
        finding = f"leaves it at token {place + 1:,} of {n:,}"
        return Beside(name, finding, False, (base, line))
    if n == n_base:
        return Beside(name, f"the same, {n:,} tokens", True, (line,))
    finding = f"the same as far as both go: {n:,} and {n_base:,} tokens"
    longer = line if n > n_base else Line(
        base_name, first, tuple(theirs), places[: len(theirs)], last < n_base
    )  # fmt: skip
    return Beside(name, finding, True, (longer,))


def _place(position: int, parting: int | None, *, is_same: bool) -> Place:
    if parting is None or position < parting:
        return Place.SHARED
    if position == parting:
        return Place.PARTING
    return Place.SAME if is_same else Place.DIFFERENT


# --- drawing -------------------------------------------------------------------------------------


def html_of(digest: ComparedOutputs, theme: Theme) -> str:
    """The outputs as rich text."""
    parts = []
    for beside in digest.besides:
        ink = theme.dim if beside.is_same else theme.warning
        mark = "=" if beside.is_same else "≠"
        parts.append(
            f'<p style="margin:2px 0 3px 0"><b>{escape(beside.name)}</b> '
            f'<span style="color:{ink}">{mark} {escape(beside.finding)}</span></p>'
        )
        for line in beside.lines:
            parts.append(_line_html(line, theme, is_named=len(beside.lines) > 1))
    return "".join(parts)


def _line_html(line: Line, theme: Theme, *, is_named: bool) -> str:
    family = token_font().family()
    name = f'<span style="color:{theme.dim}">{escape(line.name)}: </span>' if is_named else ""
    tokens = "".join(
        _token_html(text, place, theme) for text, place in zip(line.texts, line.places, strict=True)
    )
    more = f'<span style="color:{theme.dim}">…</span>'
    return (
        f'<p style="margin:0 0 7px 10px; white-space:pre-wrap">{name}'
        f"<span style=\"font-family:'{family}'\">{more if line.first else ''}{tokens}"
        f"{more if line.is_cut else ''}</span></p>"
    )


def _token_html(text: str, place: Place, theme: Theme) -> str:
    """Control characters are shown, a newline breaks the line behind its mark."""
    faint = mixed(theme.dim, theme.panel, 0.6)
    shown = "".join(
        f'<span style="color:{faint}">↵</span>\n' if character == "\n"
        else escape(mark_of(ord(character)) or character)
        for character in text
    )  # fmt: skip
    style = {
        Place.SHARED: f"color:{theme.dim}",
        Place.PARTING: (
            f"background-color:{mixed(theme.warning, theme.panel, 0.3)}; color:{theme.text}; "
            "font-weight:bold; text-decoration:underline"
        ),
        Place.SAME: f"color:{theme.text}",
        Place.DIFFERENT: f"color:{theme.text}; text-decoration:underline",
    }[place]
    return f'<span style="{style}">{shown}</span>'
