import pytest

from engine.kv.base import ForwardRow
from tests.support.cache_play import CPU, make_cache


def test_every_sequence_reserves_its_worst_case() -> None:
    cache, _ = make_cache("contiguous", n_blocks=7, reservation=10)
    cache.open(0, n_positions=1)
    assert cache.pool.n_free == 4
    assert (cache.room(0), cache.reserve(0, 12), cache.reserve(0, 13)) == (12, True, False)
    cache.open(1, n_positions=0)
    assert not cache.fits(1)  # one block is free, three are reserved at a time
    with pytest.raises(MemoryError, match="no run of 3 blocks"):
        cache.open(2, n_positions=1)
    assert cache.pool.n_free == 1


def test_rolling_back_keeps_the_reservation() -> None:
    cache, _ = make_cache("contiguous", n_blocks=3)
    cache.open(0, n_positions=4)
    cache.batch([ForwardRow(0, [0] * 12)], device=CPU)
    cache.settle(0, 0, step=0)
    assert cache.pool.n_free == 0
    occupancy = cache.occupancy()
    assert occupancy.written_bytes == 0
    assert occupancy.reserved_bytes == 3 * cache.bytes_per_block
    cache.close(0)
    assert cache.pool.n_free == 3


def test_more_than_a_reservation_is_refused() -> None:
    cache, _ = make_cache("contiguous", n_blocks=9, reservation=10)
    assert cache.fits(10)
    assert not cache.fits(11)
    with pytest.raises(MemoryError, match="11 positions, 10 to a reservation"):
        cache.open(0, n_positions=11)
    assert cache.pool.n_free == 9


def test_free_blocks_that_lie_apart_do_not_serve() -> None:
    """External fragmentation, which a paged cache does not know."""
    cache, _ = make_cache("contiguous", n_blocks=9, reservation=12)
    for sequence_id in range(3):
        cache.open(sequence_id, n_positions=1)
    cache.close(1)
    assert cache.fits(12)
    cache.pool.allocate(7, 1, first_logical_block=0)  # one block in the middle
    assert cache.pool.n_free == 2
    assert not cache.fits(1)
