"""What both ways of handing out memory have in common."""

from typing import Any

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.kv.base import ForwardRow, Occupancy
from engine.kv.paged_cache import PagedCache
from engine.wire.events import PREFILL_STEP, BlocksAllocated, BlocksFreed, KvAdvanced, Role
from tests.support.cache_play import CPU, PlainCache, make_cache
from tests.support.toy_model import ToyModel

N_BLOCKS, BLOCK_SIZE, RESERVATION = 10, 4, 12


class CachePlay(RuleBasedStateMachine):
    """Open, reserve, write, roll back and close in any order: what is read is what was written."""

    allocation = "paged"

    def __init__(self) -> None:
        super().__init__()
        self.cache, _ = make_cache(self.allocation, n_blocks=N_BLOCKS, block_size=BLOCK_SIZE)
        self.plain = PlainCache(self.cache)

    @rule(sequence_id=st.integers(0, 4), n_positions=st.integers(0, 14))
    def open(self, sequence_id: int, n_positions: int) -> None:
        if sequence_id in self.plain.tags:
            return
        before = self.cache.pool.n_free
        if self.cache.fits(n_positions):
            self.cache.open(sequence_id, n_positions=n_positions)
            self.plain.tags[sequence_id] = []
        else:
            with pytest.raises(MemoryError):
                self.cache.open(sequence_id, n_positions=n_positions)
            assert self.cache.pool.n_free == before
            assert not self.cache.holds(sequence_id)

    @precondition(lambda self: self.plain.tags)
    @rule(data=st.data(), most=st.integers(1, 9))
    def write(self, data: Any, most: int) -> None:
        """One forward of some sequences, ragged, over what is reserved for each."""
        chosen = data.draw(
            st.lists(st.sampled_from(sorted(self.plain.tags)), min_size=1, unique=True)
        )
        widths = {}
        for sequence_id in chosen:
            length = len(self.plain.tags[sequence_id])
            wanted = data.draw(st.integers(1, most))
            before = self.cache.pool.n_free
            room = self.cache.room(sequence_id)
            if self.cache.reserve(sequence_id, length + wanted):
                assert length + wanted <= room
                widths[sequence_id] = wanted
            else:
                assert length + wanted > room
                assert self.cache.pool.n_free == before
        if widths:
            self.plain.write(widths)

    @precondition(lambda self: any(self.plain.tags.values()))
    @rule(data=st.data())
    def roll_back(self, data: Any) -> None:
        sequence_id = data.draw(st.sampled_from(sorted(self.plain.tags)))
        length = len(self.plain.tags[sequence_id])
        self.plain.roll_back(sequence_id, data.draw(st.integers(0, length)))

    @precondition(lambda self: self.plain.tags)
    @rule(data=st.data())
    def close(self, data: Any) -> None:
        sequence_id = data.draw(st.sampled_from(sorted(self.plain.tags)))
        self.cache.close(sequence_id)
        del self.plain.tags[sequence_id]
        assert not self.cache.holds(sequence_id)

    @precondition(lambda self: self.plain.tags)
    @rule(data=st.data())
    def write_past_the_table(self, data: Any) -> None:
        sequence_id = data.draw(st.sampled_from(sorted(self.plain.tags)))
        length = len(self.plain.tags[sequence_id])
        n_past = self.cache.table(sequence_id).capacity - length + 1
        with pytest.raises(IndexError):
            self.cache.batch([ForwardRow(sequence_id, [0] * n_past)], device=CPU)
        assert self.cache.length(sequence_id) == length

    @invariant()
    def every_block_is_free_or_owned_once(self) -> None:
        tables = {sequence_id: self.cache.table(sequence_id) for sequence_id in self.plain.tags}
        owned = [block for table in tables.values() for block in table.blocks]
        assert len(owned) == len(set(owned))
        assert self.cache.pool.n_free + len(owned) == N_BLOCKS
        for sequence_id, table in tables.items():
            assert all(self.cache.pool.owner(block) == sequence_id for block in table.blocks)
            assert table.length == len(self.plain.tags[sequence_id]) <= table.capacity
            if self.allocation == "contiguous":
                assert table.run_start(RESERVATION) is not None

    @invariant()
    def occupancy_counts_positions(self) -> None:
        n_written = sum(map(len, self.plain.tags.values()))
        occupancy = self.cache.occupancy()
        per_slot = self.cache.bytes_per_block // BLOCK_SIZE
        assert occupancy.written_bytes == n_written * per_slot
        assert occupancy.written_bytes <= occupancy.reserved_bytes
        assert occupancy.reserved_bytes == (
            (N_BLOCKS - occupancy.n_free_blocks) * self.cache.bytes_per_block
        )


