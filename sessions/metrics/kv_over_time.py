"""A cache as it filled and emptied: blocks owned, slots filled, and what contiguous reservations
would have held, after each event that changed it."""

from dataclasses import dataclass

import numpy as np

from sessions.columns import Array
from sessions.snapshot import Snapshot
from sessions.tables import KvChange, SequenceChange


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KvOverTime:
    """One role's cache; arrays have one entry per event that changed it, [n]."""

    n_blocks: int  # of the whole cache
    block_size: int  # slots
    bytes_per_block: int
    t_ns: Array  # int64
    n_owned: Array  # int64, blocks
    n_filled: Array  # int64, committed slots
    n_reserved: Array  # int64, blocks that the owners' worst cases would hold, contiguous

    @property
    def fragmentation(self) -> Array:
        """Internal: owned slots that hold no committed position / owned slots; NaN where nothing
        is owned, [n]."""
        n_slots = self.n_owned * self.block_size
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: Array = np.where(n_slots > 0, (n_slots - self.n_filled) / n_slots, np.nan)
        return shares


def kv_over_time(snapshot: Snapshot, role: int) -> KvOverTime | None:
    """The cache of ``role`` (``sessions.tables.TARGET`` or ``DRAFT``); None while it has none.

    What ``kv_map`` and ``contiguous_reservation`` say of each moment, for all moments at once.
    """
    cache = np.flatnonzero(snapshot.caches["role"] == role)
    if not len(cache):
        return None
    block_size = int(snapshot.caches["block_size"][cache[-1]])
    changes = snapshot.kv_changes
    rows = np.flatnonzero(changes["role"] == role)
    ids, kinds = changes["sequence_id"][rows], changes["change"][rows]
    lengths = changes["position"][rows] + changes["n_written"][rows]
    lengths = lengths - changes["n_rolled_back"][rows]
    is_opening = (kinds == int(KvChange.ALLOCATED)) & (changes["logical_block"][rows] == 0)
    gained = np.where(kinds == int(KvChange.ALLOCATED), 1, 0)
    gained -= kinds == int(KvChange.FREED)  # blocks, [n_rows]
    order = np.argsort(ids, kind="stable")  # sequence by sequence, in time
    owned = _sums_within(ids[order], gained[order])
    is_told = is_opening | (kinds == int(KvChange.ADVANCED))
    told = np.where(kinds == int(KvChange.ADVANCED), lengths, 0)  # set back: nothing is written
    length = _last_within(ids[order], told[order], is_told[order])
    filled = np.minimum(length, owned * block_size)
    reserved = np.where(owned > 0, _worst_cases(snapshot, block_size, ids[order]), 0)
    ordinals = changes["ordinal"][rows]
    ends = np.flatnonzero(np.append(ordinals[1:] != ordinals[:-1], True)) if len(rows) else rows
    return KvOverTime(
        n_blocks=int(snapshot.caches["n_blocks"][cache[-1]]),
        block_size=block_size,
        bytes_per_block=int(snapshot.caches["bytes_per_block"][cache[-1]]),
        t_ns=changes["t_ns"][rows][ends],
        n_owned=np.cumsum(gained)[ends],
        n_filled=_summed(ids[order], filled, order)[ends],
        n_reserved=_summed(ids[order], reserved, order)[ends],
    )


def _starts_within(ids: Array) -> Array:
    """Where each entry's sequence begins in ``ids`` (grouped), [n]."""
    if not len(ids):
        return np.zeros(0, np.int64)
    is_first = np.append(True, ids[1:] != ids[:-1])
    starts: Array = np.maximum.accumulate(np.where(is_first, np.arange(len(ids)), 0))
    return starts


def _sums_within(ids: Array, values: Array) -> Array:
    """Running sums that begin anew with each sequence, [n]."""
    total = np.cumsum(values)
    starts = _starts_within(ids)
    sums: Array = total - (total - values)[starts]
    return sums


def _last_within(ids: Array, values: Array, is_told: Array) -> Array:
    """The last of ``values`` that was told of the entry's sequence, 0 before any, [n]."""
    if not len(ids):
        return np.zeros(0, np.int64)
    last = np.maximum.accumulate(np.where(is_told, np.arange(len(ids)), -1))
    found: Array = np.where(last >= _starts_within(ids), values[last], 0)
    return found


def _summed(ids: Array, values: Array, order: Array) -> Array:
    """The sum over all sequences of each one's newest value, in the order of time, [n].

    ``values`` are grouped by sequence as ``order`` says.
    """
    before = np.zeros(len(values), np.int64)
    before[1:] = np.where(ids[1:] == ids[:-1], values[:-1], 0)
    changes = np.zeros(len(values), np.int64)
    changes[order] = values - before
    total: Array = np.cumsum(changes)
    return total


def _worst_cases(snapshot: Snapshot, block_size: int, ids: Array) -> Array:
    """Blocks that the prompt and ``max_new_tokens`` of the sequences ``ids`` need, [n_ids]; 0 for
    one that nobody started."""
    sequences = snapshot.sequences
    rows = np.flatnonzero(sequences["change"] == int(SequenceChange.STARTED))
    started, firsts = np.unique(sequences["sequence_id"][rows], return_index=True)
    if not len(started):
        return np.zeros(len(ids), np.int64)
    rows = rows[firsts]
    worst = sequences["n_prompt_tokens"][rows].astype(np.int64) + sequences["max_new_tokens"][rows]
    places = np.searchsorted(started, ids).clip(max=len(started) - 1)
    return np.where(started[places] == ids, -(-worst // block_size)[places], 0)
