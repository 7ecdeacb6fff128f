"""Which block of a cache is in what state at a moment, who owns it, and how full it is.

The one place where an event is not enough by itself: written positions lie in the blocks that
were allocated before.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from sessions.columns import Array
from sessions.metrics.interval import ratio
from sessions.snapshot import Snapshot
from sessions.tables import KvChange, SequenceChange

NO_OWNER = -1
_FIRST_PIECE = 4096  # rows


class BlockState(IntEnum):
    """What a block is at the moment. Blocks that hold a committed position are committed, however
    many slots of theirs are not."""

    FREE = 0
    COMMITTED = 1
    SPECULATIVE = 2  # allocated for the draft that is being verified
    ROLLED_BACK = 3  # held nothing but refused positions of the newest draft
    RESERVED = 4  # owned without anything in it: a contiguous reservation, a prompt to come


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KvMap:
    """One role's cache. Arrays have one entry per physical block, [n_blocks]."""

    block_size: int  # slots
    bytes_per_block: int
    states: Array  # int8, BlockState
    owners: Array  # int32, sequence_id; NO_OWNER where free
    logical_blocks: Array  # int32, in the owner's table; -1 where free
    n_filled: Array  # int32, committed slots of the block
    n_rolled_back: Array  # int32, slots of the block that the newest step rolled back

    @property
    def n_blocks(self) -> int:
        return len(self.states)

    @property
    def n_owned(self) -> int:
        return int((self.owners != NO_OWNER).sum())

    @property
    def occupancy(self) -> float | None:
        """Owned blocks / all blocks."""
        return ratio(self.n_owned, self.n_blocks)

    @property
    def fragmentation(self) -> float | None:
        """Internal: owned slots that hold no committed position / owned slots."""
        n_slots = self.n_owned * self.block_size
        return ratio(n_slots - int(self.n_filled.sum()), n_slots)

    @property
    def owned_bytes(self) -> int:
        return self.n_owned * self.bytes_per_block


def kv_map(snapshot: Snapshot, role: int) -> KvMap | None:
    """The cache of ``role`` (``sessions.tables.TARGET`` or ``DRAFT``); None while it has none."""
    cache = np.flatnonzero(snapshot.caches["role"] == role)
    if not len(cache):
        return None
    n_blocks = int(snapshot.caches["n_blocks"][cache[-1]])
    block_size = int(snapshot.caches["block_size"][cache[-1]])
    changes = snapshot.kv_changes
    is_ours = changes["role"] == role
    kinds = changes["change"]
    # A damaged file may name blocks that the cache does not have: they are in no grid.
    is_block = (kinds != int(KvChange.ADVANCED)) & (changes["physical_block"] < n_blocks)
    block_rows = np.flatnonzero(is_ours & is_block)
    last = np.full(n_blocks, -1)  # of each block: the row of its newest change
    last[changes["physical_block"][block_rows]] = block_rows  # the last of equals stays
    is_touched = last >= 0
    is_owned = is_touched & (kinds[last] == KvChange.ALLOCATED) if len(kinds) else is_touched
    users = np.where(is_touched, _at(changes["sequence_id"], last), NO_OWNER)
    logical = np.where(is_owned, _at(changes["logical_block"], last), -1)
    lengths = _newest_advances(
        snapshot, role, block_rows=block_rows, owners=np.unique(users[is_owned])
    )
    of_user = lengths.of(users)  # [n_blocks] places in lengths; -1: nothing written yet
    length = np.where(of_user >= 0, _at(lengths.length, of_user), 0)
    advanced_at = np.where(of_user >= 0, _at(lengths.row, of_user), np.iinfo(np.int64).max)
    newest_draft = _newest_draft(snapshot)
    is_just = (of_user >= 0) & (_at(lengths.ordinal, of_user) > newest_draft)
    rolled_back = np.where(is_just, _at(lengths.n_rolled_back, of_user), 0)
    starts = logical.astype(np.int64) * block_size
    n_filled = np.where(is_owned, np.clip(length - starts, 0, block_size), 0)
    last_slot = np.clip(length + rolled_back - starts, 0, block_size)
    n_rolled_back = np.where(is_owned, last_slot - n_filled, 0)
    states = np.where(is_owned, int(BlockState.RESERVED), int(BlockState.FREE))
    states[is_owned & (last > advanced_at)] = BlockState.SPECULATIVE
    states[n_filled > 0] = BlockState.COMMITTED
    is_given_back = is_touched & ~is_owned & np.isin(users, users[is_owned])
    is_given_back &= (rolled_back > 0) & (_at(changes["ordinal"], last) > newest_draft)
    states[is_given_back | ((n_filled == 0) & (n_rolled_back > 0))] = BlockState.ROLLED_BACK
    return KvMap(
        block_size=block_size,
        bytes_per_block=int(snapshot.caches["bytes_per_block"][cache[-1]]),
        states=states.astype(np.int8),
        owners=np.where(is_owned, users, NO_OWNER).astype(np.int32),
        logical_blocks=logical.astype(np.int32),
        n_filled=n_filled.astype(np.int32),
        n_rolled_back=n_rolled_back.astype(np.int32),
    )


