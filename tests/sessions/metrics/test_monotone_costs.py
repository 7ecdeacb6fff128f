"""Widths' costs in order: least squares, and what is in order stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.metrics.costs import MeasuredCosts
from sessions.metrics.monotone_costs import monotone, non_decreasing


def test_neighbours_that_fall_take_their_mean() -> None:
    assert non_decreasing([1.0, 1.5, 3.0, 1.0]) == (1.0, 1.5, 2.0, 2.0)
    assert non_decreasing([3.0, 2.0, 1.0]) == (2.0, 2.0, 2.0)
    assert non_decreasing([]) == ()


@given(st.lists(st.floats(0.1, 1e9), max_size=20))
def test_it_never_falls_keeps_the_sum_and_changes_nothing_in_order(values: list[float]) -> None:
    found = non_decreasing(values)
    assert list(found) == sorted(found)
    assert sum(found) == pytest.approx(sum(values))
    assert non_decreasing(found) == found
    assert non_decreasing(sorted(values)) == tuple(sorted(values))


def test_a_spike_of_one_width_is_shared_out() -> None:
    costs = MeasuredCosts(
        source="calibration", draft_ns=10.0, widths=(1, 2, 4), target_ns=(100.0, 300.0, 100.0)
    )
    assert monotone(costs).target_ns == (100.0, 200.0, 200.0)
    assert (monotone(costs).c, monotone(costs).widths) == (0.1, (1, 2, 4))
