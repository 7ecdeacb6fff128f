"""Free blocks as stretches, against a plain set of them."""

import time

from hypothesis import given
from hypothesis import strategies as st

from engine.kv.free_blocks import FreeBlocks

N = 24


def free_in(stretches: FreeBlocks) -> set[int]:
    pairs = zip(stretches._starts, stretches._ends, strict=True)
    return {block for start, end in pairs for block in range(start, end)}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, N - 1), st.integers(1, 6)), max_size=40))
def test_any_play_leaves_what_a_set_holds(play: list[tuple[bool, int, int]]) -> None:
    stretches, free = FreeBlocks(N), set(range(N))
    for is_taking, start, n_blocks in play:
        blocks = range(start, min(start + n_blocks, N))
        if is_taking and free.issuperset(blocks):
            stretches.take(start, len(blocks))
            free -= set(blocks)
        elif not is_taking and free.isdisjoint(blocks):
            stretches.give_back(list(reversed(blocks)) if n_blocks % 2 else blocks)
            free |= set(blocks)
        assert free_in(stretches) == free
        for before, after in zip(stretches._ends, stretches._starts[1:], strict=False):
            assert before < after, "stretches that touch are one"
        for block in range(N):
            rest = [other for other in range(block, N) if other not in free]
            assert stretches.room_at(block) == (rest[0] if rest else N) - block
        runs = [at for at in range(N) if free.issuperset(range(at, at + 3))]
        assert stretches.first_run(3) == (min(runs) if runs else None)


@given(st.sets(st.integers(0, N - 1)), st.integers(0, N))
def test_what_is_far_from_others_is_free_and_whole_where_it_fits(
    taken: set[int], n_blocks: int
) -> None:
    stretches = FreeBlocks(N)
    for block in taken:
        stretches.take(block, 1)
    free = set(range(N)) - taken
    pieces = stretches.far_from_others(n_blocks)
    blocks = [start + index for start, n in pieces for index in range(n)]
    assert len(set(blocks)) == len(blocks) == min(n_blocks, len(free))
    assert free.issuperset(blocks)
    if n_blocks and stretches.first_run(n_blocks) is not None:
        assert len(pieces) == 1


def test_the_middle_of_a_gap_behind_somebody_and_the_beginning_of_an_empty_pool() -> None:
    stretches = FreeBlocks(16)
    assert stretches.far_from_others(2) == [(0, 2)]
    stretches.take(0, 2)
    assert stretches.far_from_others(2) == [(9, 2)]
    assert stretches.far_from_others(10) == [(6, 10)]
    assert FreeBlocks(0).far_from_others(1) == []


def test_many_blocks_in_many_stretches_take_no_time_to_speak_of() -> None:
    """A pool of a large device, every other block of it taken."""
    stretches = FreeBlocks(1 << 15)
    for block in range(0, 1 << 15, 2):
        stretches.take(block, 1)
    begun = time.perf_counter()
    for start, n_blocks in stretches.far_from_others(4096):
        stretches.take(start, n_blocks)
    assert time.perf_counter() - begun < 2.0  # hundredths of a second; looking at each anew: many
