"""Beginning and end of steps: their span's, else their commit's, else as far as heard of."""

import numpy as np

from engine.wire.events import DraftProposed, SpansMeasured, StepCommitted
from sessions.metrics.step_times import (
    first_and_last_step,
    step_bounds,
    steps_within,
    usual_step_ns,
)
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import TICK_NS, EventScript


def test_a_measured_step_is_as_long_as_its_span() -> None:
    snapshot = snapshot_of(drafted([1, 2], 2, with_spans=True))
    spans = snapshot.spans
    is_step = spans["name"] == spans.code("step")
    times = steps_within(snapshot, 0, snapshot.t_ns)
    assert times.step.tolist() == [0, 1]
    assert times.start_ns.tolist() == spans["start_ns"][is_step].tolist()
    ends = spans["start_ns"][is_step] + spans["host_ns"][is_step]
    assert times.end_ns.tolist() == ends.tolist()
    assert not times.is_open


def test_a_step_without_spans_ends_with_its_last_commit() -> None:
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    script.step(0, more=True)
    script.step(1)
    events = [event for event in script.events if not isinstance(event, SpansMeasured)]
    commits = [event for event in events if isinstance(event, StepCommitted)]
    times = steps_within(snapshot_of(events), 0, 10**12)
    assert times.step.tolist() == [0]
    assert times.start_ns.tolist() == [commits[0].t_ns - commits[0].step_ns]
    assert times.end_ns.tolist() == [commits[1].t_ns]


def test_an_open_step_reaches_as_far_as_it_was_heard_of() -> None:
    events = drafted([1, 2], 2, with_spans=True)
    cut = max(i for i, event in enumerate(events) if isinstance(event, DraftProposed))
    snapshot = snapshot_of(events[: cut + 1])
    times = steps_within(snapshot, 0, snapshot.t_ns + 1)
    assert times.step.tolist() == [0, 1]
    assert times.is_open
    assert times.end_ns[-1] == events[cut].t_ns
    assert times.start_ns[-1] == snapshot.steps["t_ns"][0]
    assert step_bounds(snapshot, 1) == (int(times.start_ns[1]), int(times.end_ns[1]))


def test_places_of_steps() -> None:
    times = steps_within(snapshot_of(drafted([1, 2, 0], 2)), 0, 10**12)
    assert times.place_of(np.array([2, 7, 0])).tolist() == [2, -1, 0]
    nothing = steps_within(snapshot_of([]), 0, 1)
    assert nothing.place_of(np.array([0])).tolist() == [-1]


def test_bounds_of_one_step() -> None:
    snapshot = snapshot_of(drafted([1] * 6, 2, with_spans=True))
    times = steps_within(snapshot, 0, snapshot.t_ns)
    assert step_bounds(snapshot, 3) == (int(times.start_ns[3]), int(times.end_ns[3]))
    assert step_bounds(snapshot, 99) is None
    assert step_bounds(snapshot_of([]), 0) is None


def test_first_and_last_step_of_a_time() -> None:
    snapshot = snapshot_of(drafted([1] * 6, 2, with_spans=True))
    times = steps_within(snapshot, 0, snapshot.t_ns)
    assert first_and_last_step(snapshot, 0, snapshot.t_ns) == (0, 5)
    window = (int(times.start_ns[2]) + 1, int(times.start_ns[4]) + 1)
    assert first_and_last_step(snapshot, *window) == (2, 4)
    assert first_and_last_step(snapshot, snapshot.t_ns + 1, snapshot.t_ns + 9) is None
    assert first_and_last_step(snapshot_of([]), 0, 1) is None


def test_the_usual_step_is_the_median_from_end_to_end() -> None:
    snapshot = snapshot_of(drafted([1] * 6, 2, with_spans=True))
    assert usual_step_ns(snapshot) == int(np.median(np.diff(snapshot.steps["t_ns"])))
    one = snapshot_of(drafted([1], 2))
    assert usual_step_ns(one) == int(one.steps["step_ns"][0]) >= TICK_NS
    assert usual_step_ns(snapshot_of([])) is None
