import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.kv.block_table import BlockTable, blocks_for


def table_of(*blocks: int, block_size: int = 4) -> BlockTable:
    table = BlockTable(block_size)
    table.extend(blocks)
    return table


@pytest.mark.parametrize(
    ("n_positions", "n_blocks"), [(0, 0), (1, 1), (15, 1), (16, 1), (17, 2), (32, 2), (33, 3)]
)
def test_blocks_for(n_positions: int, n_blocks: int) -> None:
    assert blocks_for(n_positions, 16) == n_blocks


@pytest.mark.parametrize(
    ("length", "gamma", "n_added", "n_total"),
    [(15, 4, 1, 2), (16, 4, 1, 2), (30, 35, 3, 5), (31, 0, 0, 2), (32, 16, 2, 4)],
)
def test_a_step_may_cross_several_blocks(
    length: int, gamma: int, n_added: int, n_total: int
) -> None:
    """``length`` positions held, the newest token and gamma draft tokens to write."""
    table = table_of(*range(blocks_for(length, 16)), block_size=16)
    assert table.n_missing(length + gamma + 1) == n_added
    assert blocks_for(length + gamma + 1, 16) == n_total


def test_slots_follow_the_blocks() -> None:
    table = table_of(5, 2)
    assert table.capacity == 8
    assert table.slots(0, 8).tolist() == [20, 21, 22, 23, 8, 9, 10, 11]
    assert table.slots(3, 5).tolist() == [23, 8]
    assert table.slots(8, 8).tolist() == []


def test_past_the_table_is_an_error() -> None:
    table = table_of(5, 2)
    with pytest.raises(IndexError, match="position 8 is past a table of 8 positions"):
        table.slots(7, 9)
    table.drop(1)
    with pytest.raises(IndexError):  # although the number is still remembered
        table.slots(0, 5)
    with pytest.raises(IndexError):
        BlockTable(4).slots(0, 1)


def test_dropping_returns_the_blocks_in_order() -> None:
    table = table_of(5, 2, 7)
    assert table.drop(1) == [2, 7]
    assert table.drop(1) == []
    assert table.blocks == [5]
    table.extend([9])
    assert table.slots(4, 8).tolist() == [36, 37, 38, 39]


def test_run_start() -> None:
    table = table_of(5, 6, 9, 10)
    assert [table.run_start(n) for n in (0, 1, 4, 8, 9, 16)] == [None, 20, 20, 20, None, None]
    table.drop(1)
    table.extend([6, 7])
    assert table.run_start(12) == 20
    assert BlockTable(4).run_start(1) is None


@given(
    st.lists(
        st.one_of(
            st.lists(st.integers(0, 99), min_size=1, max_size=5, unique=True),
            st.integers(0, 6),
        ),
        max_size=20,
    )
)
def test_any_play_equals_a_plain_list(play: list[list[int] | int]) -> None:
    """Lists are blocks to append, numbers what is kept."""
    table, plain = BlockTable(4), []
    for move in play:
        if isinstance(move, int):
            assert table.drop(move) == plain[move:]
            del plain[move:]
        else:
            table.extend(move)
            plain += move
        slots = [block * 4 + offset for block in plain for offset in range(4)]
        assert table.slots(0, len(slots)).tolist() == slots
        for n_positions in range(1, len(slots) + 1):
            is_run = slots[:n_positions] == list(range(slots[0], slots[0] + n_positions))
            # Whole blocks count, also where the last one is used in part.
            whole = slots[: blocks_for(n_positions, 4) * 4]
            is_run = whole == list(range(whole[0], whole[0] + len(whole)))
            assert table.run_start(n_positions) == (slots[0] if is_run else None)
