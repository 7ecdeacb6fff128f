import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from engine.kv.block_pool import BlockPool
from engine.wire.events import BlocksAllocated, BlocksFreed, Event, Role


def make_pool(n_blocks: int) -> tuple[BlockPool, list[Event]]:
    said: list[Event] = []
    return BlockPool(Role.TARGET, n_blocks, block_size=16, say=said.append), said


def test_a_sequence_goes_on_behind_its_last_block() -> None:
    pool, _ = make_pool(16)
    first = pool.allocate(1, 3, first_logical_block=0)
    other = pool.allocate(2, 2, first_logical_block=0)
    assert first == [0, 1, 2]
    assert pool.allocate(1, 2, first_logical_block=3, after=2) == [3, 4]
    assert pool.allocate(2, 1, first_logical_block=2, after=other[-1]) == [other[-1] + 1]


def test_a_new_sequence_begins_far_from_the_others() -> None:
    pool, _ = make_pool(16)
    starts = [pool.allocate(each, 1, first_logical_block=0)[0] for each in range(4)]
    assert starts == [0, 8, 4, 12]
    pool.free(1, [8])
    assert pool.allocate(5, 1, first_logical_block=0) == [8]


def test_a_sequence_in_the_way_is_gone_around() -> None:
    pool, _ = make_pool(8)
    pool.allocate(1, 3, first_logical_block=0)
    (other,) = pool.allocate(2, 1, first_logical_block=0)
    assert other == 5
    assert pool.allocate(1, 4, first_logical_block=3, after=2) == [3, 4, 6, 7]


def test_what_fits_a_gap_lies_side_by_side_though_it_does_not_fit_its_half() -> None:
    pool, _ = make_pool(100)
    pool.allocate(1, 10, first_logical_block=0)
    assert pool.allocate(2, 60, first_logical_block=0) == [*range(40, 100)]
    assert pool.allocate(3, 30, first_logical_block=0) == [*range(10, 40)]


def test_freed_blocks_come_back_in_their_order() -> None:
    pool, _ = make_pool(8)
    blocks = pool.allocate(1, 4, first_logical_block=0)
    pool.free(1, blocks[2:])
    assert pool.allocate(1, 2, first_logical_block=2, after=blocks[1]) == blocks[2:]


def test_what_is_said() -> None:
    pool, said = make_pool(4)
    pool.allocate(7, 2, first_logical_block=0)
    pool.allocate(7, 0, first_logical_block=2)  # nothing to say
    pool.free(7, [])
    pool.free(7, [0, 1])
    assert said == [
        BlocksAllocated(
            sequence_id=7, role=Role.TARGET, first_logical_block=0, physical_blocks=(0, 1)
        ),
        BlocksFreed(sequence_id=7, role=Role.TARGET, physical_blocks=(0, 1)),
    ]


def test_exhaustion_changes_nothing() -> None:
    pool, said = make_pool(4)
    pool.allocate(1, 3, first_logical_block=0)
    with pytest.raises(MemoryError, match="2 blocks wanted, 1 free"):
        pool.allocate(2, 2, first_logical_block=0)
    assert (pool.n_free, len(said)) == (1, 1)
    assert pool.allocate(2, 1, first_logical_block=0) == [3]


@pytest.mark.parametrize("blocks", [[0, 1], [1], [3], [99], [-1]])
def test_only_the_owner_can_free(blocks: list[int]) -> None:
    pool, said = make_pool(4)
    pool.allocate(1, 1, first_logical_block=0)
    pool.allocate(2, 1, first_logical_block=0)
    with pytest.raises(ValueError, match="does not belong to sequence 1"):
        pool.free(1, blocks)
    assert (pool.n_free, len(said), pool.owner(0)) == (2, 2, 1)


def test_nothing_is_freed_twice() -> None:
    pool, _ = make_pool(4)
    pool.allocate(1, 2, first_logical_block=0)
    pool.free(1, [0, 1])
    with pytest.raises(ValueError, match="does not belong"):
        pool.free(1, [0])
    assert pool.n_free == 4


def test_a_run_is_the_lowest_that_is_long_enough() -> None:
    pool, _ = make_pool(8)
    pool.allocate(1, 8, first_logical_block=0)
    pool.free(1, [1, 3, 4, 6, 7])
    assert not pool.has_run(3)
    with pytest.raises(MemoryError, match="no run of 3 blocks among 5 free ones"):
        pool.allocate_run(9, 3)
    assert pool.n_free == 5
    assert pool.allocate_run(9, 2) == [3, 4]
    assert pool.allocate_run(10, 2) == [6, 7]
    assert pool.n_free == 1


class PoolPlay(RuleBasedStateMachine):
    """Any play leaves every block free or with one owner."""

    def __init__(self) -> None:
        super().__init__()
        self.pool, _ = make_pool(12)
        self.owned: dict[int, list[int]] = {}

    @rule(sequence_id=st.integers(0, 3), n_blocks=st.integers(0, 6), as_run=st.booleans())
    def take(self, sequence_id: int, n_blocks: int, as_run: bool) -> None:
        owned = self.owned.setdefault(sequence_id, [])
        free = set(range(12)) - {block for blocks in self.owned.values() for block in blocks}
        if as_run and n_blocks and not owned:
            runs = [start for start in free if set(range(start, start + n_blocks)) <= free]
            assert self.pool.has_run(n_blocks) == bool(runs)
            if runs:
                owned += self.pool.allocate_run(sequence_id, n_blocks)
                assert owned[0] == min(runs)
        elif n_blocks <= len(free):
            after = owned[-1] if owned else None
            owned += self.pool.allocate(
                sequence_id, n_blocks, first_logical_block=len(owned), after=after
            )
        else:
            with pytest.raises(MemoryError):
                self.pool.allocate(sequence_id, n_blocks, first_logical_block=len(owned))

    @rule(sequence_id=st.integers(0, 3), n_kept=st.integers(0, 6))
    def give_back(self, sequence_id: int, n_kept: int) -> None:
        owned = self.owned.setdefault(sequence_id, [])
        self.pool.free(sequence_id, owned[n_kept:])
        del owned[n_kept:]

    @invariant()
    def all_blocks_are_somewhere_once(self) -> None:
        owners = {block: who for who, blocks in self.owned.items() for block in blocks}
        assert len(owners) == sum(map(len, self.owned.values()))
        assert self.pool.n_free + len(owners) == 12
        assert [self.pool.owner(block) for block in range(12)] == [
            owners.get(block) for block in range(12)
        ]


TestPoolPlay = PoolPlay.TestCase
