"""Lanes over time: exact to the nanosecond, whatever the columns."""

import time

import numpy as np
import pytest

from engine.wire.events import EngineState, KernelsRecorded
from sessions.metrics.lanes import (
    Grid,
    Lane,
    busy_in_columns,
    grid_over,
    lanes_within,
    pause_lane,
    pauses,
    rows_within,
)
from sessions.snapshot import Snapshot
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import TICK_NS, EventScript
from tests.support.long_session import long_snapshot


def lane(lanes: tuple[Lane, ...], key: str) -> Lane:
    return next(lane for lane in lanes if lane.key == key)


@pytest.mark.parametrize(("start", "end", "n"), [(0, 1000, 10), (37, 4096, 3), (5, 6, 100)])
def test_a_grid_covers_its_time_with_about_so_many_columns(start: int, end: int, n: int) -> None:
    grid = grid_over(start, end, n)
    edges = grid.edges_ns
    assert edges[0] <= start
    assert edges[-1] == grid.end_ns >= end
    assert grid.column_ns & (grid.column_ns - 1) == 0
    assert edges[0] % grid.column_ns == 0
    assert grid.n <= n + 1


def test_pieces_are_divided_at_the_edges() -> None:
    starts, ends = np.array([5, 20, 38]), np.array([15, 28, 41])
    busy = busy_in_columns(starts, ends, np.array([0, 10, 20, 30, 40, 50]))
    assert busy.tolist() == [5, 5, 8, 2, 1]


def test_what_overlaps_is_counted_once() -> None:
    starts, ends = np.array([12, 0, 4]), np.array([14, 10, 8])  # in any order
    assert busy_in_columns(starts, ends, np.array([0, 5, 20])).tolist() == [5, 7]


def test_columns_agree_with_counting_every_nanosecond() -> None:
    chance = np.random.default_rng(3)
    starts = chance.integers(0, 900, 60)
    ends = starts + chance.integers(0, 30, 60)
    moments = np.zeros(1000, bool)
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        moments[start:end] = True
    edges = np.arange(0, 1001, 8)
    assert busy_in_columns(starts, ends, edges).tolist() == [
        int(moments[edge : edge + 8].sum()) for edge in edges[:-1].tolist()
    ]


def test_nothing_is_nowhere() -> None:
    none = np.zeros(0, np.int64)
    assert busy_in_columns(none, none, np.array([0, 1, 2])).tolist() == [0, 0]


def test_columns_and_bars_hold_the_same_time() -> None:
    snapshot = snapshot_of(drafted([0, 2, 4, 1, 3], 4, with_spans=True))
    grid = grid_over(0, snapshot.t_ns, 50)
    single, columns = (lanes_within(snapshot, grid, max_bars=n) for n in (100, 0))
    spans = snapshot.spans
    for key in ("draft", "draft_forward", "verify", "sample", "commit"):
        told = int(spans["host_ns"][spans["name"] == spans.code(key)].sum())
        bars, busy_ns = lane(single, key).bars, lane(columns, key).busy_ns
        assert bars is not None
        assert busy_ns is not None
        assert int((bars.end_ns - bars.start_ns).sum()) == int(busy_ns.sum()) == told > 0
        assert lane(single, key).n == lane(columns, key).n == 5
    prefill = lane(single, "prefill")
    assert prefill.bars is not None
    assert prefill.bars.step.tolist() == [-1, -1]


def test_a_window_holds_what_reaches_into_it() -> None:
    snapshot = snapshot_of(drafted([1] * 9, 2, with_spans=True))
    spans = snapshot.spans
    start, end = int(spans["start_ns"][20]) + 1, int(spans["start_ns"][32]) + 1
    rows = rows_within(spans, start, end)
    is_within = (spans["start_ns"] < end) & (spans["start_ns"] + spans["host_ns"] > start)
    wanted = np.flatnonzero(is_within)
    assert set(wanted.tolist()) <= set(range(rows.start, rows.stop))
    assert rows.stop - rows.start <= len(wanted) + 12


def with_kernels() -> Snapshot:
    script = EventScript()
    script.sequence()
    step = script.step()
    script.say(
        KernelsRecorded(
            step=step,
            names=("gemm", "softmax", "copy"),
            streams=(7, 7, 8),
            start_ns=(10 * TICK_NS, 12 * TICK_NS, 11 * TICK_NS),
            duration_ns=(2 * TICK_NS, TICK_NS, 2 * TICK_NS),
            span_indexes=(0, 0, 0),
        )
    )
    return snapshot_of(script.events)


def test_kernels_have_a_lane_where_they_were_recorded() -> None:
    snapshot = with_kernels()
    grid = Grid(0, TICK_NS, 30)
    bars = lane(lanes_within(snapshot, grid, max_bars=9), "kernels").bars
    assert bars is not None
    assert bars.names == ("gemm", "softmax", "copy")
    busy_ns = lane(lanes_within(snapshot, grid, max_bars=2), "kernels").busy_ns
    assert busy_ns is not None
    assert np.flatnonzero(busy_ns).tolist() == [10, 11, 12]
    assert int(busy_ns.sum()) == 3 * TICK_NS
    without = snapshot_of(drafted([1], 2, with_spans=True))
    assert "kernels" not in {lane.key for lane in lanes_within(without, grid, max_bars=9)}


def test_pauses_last_until_the_next_state() -> None:
    script = EventScript()
    script.sequence()
    script.state(EngineState.PAUSED)
    first = script.events[-1].t_ns
    script.state(EngineState.RUNNING)
    script.step()
    script.state(EngineState.PAUSED)
    second = script.events[-1].t_ns
    script.say(script.events[-1].__class__(state=EngineState.PAUSED, detail="after the draft"))
    snapshot = snapshot_of(script.events)
    starts, ends = pauses(snapshot)
    assert starts.tolist() == [first, second, second + TICK_NS]
    assert ends.tolist() == [first + TICK_NS, second + TICK_NS, snapshot.t_ns]
    shown = pause_lane(snapshot, Grid(0, first, 1), max_bars=9)
    assert shown.n == 0
    columns = pause_lane(snapshot, Grid(0, snapshot.t_ns, 1), max_bars=1).busy_ns
    assert columns is not None
    assert columns.tolist() == [2 * TICK_NS]


def test_pauses_of_a_session_that_has_said_nothing() -> None:
    starts, ends = pauses(snapshot_of([]))
    assert len(starts) == len(ends) == 0


def test_a_long_session_is_exact_and_its_windows_are_quick() -> None:
    snapshot = long_snapshot(100_000)
    spans = snapshot.spans
    whole = grid_over(0, snapshot.t_ns, 1000)
    begun = time.thread_time()
    lanes = lanes_within(snapshot, whole, max_bars=400)
    whole_s = time.thread_time() - begun
    verify = lane(lanes, "verify").busy_ns
    assert verify is not None
    assert int(verify.sum()) == int(spans["host_ns"][spans["name"] == spans.code("verify")].sum())
    few = grid_over(snapshot.t_ns // 2, snapshot.t_ns // 2 + snapshot.t_ns // 5000, 1000)
    begun = time.thread_time()
    for _ in range(10):
        lanes_within(snapshot, few, max_bars=400)
    # A window of a five-thousandth looks at its own rows alone.
    assert (time.thread_time() - begun) / 10 < max(whole_s / 5, 0.005)
    assert whole_s < 1.0