def block_table(kv: KvMap, sequence_id: int) -> Array:
    """The sequence's physical blocks in logical order, [n_logical_blocks]."""
    blocks = np.flatnonzero(kv.owners == sequence_id)
    return blocks[np.argsort(kv.logical_blocks[blocks])]


@dataclass(frozen=True, slots=True)
class Reservation:
    """What the sequences in the batch would hold, each with its worst case reserved at once."""

    n_sequences: int
    n_blocks: int
    n_bytes: int


def contiguous_reservation(snapshot: Snapshot, kv: KvMap) -> Reservation:
    """Prompt and ``max_new_tokens`` together, in whole blocks, for each sequence that owns any."""
    sequences = snapshot.sequences
    n_blocks = 0
    owners = np.unique(kv.owners[kv.owners != NO_OWNER])
    is_start = (sequences["change"] == SequenceChange.STARTED) & np.isin(
        sequences["sequence_id"], owners
    )
    rows = np.flatnonzero(is_start)
    _, firsts = np.unique(sequences["sequence_id"][rows], return_index=True)
    rows = rows[firsts]
    worst = sequences["n_prompt_tokens"][rows].astype(np.int64) + sequences["max_new_tokens"][rows]
    n_blocks = int((-(-worst // kv.block_size)).sum())
    return Reservation(len(rows), n_blocks, n_blocks * kv.bytes_per_block)


@dataclass(frozen=True, slots=True, eq=False)
class _Advances:
    """The newest change of length of each owner that has one; arrays [n_owners] or fewer."""

    sequence_id: Array  # ascending
    row: Array  # in kv_changes
    ordinal: Array
    length: Array
    n_rolled_back: Array

    def of(self, sequence_ids: Array) -> Array:
        """The place of each id, -1 where it has none."""
        if not len(self.sequence_id):
            return np.full(len(sequence_ids), -1)
        places = np.searchsorted(self.sequence_id, sequence_ids).clip(max=len(self.row) - 1)
        return np.where(self.sequence_id[places] == sequence_ids, places, -1)


def _newest_advances(
    snapshot: Snapshot, role: int, *, block_rows: Array, owners: Array
) -> _Advances:
    """``owners`` are the sequences that own blocks, ascending; ``block_rows`` the rows of blocks.

    The rows that allocate a sequence's first block open it: what it had written before, it lost
    when it was set back.
    """
    changes = snapshot.kv_changes
    ids = changes["sequence_id"]
    is_opening = changes["change"][block_rows] == KvChange.ALLOCATED
    is_opening &= changes["logical_block"][block_rows] == 0
    openings = block_rows[is_opening]
    opened = np.full(len(owners), -1)
    if len(owners):
        places = np.searchsorted(owners, ids[openings]).clip(max=len(owners) - 1)
        is_owner = owners[places] == ids[openings]
        opened[places[is_owner]] = openings[is_owner]  # the last of equals stays
    newest = _newest_rows(snapshot, role, wanted=owners, opened=opened)
    is_found = (newest >= 0) & (newest > opened)
    row = newest[is_found]
    n_rolled_back = changes["n_rolled_back"][row]
    length = changes["position"][row] + changes["n_written"][row] - n_rolled_back
    return _Advances(owners[is_found], row, changes["ordinal"][row], length, n_rolled_back)


def _newest_rows(snapshot: Snapshot, role: int, *, wanted: Array, opened: Array) -> Array:
    """The newest row of each of ``wanted`` that changed its length, -1 where there is none behind
    ``opened``, [n_wanted].

    Searched from the end in growing pieces: those that decode have theirs among the last rows.
    """
    changes = snapshot.kv_changes
    newest = np.full(len(wanted), -1)
    end, size = len(changes), _FIRST_PIECE
    while end > 0 and np.any((newest < 0) & (opened < end)):
        start = max(end - size, 0)
        piece = slice(start, end)
        is_advance = changes["role"][piece] == role
        is_advance &= changes["change"][piece] == int(KvChange.ADVANCED)
        rows = start + np.flatnonzero(is_advance)
        places = np.searchsorted(wanted, changes["sequence_id"][rows]).clip(max=len(wanted) - 1)
        is_wanted = wanted[places] == changes["sequence_id"][rows]
        here = np.full(len(wanted), -1)
        here[places[is_wanted]] = rows[is_wanted]  # the last of equals stays
        newest = np.where(newest < 0, here, newest)
        end, size = start, size * 4
    return newest


def _newest_draft(snapshot: Snapshot) -> int:
    """Ordinal of the first proposal of the newest step; -1 before any."""
    drafts = snapshot.drafts
    if not len(drafts):
        return -1
    first = np.searchsorted(drafts["step"], drafts["step"][-1])
    return int(drafts["ordinal"][first])


def _at(values: Array, places: Array) -> Array:
    """``values[places]``, zeros where there are no values at all."""
    return values[places] if len(values) else np.zeros(len(places), values.dtype)
