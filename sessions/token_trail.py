"""The tokens of a sequence in the order they are read: its prompt, what was committed, and what was
drafted in vain at the place where it stood."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from sessions.columns import Array, TablePrefix
from sessions.snapshot import Snapshot
from sessions.tables import ACCEPTED, DISCARDED, REJECTED, SequenceChange


class TrailKind(IntEnum):
    """What a token of the trail is. The first of the committed ones are in ``Origin``'s order."""

    ACCEPTED = 0
    RECOVERED = 1
    BONUS = 2
    REMAINDER = 3  # text of the finished sequence that no single token completed
    PROMPT = 4
    REJECTED = 5
    DISCARDED = 6
    PROPOSED = 7  # drafted, not judged yet

    @property
    def is_text(self) -> bool:
        """Whether it belongs to the text: the prompt and what was committed."""
        return self <= TrailKind.PROMPT


NO_STEP = -1
"""Stands in ``TokenTrail.step`` and ``draft_index`` for none."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TokenTrail:
    """Arrays of one entry per token. ``draft_index`` is the place in the draft, ``NO_STEP`` for the
    prompt and the extra tokens. ``code`` is the text's number, the same in all of a session."""

    kind: Array  # int8, TrailKind
    step: Array  # int32
    draft_index: Array  # int32
    code: Array  # int32
    _row: Array  # int32, of the table that the text is in
    _tables: tuple[TablePrefix, ...] = field(repr=False)  # by _TABLE_OF
    remainder: str = ""

    def __len__(self) -> int:
        return len(self.kind)

    def texts(self, first: int, last: int) -> list[str]:
        """The texts of the tokens ``first`` to ``last``, that one not included."""
        kinds, rows = self.kind[first:last], self._row[first:last]
        texts = np.empty(len(kinds), object)
        tables = _TABLE_OF[kinds]
        for number, table in enumerate(self._tables):
            mask = tables == number
            if mask.any():
                texts[mask] = np.array(table.texts("text", rows[mask]), object)
        texts[kinds == TrailKind.REMAINDER] = self.remainder
        return texts.tolist()

    def find(self, step: int, draft_index: int | None) -> int | None:
        """Where a draft token is, or with None the extra token of a step."""
        first, last = self.span(step)
        for index in range(first, last):
            kind = int(self.kind[index])
            if draft_index is None:
                if kind in (TrailKind.RECOVERED, TrailKind.BONUS):
                    return index
            elif self.draft_index[index] == draft_index:
                return index
        return None

    def span(self, step: int) -> tuple[int, int]:
        """The tokens of a step: the first, and the one behind the last."""
        number = np.int32(step)
        steps = self.step  # never decreasing
        return int(steps.searchsorted(number, "left")), int(steps.searchsorted(number, "right"))


_OUTPUT, _PROMPT, _DRAFT, _PROPOSAL = range(4)
_TABLE_OF = np.array(
    [_OUTPUT, _OUTPUT, _OUTPUT, -1, _PROMPT, _DRAFT, _DRAFT, _PROPOSAL], np.int8
)  # by TrailKind


def token_trail(snapshot: Snapshot, sequence_id: int, *, has_refused: bool = True) -> TokenTrail:
    """The trail of a sequence. ``has_refused`` False leaves out what was rejected or discarded.
    What is drafted but not committed yet stands at the end."""
    outputs, drafts = snapshot.output_tokens, snapshot.draft_tokens
    rows = np.flatnonzero(outputs["sequence_id"] == sequence_id)
    steps = outputs["step"][rows]
    # As far as it is committed; what is newer stands at the end, drafted only.
    n_done = _first_open_draft(snapshot, sequence_id)
    of_sequence = drafts["sequence_id"][:n_done] == sequence_id
    if has_refused:
        refused = np.flatnonzero(of_sequence & (drafts["fate"][:n_done] != ACCEPTED))
    else:
        refused = np.empty(0, np.int64)
    parts = [
        _prompt(snapshot, sequence_id),
        _merged(snapshot, rows, steps, refused),
        _open_draft(snapshot, sequence_id),
    ]
    remainder = _remainder(snapshot, sequence_id, rows)
    if remainder:
        parts.insert(2, _part(TrailKind.REMAINDER, np.zeros(1, np.int32), steps[-1:], None, None))
    columns = zip(*parts, strict=True)
    kind, row, step, draft_index, code = (np.concatenate(column) for column in columns)
    return TokenTrail(
        kind=kind,
        step=step,
        draft_index=draft_index,
        code=code,
        _row=row,
        _tables=(outputs, snapshot.prompt_tokens, drafts, snapshot.proposals),
        remainder=remainder,
    )


_Part = tuple[Array, Array, Array, Array, Array]


