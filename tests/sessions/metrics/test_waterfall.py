"""The way from ideal tokens to the measured speed-up, which adds up."""

import pytest

from sessions.metrics.decoding_costs import decoding_costs
from sessions.metrics.time_split import time_split
from sessions.metrics.waterfall import waterfall
from tests.sessions.played import drafted, snapshot_of

KEYS = ["pattern", "draft", "verify_width", "sampling", "bookkeeping"]


def test_against_a_bare_forward_it_adds_up_to_what_was_measured() -> None:
    events = drafted([2, 4, 4, 0], 4, draft_ns=10, target_ns=[1_000_000] * 5, with_spans=True)
    snapshot = snapshot_of(events)
    split = time_split(snapshot)
    result = waterfall(snapshot)
    assert split is not None
    assert result is not None
    assert result.baseline == "target forward"
    assert [change.key for change in result.changes] == KEYS
    costs = decoding_costs(snapshot)
    assert costs is not None
    assert result.measured == pytest.approx(3.5 * costs.plain_ns / (split.whole_ns / split.n_steps))
    total = result.ideal + sum(change.delta for change in result.changes)
    assert total == pytest.approx(result.measured, rel=1e-12)


def test_against_a_session_costs_that_both_have_are_no_loss() -> None:
    plain = snapshot_of(drafted([0] * 4, 0, with_spans=True))
    result = waterfall(plain, plain)
    assert result is not None
    assert (result.baseline, result.ideal, result.measured) == ("session", 1.0, 1.0)
    assert [change.delta for change in result.changes] == [0.0] * 5


def test_each_cost_takes_something_away() -> None:
    plain = snapshot_of(drafted([0] * 4, 0, with_spans=True))
    fast = snapshot_of(drafted([3] * 4, 4, with_spans=True))
    result = waterfall(fast, plain)
    assert result is not None
    after = [change.after for change in result.changes]
    assert after[0] == 4.0
    assert after[1] < 4.0
    assert result.measured == after[-1]


def test_without_times_there_is_none() -> None:
    timed = snapshot_of(drafted([1], 2, with_spans=True))
    assert waterfall(timed) is None  # no cost of a forward
    assert waterfall(timed, snapshot_of([])) is None
    assert waterfall(snapshot_of([])) is None
