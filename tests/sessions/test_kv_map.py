"""The block grid, against a slow reading of the same events and against grids worked out."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    CacheCreated,
    DraftProposed,
    Event,
    KvAdvanced,
    Role,
)
from sessions.kv_map import NO_OWNER, BlockState, block_table, contiguous_reservation, kv_map
from sessions.metrics.kv_over_time import kv_over_time
from sessions.tables import DRAFT, ROLE_CODES, TARGET
from tests.sessions.played import model_of, snapshot_of
from tests.support.event_script import EventScript
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel

FREE, COMMITTED, SPECULATIVE, ROLLED_BACK, RESERVED = BlockState


class Told:
    """Events of a target's cache of six blocks with four slots each, one nanosecond apart."""

    def __init__(self, allocation: str = "paged") -> None:
        self.events: list[Event] = []
        self.step = -1
        self.say(
            CacheCreated, role=Role.TARGET, allocation=allocation, n_blocks=6, block_size=4,
            bytes_per_block=100, total_bytes=600,
        )  # fmt: skip

    def say(self, kind: type, **told: object) -> None:
        n = len(self.events)
        self.events.append(kind(ordinal=n, t_ns=n, **told))

    def allocate(self, first: int, *blocks: int, sequence_id: int = 0) -> None:
        self.say(
            BlocksAllocated, sequence_id=sequence_id, role=Role.TARGET,
            first_logical_block=first, physical_blocks=blocks,
        )  # fmt: skip

    def advance(self, position: int, written: int, back: int = 0, *, sequence_id: int = 0) -> None:
        self.say(
            KvAdvanced, sequence_id=sequence_id, role=Role.TARGET, step=self.step,
            position=position, n_written=written, n_rolled_back=back,
        )  # fmt: skip

    def free(self, *blocks: int, sequence_id: int = 0) -> None:
        self.say(BlocksFreed, sequence_id=sequence_id, role=Role.TARGET, physical_blocks=blocks)

    def propose(self, sequence_id: int = 0) -> None:
        self.step += 1
        self.say(
            DraftProposed, sequence_id=sequence_id, step=self.step, position=0, gamma=0,
            token_ids=(), token_texts=(), draft_probs=(), drafter="model",
        )  # fmt: skip

    def states(self) -> list[int]:
        kv = kv_map(snapshot_of(self.events), TARGET)
        assert kv is not None
        return kv.states.tolist()


def test_the_life_of_a_block() -> None:
    told = Told()
    told.allocate(0, 3)
    assert told.states() == [FREE, FREE, FREE, RESERVED, FREE, FREE]  # the prompt is to come
    told.advance(0, 3)
    assert told.states() == [FREE, FREE, FREE, COMMITTED, FREE, FREE]
    told.allocate(1, 1, 5)
    told.propose()
    assert told.states() == [FREE, SPECULATIVE, FREE, COMMITTED, FREE, SPECULATIVE]
    told.advance(3, 8, 5)  # 6 positions stay: blocks 3 and half of 1
    told.free(5)
    assert told.states() == [FREE, COMMITTED, FREE, COMMITTED, FREE, ROLLED_BACK]
    kv = kv_map(snapshot_of(told.events), TARGET)
    assert kv is not None
    assert kv.n_filled.tolist() == [0, 2, 0, 4, 0, 0]
    assert kv.n_rolled_back.tolist() == [0, 2, 0, 0, 0, 0]
    assert kv.owners.tolist() == [NO_OWNER, 0, NO_OWNER, 0, NO_OWNER, NO_OWNER]
    assert kv.logical_blocks.tolist() == [-1, 1, -1, 0, -1, -1]
    assert block_table(kv, 0).tolist() == [3, 1]
    assert (kv.occupancy, kv.fragmentation, kv.owned_bytes) == (2 / 6, 2 / 8, 200)
    told.propose()  # the next step: what was rolled back is forgotten
    assert told.states() == [FREE, COMMITTED, FREE, COMMITTED, FREE, FREE]
    told.free(3, 1)
    assert told.states() == [FREE] * 6


def test_an_earlier_moment_has_the_grid_it_had() -> None:
    told = Told()
    told.allocate(0, 0)
    told.advance(0, 2)
    model = model_of(told.events)
    early = model.snapshot(1)
    told.free(0)
    model.consume(told.events[-1:])
    now, then = kv_map(model.snapshot(), TARGET), kv_map(early, TARGET)
    assert now is not None
    assert then is not None
    assert now.states.tolist() == [FREE] * 6
    assert then.states.tolist() == [RESERVED] + [FREE] * 5


def test_what_a_sequence_had_written_is_lost_when_it_is_set_back() -> None:
    told = Told()
    told.allocate(0, 0, 1)
    told.advance(0, 6)
    told.free(0, 1)
    told.allocate(0, 4, 5)
    assert told.states() == [FREE] * 4 + [RESERVED] * 2
    told.advance(0, 7)
    assert told.states() == [FREE] * 4 + [COMMITTED] * 2