def _part(
    kind: Array | int, row: Array, step: Array | None, index: Array | None, code: Array | None
) -> _Part:
    n = len(row)

    def filled(values: Array | int | None) -> Array:
        return np.full(n, NO_STEP if values is None else values, np.int32)

    return (
        np.full(n, kind, np.int8), row.astype(np.int32), filled(step), filled(index), filled(code)
    )  # fmt: skip


def _prompt(snapshot: Snapshot, sequence_id: int) -> _Part:
    """The prompt, once, however often the sequence was set back."""
    tokens = snapshot.prompt_tokens
    rows = np.flatnonzero(tokens["sequence_id"] == sequence_id)
    if len(rows):
        rows = rows[tokens["ordinal"][rows] == tokens["ordinal"][rows[0]]]
    return _part(TrailKind.PROMPT, rows, None, None, tokens["text"][rows])


def _merged(snapshot: Snapshot, rows: Array, steps: Array, refused: Array) -> _Part:
    """Output tokens ``rows``, and before each recovered one the draft tokens ``refused``."""
    outputs, drafts = snapshot.output_tokens, snapshot.draft_tokens
    origins = outputs["origin"][rows]
    n = len(rows) + len(refused)
    place = np.searchsorted(steps, drafts["step"][refused], "right")
    # Before the extra token, if the step was not cut before it. ``place`` is never 0: a step that
    # drafted commits at least one token.
    place -= origins[place - 1] != TrailKind.ACCEPTED if len(rows) else 0
    is_refused = np.zeros(n, bool)
    is_refused[place + np.arange(len(refused))] = True
    kind, row, step, draft_index, code = (
        np.empty(n, dtype) for dtype in (np.int8, np.int32, np.int32, np.int32, np.int32)
    )
    is_kept = ~is_refused
    kind[is_kept] = origins
    row[is_kept], row[is_refused] = rows, refused
    step[is_kept], step[is_refused] = steps, drafts["step"][refused]
    code[is_kept], code[is_refused] = outputs["text"][rows], drafts["text"][refused]
    draft_index[is_kept] = _indexes(steps, origins)
    draft_index[is_refused] = drafts["draft_index"][refused]
    kind[is_refused] = np.where(
        drafts["fate"][refused] == REJECTED, TrailKind.REJECTED, TrailKind.DISCARDED
    )
    return kind, row, step, draft_index, code


def _indexes(steps: Array, origins: Array) -> Array:
    """An accepted token's place in its draft is its place in the step."""
    numbers = np.arange(len(steps))
    is_first = np.ones(len(steps), bool)
    is_first[1:] = steps[1:] != steps[:-1]
    firsts = np.maximum.accumulate(np.where(is_first, numbers, 0))
    return np.where(origins == TrailKind.ACCEPTED, numbers - firsts, NO_STEP)


def _last_commit(snapshot: Snapshot, sequence_id: int) -> int:
    """The newest step that the sequence committed; -1 before the first."""
    rows = np.flatnonzero(snapshot.steps["sequence_id"] == sequence_id)
    return int(snapshot.steps["step"][rows[-1]]) if len(rows) else NO_STEP


def _first_open_draft(snapshot: Snapshot, sequence_id: int) -> int:
    """Row of ``draft_tokens`` behind those of the committed steps."""
    done = _last_commit(snapshot, sequence_id)
    return int(snapshot.draft_tokens["step"].searchsorted(np.int32(done), "right"))


def _open_draft(snapshot: Snapshot, sequence_id: int) -> _Part:
    """The draft that was proposed and not committed yet."""
    proposals = snapshot.proposals
    done = _last_commit(snapshot, sequence_id)
    first = int(proposals["step"].searchsorted(np.int32(done), "right"))
    rows = first + np.flatnonzero(proposals["sequence_id"][first:] == sequence_id)
    columns = (proposals[name][rows] for name in ("step", "draft_index", "text"))
    return _part(TrailKind.PROPOSED, rows, *columns)


def _remainder(snapshot: Snapshot, sequence_id: int, rows: Array) -> str:
    """What the finished text has behind its tokens' texts: bytes of a character that stayed
    incomplete."""
    sequences = snapshot.sequences
    is_end = sequences["change"] == SequenceChange.FINISHED
    ends = np.flatnonzero(is_end & (sequences["sequence_id"] == sequence_id))
    if not len(ends):
        return ""
    text = sequences.text("text", int(ends[-1]))
    if not text.endswith("�"):
        return ""
    told = "".join(snapshot.output_tokens.texts("text", rows))
    return text[len(told) :] if text.startswith(told) else ""


assert (ACCEPTED, REJECTED, DISCARDED) == (0, 1, 2)
