"""Intervals against published and hand-computed values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.metrics.interval import bootstrap_of_mean, rate, ratio


def test_wilsons_interval_of_a_textbook_case() -> None:
    result = rate(81, 263)  # Newcombe 1998, table I: .2553 to .3662
    assert result.value == pytest.approx(0.3080, abs=5e-5)
    assert (result.low, result.high) == (
        pytest.approx(0.2553, abs=5e-5),
        pytest.approx(0.3662, abs=5e-5),
    )
    none_of_20 = rate(0, 20)  # the same table: 0 to .1611
    assert (none_of_20.low, none_of_20.high) == (0.0, pytest.approx(0.1611, abs=5e-5))


def test_of_nothing_there_is_no_rate() -> None:
    result = rate(0, 0)
    assert (result.value, result.low, result.high) == (None, None, None)
    assert ratio(1, 0) is None
    assert ratio(0, 4) == 0.0


@given(st.integers(0, 500), st.integers(1, 500))
def test_the_interval_holds_the_rate_and_stays_a_share(n: int, more: int) -> None:
    result = rate(n, n + more)
    assert result.low is not None
    assert result.value is not None
    assert result.high is not None
    assert 0.0 <= result.low <= result.value <= result.high <= 1.0
    full = rate(more, more)
    assert full.high == 1.0


def test_the_bootstrap_is_the_same_every_time() -> None:
    values = [1.0, 1.2, 1.4, 1.1, 1.3]
    interval = bootstrap_of_mean(values)
    assert interval is not None
    assert interval == bootstrap_of_mean(values)
    assert 1.0 <= interval.low < 1.2 < interval.high <= 1.4
    assert bootstrap_of_mean([1.0]) is None
    same = bootstrap_of_mean([2.0, 2.0, 2.0])
    assert same is not None
    assert (same.low, same.high) == (2.0, 2.0)