def test_a_sequence_that_rests_keeps_its_length_however_long_another_decodes() -> None:
    told = Told()
    told.allocate(0, 0)
    told.advance(0, 3)
    told.allocate(0, 1, sequence_id=1)
    for _ in range(6000):
        told.advance(0, 2, 1, sequence_id=1)
    kv = kv_map(snapshot_of(told.events), TARGET)
    assert kv is not None
    assert kv.n_filled.tolist() == [3, 1, 0, 0, 0, 0]


def test_a_contiguous_cache_keeps_what_was_rolled_back() -> None:
    told = Told("contiguous")
    told.allocate(0, 0, 1, 2)
    told.advance(0, 3)
    assert told.states()[:3] == [COMMITTED, RESERVED, RESERVED]
    told.propose()
    told.advance(3, 4, 3)
    assert told.states()[:3] == [COMMITTED, ROLLED_BACK, RESERVED]


def test_a_worst_case_reservation_counts_whole_blocks_of_those_in_the_batch() -> None:
    script = EventScript(n_blocks=64, block_size=4)
    script.sequence("abc", max_new_tokens=10)
    script.sequence("abcdef", max_new_tokens=3)
    script.sequence("gone", max_new_tokens=500)
    script.finish_sequence(2)
    script.set_back(1)
    script.resume(1)
    snapshot = snapshot_of(script.events)
    kv = kv_map(snapshot, TARGET)
    assert kv is not None
    reservation = contiguous_reservation(snapshot, kv)
    assert reservation.n_sequences == 2
    assert reservation.n_blocks == 4 + 3
    assert reservation.n_bytes == 7 * 1024
    assert kv.owned_bytes < reservation.n_bytes


def test_a_cache_that_is_not_there_or_empty() -> None:
    assert kv_map(snapshot_of([]), TARGET) is None
    kv = kv_map(snapshot_of(Told().events), TARGET)
    assert kv is not None
    assert kv.states.tolist() == [FREE] * 6
    assert kv.occupancy == 0.0
    assert kv.fragmentation is None
    assert kv_map(snapshot_of(Told().events), DRAFT) is None


def slowly(events: list[Event], role: Role, n_blocks: int, block_size: int) -> list[list[int]]:
    """(owner, logical block, filled) of each block, event by event."""
    owners: dict[int, tuple[int, int]] = {}
    lengths: dict[int, int] = {}
    for event in events:
        if getattr(event, "role", None) is not role:
            continue
        match event:
            case BlocksAllocated():
                if event.first_logical_block == 0:
                    lengths[event.sequence_id] = 0
                for index, block in enumerate(event.physical_blocks):
                    owners[block] = (event.sequence_id, event.first_logical_block + index)
            case BlocksFreed():
                for block in event.physical_blocks:
                    del owners[block]
            case KvAdvanced():
                kept = event.n_written - event.n_rolled_back
                lengths[event.sequence_id] = event.position + kept
    grid = []
    for block in range(n_blocks):
        owner, logical = owners.get(block, (NO_OWNER, -1))
        length = lengths.get(owner, 0)
        filled = min(max(length - logical * block_size, 0), block_size) if logical >= 0 else 0
        grid.append([owner, logical, filled])
    return grid


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 400), st.sampled_from(list(Role)))
@settings(max_examples=25, deadline=None)
def test_a_slow_reading_of_an_engines_events_agrees(
    gamma: int, batch: int, cut: int, role: Role
) -> None:
    engine = RunningEngine(
        ToyModel(12, seed=1), ToyModel(12, seed=2),
        gamma=gamma, batch=batch, block_size=16, n_blocks=5, temperature=1.0,
    )  # fmt: skip
    engine.run("abcde", "a" * 15, "abcdefgh" * 3, max_new_tokens=30, check=False)
    events = engine.events[: 20 + cut % (len(engine.events) - 20)]
    kv = kv_map(snapshot_of(events), ROLE_CODES[role])
    assert kv is not None
    columns = (kv.owners.tolist(), kv.logical_blocks.tolist(), kv.n_filled.tolist())
    assert [list(row) for row in zip(*columns, strict=True)] == slowly(
        events, role, kv.n_blocks, kv.block_size
    )
    assert set(kv.states[kv.n_filled > 0].tolist()) <= {COMMITTED}
    assert all(kv.n_filled + kv.n_rolled_back <= kv.block_size)


def test_large_numbers_of_a_sequence_and_a_block_need_no_large_arrays() -> None:
    told = Told()
    largest = 2**31 - 1
    told.allocate(0, 1, sequence_id=largest)
    told.allocate(largest - 1, 2, sequence_id=largest)
    told.advance(0, 3, sequence_id=largest)
    snapshot = snapshot_of(told.events)
    kv = kv_map(snapshot, TARGET)
    assert kv is not None
    assert kv.n_filled.tolist() == [0, 3, 0, 0, 0, 0]  # the far block is behind what is written
    assert block_table(kv, largest).tolist() == [1, 2]
    series = kv_over_time(snapshot, TARGET)
    assert series is not None
    assert series.n_filled.tolist() == [0, 0, 3]


def test_blocks_that_the_cache_does_not_have_are_in_no_grid() -> None:
    told = Told()
    told.allocate(0, 1, 6)
    told.advance(0, 3)
    told.free(2**31 - 1)
    assert told.states() == [FREE, COMMITTED, FREE, FREE, FREE, FREE]
