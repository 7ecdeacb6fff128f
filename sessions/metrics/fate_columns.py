"""What became of the draft tokens over time: token by token where there are few, and counted per
column of a grid, draft position and fate where there are many."""

from dataclasses import dataclass

import numpy as np

from sessions.columns import Array
from sessions.metrics.lanes import Grid, rows_within
from sessions.metrics.slots import Slots
from sessions.snapshot import Snapshot
from sessions.tables import FATE_CODES

N_FATES = len(FATE_CODES) - 1
PROPOSED = N_FATES
"""In ``FateTokens.fate``: drafted, and not judged yet."""


@dataclass(frozen=True, slots=True, eq=False)
class FateTokens:
    """Draft tokens one by one. NaN where a number is not known yet."""

    step: Array  # [n] int32
    sequence_id: Array  # [n] int32
    slot: Array  # [n] int32
    draft_index: Array  # [n] int32, from 0
    fate: Array  # [n] int8, a fate's code or PROPOSED
    draft_prob: Array  # [n] float64
    target_prob: Array  # [n] float64
    uniform: Array  # [n] float64
    texts: tuple[str, ...]

    def picked(self, rows: Array) -> "FateTokens":
        """The tokens at ``rows`` (indexes)."""
        return FateTokens(
            step=self.step[rows],
            sequence_id=self.sequence_id[rows],
            slot=self.slot[rows],
            draft_index=self.draft_index[rows],
            fate=self.fate[rows],
            draft_prob=self.draft_prob[rows],
            target_prob=self.target_prob[rows],
            uniform=self.uniform[rows],
            texts=tuple([self.texts[row] for row in rows.tolist()]),
        )


def fates_within(
    snapshot: Snapshot, slots: Slots, start_ns: int, end_ns: int, *, sequence_id: int | None = None
) -> FateTokens:
    """The tokens judged within a time, and behind them those of the newest step that nobody has
    judged yet."""
    tokens, proposals = snapshot.draft_tokens, snapshot.proposals
    judged = np.arange(*_bounds(rows_within(tokens, start_ns, end_ns)))
    if sequence_id is not None:
        judged = judged[tokens["sequence_id"][judged] == sequence_id]
    pending = _pending_rows(snapshot, start_ns, end_ns)
    if sequence_id is not None:
        pending = pending[proposals["sequence_id"][pending] == sequence_id]

    def both(column: str) -> Array:
        return np.concatenate((tokens[column][judged], proposals[column][pending]))

    def known(column: str) -> Array:
        return np.concatenate((tokens[column][judged], np.full(len(pending), np.nan)))

    sequence_ids = both("sequence_id")
    return FateTokens(
        step=both("step"),
        sequence_id=sequence_ids,
        slot=_slot_of(slots, sequence_ids, sequence_id),
        draft_index=both("draft_index"),
        fate=np.concatenate((tokens["fate"][judged], np.full(len(pending), PROPOSED, np.int8))),
        draft_prob=both("draft_prob"),
        target_prob=known("target_prob"),
        uniform=known("uniform"),
        texts=(*tokens.texts("text", judged), *proposals.texts("text", pending)),
    )


def fate_counts(
    snapshot: Snapshot,
    slots: Slots,
    grid: Grid,
    *,
    n_slots: int,
    n_positions: int,
    sequence_id: int | None = None,
) -> Array:
    """Judged tokens per slot, draft position, fate and column, [n_slots, n_positions, 3, grid.n].

    A token belongs to the column of its verdict. Every one of the grid's time is counted whose
    slot and position are below the bounds.
    """
    tokens = snapshot.draft_tokens
    cuts = tokens["t_ns"].searchsorted(grid.edges_ns, "left")
    rows = slice(int(cuts[0]), int(cuts[-1]))
    column = np.repeat(np.arange(grid.n, dtype=np.int32), np.diff(cuts))
    fate, index = tokens["fate"][rows], tokens["draft_index"][rows]
    is_one_slot = slots.n <= 1 and sequence_id is None
    is_cut = bool(len(index)) and int(index.max()) >= n_positions
    slot: Array | int = 0
    if not is_one_slot or is_cut:
        ids = tokens["sequence_id"][rows]
        slot = _slot_of(slots, ids, sequence_id)
        keeps = (slot >= 0) & (slot < n_slots) & (index < n_positions)
        if sequence_id is not None:
            keeps &= ids == sequence_id
        column, fate, index, slot = column[keeps], fate[keeps], index[keeps], slot[keeps]
    shape = (n_slots, n_positions, N_FATES, grid.n)
    row = (slot * n_positions + index) * N_FATES + fate
    places = row.astype(np.intp) * grid.n + column
    return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape)


def longest_draft(snapshot: Snapshot) -> int:
    """The most tokens drafted at once; 0 where nothing was."""
    return int(snapshot.drafts["n_drafted"].max(initial=0))


def _pending_rows(snapshot: Snapshot, start_ns: int, end_ns: int) -> Array:
    """The proposals of the newest step whose sequence has no verdict in that step yet."""
    proposals, verdicts, drafts = snapshot.proposals, snapshot.verdicts, snapshot.drafts
    if not len(proposals) or not start_ns <= int(drafts["t_ns"][-1]) < end_ns:
        return np.zeros(0, np.int64)
    newest = drafts["step"][-1]
    first = int(np.searchsorted(proposals["step"], newest))
    judged = verdicts["sequence_id"][np.searchsorted(verdicts["step"], newest) :]
    rows = np.arange(first, len(proposals))
    return rows[~np.isin(proposals["sequence_id"][first:], judged)]


def _slot_of(slots: Slots, sequence_ids: Array, only: int | None) -> Array:
    """A sequence that is looked at alone has the first row."""
    if only is not None:
        return np.zeros(len(sequence_ids), np.int32)
    return slots.of(sequence_ids)


def _bounds(rows: slice) -> tuple[int, int]:
    return rows.start, rows.stop
