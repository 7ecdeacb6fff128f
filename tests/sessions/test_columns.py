"""Tables: rows appended in batches, prefixes that are views, texts that are numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.columns import MISSING_CODE, Kind, Table, TextPool


def table(**kinds: Kind) -> Table:
    return Table("rows", kinds, TextPool())


def test_rows_come_back_as_they_were_appended() -> None:
    rows = table(n=Kind.COUNT, p=Kind.FLOAT, text=Kind.TEXT)
    code_of = rows.pool.__getitem__
    rows.append(2, ordinal=[0, 1], t_ns=[5, 7], n=[1, 2], p=[0.5, 0.25], text=[code_of("a")] * 2)
    rows.append(1, ordinal=[2], t_ns=[7], n=3, p=1.0, text=[code_of(None)])
    prefix = rows.prefix(99)
    assert len(prefix) == len(rows) == 3
    assert prefix["n"].tolist() == [1, 2, 3]
    assert prefix.texts("text") == ["a", "a", ""]
    assert prefix.text("text", 0) == "a"
    assert prefix.code("a") == 0
    assert prefix.code("never said") == MISSING_CODE
    assert rows.n_bytes == 3 * (8 + 8 + 4 + 8 + 4)


def test_a_prefix_is_no_copy_and_cannot_be_written() -> None:
    rows = table(n=Kind.INT)
    rows.append(10, ordinal=range(10), t_ns=range(10), n=range(10))
    first, second = rows.prefix(4)["n"], rows.prefix(8)["n"]
    assert np.shares_memory(first, second)
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1


def test_a_prefix_stays_as_it_is_while_the_table_grows() -> None:
    rows = table(n=Kind.INT)
    rows.append(3, ordinal=range(3), t_ns=range(3), n=[7, 8, 9])
    prefix = rows.prefix(3)
    column = prefix["n"]
    rows.append(10_000, ordinal=range(10_000), t_ns=[3] * 10_000, n=0)
    assert column.tolist() == prefix["n"].tolist() == [7, 8, 9]


def test_times_beyond_what_a_float_can_tell_apart_stay_exact() -> None:
    times = [1_700_000_000_123_456_789 + 500 * i for i in range(30)]
    rows = table()
    rows.append(30, ordinal=range(30), t_ns=times)
    assert np.diff(rows.prefix(30)["t_ns"]).tolist() == [500] * 29
    assert rows.n_rows_at(times[3]) == 4
    assert rows.n_rows_at(times[3] - 1) == 3
    assert rows.last_t_ns == times[-1]


def test_rows_of_one_moment_belong_together() -> None:
    rows = table()
    rows.append(4, ordinal=range(4), t_ns=[1, 2, 2, 3])
    assert [rows.n_rows_at(t) for t in (0, 1, 2, 3, 9)] == [0, 1, 3, 4, 4]


def test_a_row_that_claims_an_earlier_time_is_given_the_last_one() -> None:
    rows = table()
    rows.append(2, ordinal=[0, 1], t_ns=[5, 9])
    rows.append(3, ordinal=[2, 3, 4], t_ns=[4, 12, 11])
    assert rows.prefix(5)["t_ns"].tolist() == [5, 9, 9, 12, 12]


def test_a_number_too_large_is_refused_and_nothing_appended() -> None:
    rows = table(n=Kind.COUNT)
    with pytest.raises(OverflowError):
        rows.append(1, ordinal=[0], t_ns=[0], n=[2**40])
    assert len(rows) == 0


def test_a_column_of_one_value_takes_no_memory_until_another_comes() -> None:
    rows = table(n=Kind.COUNT, p=Kind.FLOAT)
    rows.append(2, ordinal=range(2), t_ns=range(2), n=[4, 4], p=np.nan)
    before = rows.prefix(2)["n"], rows.prefix(2)["p"]
    assert all(column.strides == (0,) for column in before)
    rows.append(3, ordinal=range(3), t_ns=[2] * 3, n=4, p=[np.nan, np.nan, 0.5])
    assert rows.prefix(5)["n"].strides == (0,)
    rows.append(1, ordinal=[5], t_ns=[3], n=5, p=0.0)
    assert rows.prefix(6)["n"].tolist() == [4] * 5 + [5]
    np.testing.assert_equal(rows.prefix(6)["p"], [np.nan] * 4 + [0.5, 0.0])
    assert before[0].tolist() == [4, 4]


def test_what_was_refused_is_not_remembered() -> None:
    rows = table(n=Kind.COUNT, m=Kind.COUNT)
    with pytest.raises(OverflowError):
        rows.append(1, ordinal=[0], t_ns=[0], n=[3], m=[2**40])
    rows.append(2, ordinal=[0, 1], t_ns=[0, 0], n=7, m=[7, 8])
    assert rows.prefix(2)["n"].tolist() == [7, 7]
    assert rows.prefix(2)["m"].tolist() == [7, 8]


@given(st.lists(st.lists(st.integers(0, 1000), max_size=200), max_size=8), st.integers(0, 1000))
def test_the_rows_at_a_moment_are_those_not_after_it(batches: list[list[int]], t_ns: int) -> None:
    rows, clock, times = table(), 0, []
    for batch in batches:
        stamps = [clock := clock + step % 3 for step in batch]
        times += stamps
        rows.append(len(stamps), ordinal=range(len(stamps)), t_ns=stamps)
    assert rows.n_rows_at(t_ns) == sum(time <= t_ns for time in times)
    assert rows.prefix(len(rows))["t_ns"].tolist() == times
