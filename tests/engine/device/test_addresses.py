"""Positions as numbers in fixed tensors: slots, masks, and what padding may touch."""

import pytest
import torch

from engine.device.addresses import (
    Addressing,
    ContextShape,
    address_shapes,
    clear_addresses,
    context_room,
    fill_addresses,
    lie_side_by_side,
)
from engine.device.static_inputs import StaticInputs
from engine.kv.paged_cache import PagedCache
from engine.kv.pool_attention import GATHER, RUNS
from engine.wire.events import Role

CPU = torch.device("cpu")


def make_cache() -> PagedCache:
    return PagedCache(
        Role.TARGET, [(2, 4)],
        n_blocks=8, block_size=16, dtype=torch.float32, device=CPU, say=lambda event: None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("n_positions", "context_length", "room"),
    [
        (1, 4096, 256), (256, 4096, 256), (257, 4096, 512), (3000, 4096, 4096),
        (3000, 3000, 3008), (10, 100, 112), (130, 100, 144),
    ],
)  # fmt: skip
def test_rooms_are_few_and_whole_blocks(n_positions: int, context_length: int, room: int) -> None:
    assert context_room(n_positions, context_length=context_length, block_size=16) == room


def test_a_row_writes_behind_what_it_holds_and_padding_writes_to_the_scratch_slot() -> None:
    cache = make_cache()
    cache.open(1, n_positions=16)
    cache.open(2, n_positions=40)  # blocks 4, 5, 6
    table = cache.table(2)
    table.length = 30
    context = ContextShape(64, GATHER)
    inputs = StaticInputs(CPU, whole=address_shapes(2, 3, context, 16))
    clear_addresses(inputs, cache)
    fill_addresses(inputs, 0, table, first_column=1, n_tokens=2)
    inputs.send()
    addressing = Addressing(inputs, context, 16)
    batch = addressing.batch(torch.zeros(2, 3, dtype=torch.int64), addressing.slots(),
                             first_column=0)  # fmt: skip
    assert table.length == 32
    assert batch.positions.tolist() == [[0, 30, 31], [0, 0, 0]]
    assert batch.write_slots is not None
    scratch = cache.scratch_slot
    assert batch.write_slots.tolist() == [scratch, 94, 95, scratch, scratch, scratch]
    assert batch.context_slots is not None
    assert batch.context_slots[0].tolist() == [*range(64, 96), *[64] * 32], "behind: its own first"
    assert batch.mask is not None
    assert batch.mask[0, 0].sum(-1).tolist() == [1, 31, 32]
    assert batch.mask[1, 0].sum(-1).tolist() == [1, 1, 1], "a row that may look nowhere is NaN"


def test_a_row_that_outgrows_its_blocks_is_refused() -> None:
    cache = make_cache()
    cache.open(1, n_positions=16)
    cache.table(1).length = 15
    inputs = StaticInputs(CPU, whole=address_shapes(1, 2, ContextShape(64, GATHER), 16))
    with pytest.raises(IndexError):
        fill_addresses(inputs, 0, cache.table(1), first_column=0, n_tokens=2)


def test_a_pool_is_told_where_rows_start_and_end() -> None:
    cache = make_cache()
    cache.open(1, n_positions=16)
    cache.open(2, n_positions=32)
    cache.table(2).length = 20
    context = ContextShape(64, RUNS)
    inputs = StaticInputs(CPU, whole=address_shapes(2, 2, context, 16))
    clear_addresses(inputs, cache)
    fill_addresses(inputs, 0, cache.table(2), first_column=1, n_tokens=1)
    inputs.send()
    addressing = Addressing(inputs, context, 16)
    batch = addressing.batch(torch.zeros(2, 2, dtype=torch.int64), addressing.slots(),
                             first_column=0)  # fmt: skip
    pool = batch.pool
    assert pool is not None
    assert batch.mask is None
    assert batch.context_slots is None
    assert pool.query_starts.tolist() == [0, 2, 4]
    assert pool.key_starts.tolist()[:2] == [64, 0]
    assert pool.n_used.tolist() == [21, 1]
    assert pool.blocks.dtype == pool.n_used.dtype == torch.int32


def test_side_by_side_counts_what_is_about_to_be_written() -> None:
    cache = make_cache()
    cache.open(1, n_positions=16)
    cache.open(2, n_positions=16)
    cache.pool.allocate(3, 1, first_logical_block=0, after=0)  # in the way of sequence 1
    cache.reserve(1, 32)
    table = cache.table(1)
    table.length = 14
    assert lie_side_by_side([table, cache.table(2)], [2, 1])
    assert not lie_side_by_side([table, cache.table(2)], [3, 1])