class ContiguousPlay(CachePlay):
    allocation = "contiguous"


PLAY = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestPagedPlay = CachePlay.TestCase
TestPagedPlay.settings = PLAY
TestContiguousPlay = ContiguousPlay.TestCase
TestContiguousPlay.settings = PLAY


# --- roll-back -----------------------------------------------------------------------------------


class Untouchable:
    """In place of a tensor: raises whatever is done with it."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"a tensor was touched: {name}")

    def __getitem__(self, key: object) -> Any:
        raise AssertionError("a tensor was read")

    def __setitem__(self, key: object, value: object) -> None:
        raise AssertionError("a tensor was written")


@pytest.mark.parametrize("allocation", ["paged", "contiguous"])
def test_rolling_back_touches_no_tensor(allocation: str) -> None:
    cache, _ = make_cache(allocation)
    plain = PlainCache(cache)
    cache.open(0, n_positions=12)
    plain.tags[0] = []
    plain.write({0: 12})
    kept = cache._keys, cache._values, cache._counting
    cache._keys = cache._values = [Untouchable()] * 2
    cache._counting = Untouchable()
    plain.roll_back(0, 5)
    cache._keys, cache._values, cache._counting = kept
    cache.reserve(0, 8)
    plain.write({0: 3})  # over what was rolled back, behind what was kept


def test_tensors_stay_where_they_are() -> None:
    cache, _ = make_cache()
    plain = PlainCache(cache)
    places = [tensor.data_ptr() for tensor in (*cache._keys, *cache._values)]
    cache.open(0, n_positions=8)
    plain.tags[0] = []
    plain.write({0: 8})
    plain.roll_back(0, 1)
    cache.close(0)
    assert [tensor.data_ptr() for tensor in (*cache._keys, *cache._values)] == places


@pytest.mark.parametrize(("n_accepted", "n_kept"), [(0, 1), (1, 2), (3, 4), (4, 5)])
def test_rows_kept_after_a_verification(n_accepted: int, n_kept: int) -> None:
    """Of the newest token and four drafts, the accepted ones and one more stay."""
    cache, said = make_cache(block_size=16)
    cache.open(0, n_positions=10)
    plain = PlainCache(cache)
    plain.tags[0] = []
    plain.write({0: 10})
    cache.settle(0, 10, step=PREFILL_STEP)
    cache.reserve(0, 15)
    plain.write({0: 5})
    said.clear()
    plain.roll_back(0, 10 + n_kept)
    assert said == [
        KvAdvanced(
            sequence_id=0, role=Role.TARGET, step=0, position=10, n_written=5,
            n_rolled_back=4 - n_accepted,
        )
    ]  # fmt: skip


def test_settling_says_what_happened_and_nothing_when_nothing_did() -> None:
    cache, said = make_cache()
    cache.open(0, n_positions=4)
    cache.batch([ForwardRow(0, [0] * 4)], device=CPU)
    cache.settle(0, 4, step=PREFILL_STEP)
    cache.settle(0, 4, step=1)
    cache.settle(0, 2, step=2)
    with pytest.raises(ValueError, match="3 positions to keep, 2 held"):
        cache.settle(0, 3, step=3)
    advanced = [event for event in said if isinstance(event, KvAdvanced)]
    assert [(e.step, e.position, e.n_written, e.n_rolled_back) for e in advanced] == [
        (-1, 0, 4, 0),
        (2, 4, 0, 2),
    ]


# --- one forward ---------------------------------------------------------------------------------


def test_a_run_is_read_in_place_and_scattered_blocks_are_gathered_alike() -> None:
    """The same writes through a view and through a gather."""
    outputs = []
    for is_scattered in (False, True):
        cache, _ = make_cache(n_blocks=12)
        cache.open(0, n_positions=4)
        if is_scattered:  # another is in its way
            cache.pool.allocate(9, 1, first_logical_block=0, after=0)
        plain = PlainCache(cache)
        plain.tags[0] = []
        plain.write({0: 3})
        cache.reserve(0, 11)
        batch = plain.write({0: 8})
        assert (batch.context_run is None) == is_scattered
        keys = torch.zeros(1, 2, 1, 3)
        cache.reserve(0, 12)
        last = cache.batch([ForwardRow(0, [0])], device=CPU)
        outputs.append(cache.update(0, keys, keys, last)[0])
        view = outputs[-1].untyped_storage().data_ptr()
        assert (view == cache._keys[0].untyped_storage().data_ptr()) == (not is_scattered)
    assert torch.equal(*outputs)


@pytest.mark.parametrize("junk", [1e30, -1e30])
def test_the_scratch_slot_does_not_matter(junk: float) -> None:
    """A ragged batch pads with it; what it holds changes nothing."""
    model = ToyModel(16, seed=1)
    logits = []
    for fill in (0.0, junk):
        cache = toy_cache(model)
        for sequence_id, n_held in ((0, 9), (1, 2)):
            cache.open(sequence_id, n_positions=16)
            held = [ForwardRow(sequence_id, list(range(n_held)))]
            model.forward(cache.batch(held, device=CPU), cache, n_logits=1)
        for tensor in (*cache._keys, *cache._values):
            tensor[-1] = fill
        rows = [ForwardRow(0, [3]), ForwardRow(1, [4])]  # no padded query, but padded context
        logits.append(model.forward(cache.batch(rows, device=CPU), cache, n_logits=1))
    assert torch.equal(*logits)


def toy_cache(model: ToyModel) -> Any:
    return PagedCache(
        Role.TARGET, model.layer_kv_shapes(), n_blocks=8, block_size=16,
        dtype=torch.float32, device=CPU, say=lambda event: None,
    )  # fmt: skip


@pytest.mark.parametrize("widths", [(1, 1), (5, 1), (1, 5), (3, 4), (2, 2)])
def test_rows_of_a_batch_equal_rows_alone(widths: tuple[int, int]) -> None:
    model = ToyModel(16, seed=1)
    cache = toy_cache(model)
    texts = ([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], [2, 7, 1, 8, 2])
    for sequence_id, (text, width) in enumerate(zip(texts, widths, strict=True)):
        cache.open(sequence_id, n_positions=len(text))
        row = ForwardRow(sequence_id, text[:-width])
        if row.token_ids:
            model.forward(cache.batch([row], device=CPU), cache, n_logits=1)
    rows = [ForwardRow(i, text[-w:]) for i, (text, w) in enumerate(zip(texts, widths, strict=True))]
    logits = model.forward(cache.batch(rows, device=CPU), cache, n_logits=max(widths))
    for index, (text, width) in enumerate(zip(texts, widths, strict=True)):
        plain = model.plain_logits(text)
        torch.testing.assert_close(logits[index, -width:], plain[-width:])


def test_the_second_opening_is_refused() -> None:
    cache, _ = make_cache()
    cache.open(0, n_positions=1)
    with pytest.raises(ValueError, match="in the cache already"):
        cache.open(0, n_positions=0)


def test_sizes_in_bytes() -> None:
    cache, _ = make_cache(n_blocks=8, block_size=4)
    per_slot = 2 * 4 * (2 * 3 + 1 * 5)  # keys and values, 4 bytes, two layers
    assert cache.bytes_per_block == 4 * per_slot
    assert cache.total_bytes == (8 * 4 + 1) * per_slot  # and the scratch slot
    held = sum(tensor.nbytes for tensor in (*cache._keys, *cache._values))
    assert held == cache.total_bytes
    cache.open(0, n_positions=5)
    cache.batch([ForwardRow(0, [0] * 5)], device=CPU)
    assert cache.occupancy() == Occupancy(
        reserved_bytes=8 * per_slot, written_bytes=5 * per_slot, n_free_blocks=6
    )


def test_closing_gives_all_blocks_back_in_one_saying() -> None:
    cache, said = make_cache()
    cache.open(0, n_positions=9)
    cache.close(0)
    assert [type(event) for event in said] == [BlocksAllocated, BlocksFreed]
    assert said[0].physical_blocks == said[1].physical_blocks == (0, 1, 2)


def test_fill_reaches_every_slot() -> None:
    cache, _ = make_cache("paged", n_blocks=N_BLOCKS, block_size=BLOCK_SIZE)
    cache.fill(0.5)
    for tensor in (*cache._keys, *cache._values):
        assert bool((tensor == 0.5).all())
