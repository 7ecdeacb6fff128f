"""Moments to go to."""

from engine.wire.events import DraftProposed, SpansMeasured, StepCommitted
from sessions.metrics.landmarks import (
    next_rejection,
    previous_rejection,
    step_moment,
    worst_step,
)
from sessions.playhead import step_ends
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import EventScript


def test_rejections_are_gone_to_one_by_one() -> None:
    snapshot = snapshot_of(drafted([2, 0, 2, 1, 2], 2, with_spans=True))
    ends = step_ends(snapshot).tolist()
    assert next_rejection(snapshot, 0) == ends[1]
    assert next_rejection(snapshot, ends[1]) == ends[3]
    assert next_rejection(snapshot, ends[1] - 1) == ends[1]
    assert next_rejection(snapshot, ends[3]) is None
    assert previous_rejection(snapshot, ends[4]) == ends[3]
    assert previous_rejection(snapshot, ends[3]) == ends[1]
    assert previous_rejection(snapshot, ends[1]) is None


def test_a_step_of_several_sequences_is_gone_to_once() -> None:
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    for _ in range(2):
        script.step(0, drafted=2, accepted=0, more=True)
        script.step(1, drafted=2, accepted=1)
    snapshot = snapshot_of(script.events)
    ends = step_ends(snapshot).tolist()
    assert next_rejection(snapshot, 0) == ends[0]
    assert next_rejection(snapshot, ends[0]) == ends[1]


def test_plain_steps_and_whole_drafts_hold_no_rejection() -> None:
    snapshot = snapshot_of(drafted([2, 2], 2))
    assert next_rejection(snapshot, 0) is None
    assert previous_rejection(snapshot, snapshot.t_ns) is None
    assert next_rejection(snapshot_of([]), 0) is None


def test_the_worst_step_took_longest_per_token() -> None:
    snapshot = snapshot_of(drafted([3, 1, 0, 2], 3, with_spans=True))
    costs = snapshot.steps["step_ns"] / snapshot.steps["n_committed"]
    worst = worst_step(snapshot)
    assert worst is not None
    assert worst.step == costs.argmax() == 2
    assert worst.ns == snapshot.steps["step_ns"][2]
    assert worst.n_committed == 1
    assert worst_step(snapshot_of([])) is None


def test_the_moment_of_a_step() -> None:
    events = drafted([1, 2], 2, with_spans=True)
    measured = [event.t_ns for event in events if isinstance(event, SpansMeasured)]
    assert [step_moment(snapshot_of(events), step) for step in (0, 1)] == measured
    committed = [event.t_ns for event in events if isinstance(event, StepCommitted)]
    without = snapshot_of([event for event in events if not isinstance(event, SpansMeasured)])
    assert [step_moment(without, step) for step in (0, 1)] == committed
    cut = max(i for i, event in enumerate(events) if isinstance(event, DraftProposed))
    assert step_moment(snapshot_of(events[: cut + 1]), 1) == events[cut].t_ns
    assert step_moment(without, 9) is None
