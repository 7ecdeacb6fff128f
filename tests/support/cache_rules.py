"""Blocks have one owner; a cache holds what was said to be written, and never the newest token."""

from collections import defaultdict
from dataclasses import dataclass, field

from engine.wire.events import (
    PREFILL_STEP,
    BlocksAllocated,
    BlocksFreed,
    CacheCreated,
    DraftProposed,
    Event,
    KvAdvanced,
    Role,
    SequenceFinished,
    SequenceSetBack,
    SequenceStarted,
)
from tests.support.sequence_rules import SequenceRules, SequenceState


@dataclass
class RoleCache:
    """One role's cache, as the events tell it."""

    n_blocks: int
    block_size: int
    owners: dict[int, int] = field(default_factory=dict)  # physical block to sequence
    lengths: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    has_advanced: set[int] = field(default_factory=set)  # sequences that wrote since they started

    def owned(self, sequence_id: int) -> int:
        return sum(owner == sequence_id for owner in self.owners.values())


class CacheRules:
    """Checks block and cache events against the sequences' lengths; run after ``sequences``."""

    def __init__(self, sequences: SequenceRules) -> None:
        self._sequences = sequences
        self._caches: dict[Role, RoleCache] = {}

    def check(self, event: Event) -> None:
        match event:
            case CacheCreated():
                assert event.role not in self._caches, f"the {event.role} cache is created twice"
                assert min(event.n_blocks, event.block_size) > 0, "a cache without room"
                assert event.total_bytes >= event.n_blocks * event.bytes_per_block, (
                    "total_bytes is less than its blocks"
                )
                self._caches[event.role] = RoleCache(event.n_blocks, event.block_size)
            case SequenceStarted():
                self._check_empty(event.sequence_id)
            case BlocksAllocated():
                self._allocate(event)
            case BlocksFreed():
                self._free(event)
            case KvAdvanced():
                self._advance(event)
            case DraftProposed():
                self._check_lengths(event.sequence_id, set(Role))
            case SequenceFinished():
                self._check_empty(event.sequence_id)
            case SequenceSetBack():
                for cache in self._caches.values():
                    cache.lengths.pop(event.sequence_id, None)
                    cache.has_advanced.discard(event.sequence_id)

    def _cache(self, role: Role) -> RoleCache:
        assert role in self._caches, f"there is no {role} cache"
        return self._caches[role]

    def _allocate(self, event: BlocksAllocated) -> None:
        cache = self._cache(event.role)
        assert self._sequences.states[event.sequence_id].is_running, "blocks for one that waits"
        assert event.physical_blocks, "allocates nothing"
        n_owned = cache.owned(event.sequence_id)
        assert event.first_logical_block == n_owned, f"the sequence owns {n_owned} blocks"
        for block in event.physical_blocks:
            assert 0 <= block < cache.n_blocks, f"there is no block {block}"
            owner = cache.owners.get(block)
            assert owner is None, f"block {block} belongs to sequence {owner}"
            cache.owners[block] = event.sequence_id

    def _free(self, event: BlocksFreed) -> None:
        cache = self._cache(event.role)
        assert event.physical_blocks, "frees nothing"
        state = self._sequences.states[event.sequence_id]
        if (
            state.proposed is None
            and state.is_running
            and len(event.physical_blocks) == cache.owned(event.sequence_id)
        ):
            self._check_lengths(event.sequence_id, {event.role})  # the last look at what it held
            cache.lengths.pop(event.sequence_id, None)
            cache.has_advanced.discard(event.sequence_id)
        for block in event.physical_blocks:
            owner = cache.owners.pop(block, None)
            assert owner == event.sequence_id, f"block {block} belongs to {_who(owner)}"

    def _advance(self, event: KvAdvanced) -> None:
        cache = self._cache(event.role)
        state = self._sequences.states[event.sequence_id]
        length = cache.lengths[event.sequence_id]
        assert state.is_running, "writes for a sequence that waits"
        assert min(event.n_written, event.n_rolled_back) >= 0, "a negative count"
        assert 0 <= event.position <= length, f"the cache holds {length} positions"
        if event.n_written == 0:
            assert event.position == length, f"writes nothing, but not at the end, {length}"
        assert event.step in (PREFILL_STEP, state.last_step), f"the step is {state.last_step}"
        n_slots = cache.owned(event.sequence_id) * cache.block_size
        most = event.position + event.n_written
        assert max(most, length) <= n_slots, f"{max(most, length)} positions in {n_slots} slots"
        after = most - event.n_rolled_back
        assert after >= 0, f"rolls back to {after}"
        if event.step == PREFILL_STEP:
            assert after < state.n_tokens, "a prefill holds the newest token"
        cache.lengths[event.sequence_id] = after
        cache.has_advanced.add(event.sequence_id)

    def _check_lengths(self, sequence_id: int, roles: set[Role]) -> None:
        """Between two steps: the target holds all but the newest token, the draft no more."""
        state: SequenceState = self._sequences.states[sequence_id]
        for role in roles & self._caches.keys():
            cache = self._caches[role]
            if sequence_id not in cache.has_advanced:
                continue
            length, most = cache.lengths[sequence_id], state.n_tokens - 1
            if role is Role.TARGET and state.n_committed > 0:
                assert length == most, f"the target cache holds {length} positions, not {most}"
            assert length <= most, f"the {role} cache holds {length} positions of at most {most}"

    def _check_empty(self, sequence_id: int) -> None:
        for role, cache in self._caches.items():
            n_owned = cache.owned(sequence_id)
            assert n_owned == 0, f"still owns {n_owned} blocks of the {role} cache"


def _who(owner: int | None) -> str:
    return "nobody" if owner is None else f"sequence {owner}"
