import pytest

from engine.kv.base import ForwardRow
from tests.support.cache_play import CPU, make_cache


def test_blocks_are_taken_as_they_are_needed() -> None:
    cache, _ = make_cache(n_blocks=4)
    cache.open(0, n_positions=0)
    assert cache.pool.n_free == 4
    for n_positions, n_free in ((1, 3), (4, 3), (5, 2), (16, 0), (3, 0)):
        assert cache.reserve(0, n_positions)
        assert cache.pool.n_free == n_free


def test_rolling_back_frees_blocks_that_hold_nothing() -> None:
    cache, _ = make_cache(n_blocks=4)
    cache.open(0, n_positions=16)
    cache.batch([ForwardRow(0, [0] * 13)], device=CPU)
    for n_kept, n_free in ((13, 0), (12, 1), (5, 2), (4, 3), (0, 4)):
        cache.settle(0, n_kept, step=0)
        assert cache.pool.n_free == n_free


def test_room_is_one_s_own_blocks_and_the_free_ones() -> None:
    cache, _ = make_cache(n_blocks=5)
    cache.open(0, n_positions=5)
    cache.open(1, n_positions=4)
    assert (cache.room(0), cache.room(1)) == (16, 12)
    assert not cache.reserve(1, 13)
    assert cache.pool.n_free == 2
    assert cache.reserve(1, 12)
    assert (cache.room(0), cache.room(1)) == (8, 12)


@pytest.mark.parametrize(("n_positions", "fits"), [(0, True), (8, True), (9, False)])
def test_fits(n_positions: int, fits: bool) -> None:
    cache, _ = make_cache(n_blocks=4)
    cache.open(0, n_positions=5)
    assert cache.fits(n_positions) is fits
    if not fits:
        with pytest.raises(MemoryError):
            cache.open(1, n_positions=n_positions)
        assert not cache.holds(1)
        assert cache.pool.n_free == 2
