"""Speed and acceptance as they went along; time of steps counted once."""

import numpy as np
import pytest

from engine.wire.events import StepCommitted
from sessions.metrics.over_time import (
    acceptance_over_time,
    engine_steps,
    throughput_over_time,
    tokens_per_second,
)
from sessions.metrics.selection import Selection
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import EventScript


def test_steps_decoded_together_take_their_time_once() -> None:
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    script.step(0, drafted=2, accepted=2, more=True)
    script.step(1, drafted=2, accepted=0)
    first, second = [event for event in script.events if isinstance(event, StepCommitted)]
    assert first.step_ns < second.step_ns
    snapshot = snapshot_of(script.events)
    steps = engine_steps(snapshot)
    assert steps.ns.tolist() == [second.step_ns]
    assert steps.n_committed.tolist() == [4]
    assert steps.n_sequences.tolist() == [2]
    assert steps.t_ns.tolist() == [second.t_ns]
    assert tokens_per_second(snapshot) == pytest.approx(4e9 / second.step_ns)
    assert tokens_per_second(snapshot, Selection(0)) == pytest.approx(3e9 / first.step_ns)


def test_acceptance_over_the_last_drafts() -> None:
    snapshot = snapshot_of(drafted([0, 2, 4, 1], 4))
    series = acceptance_over_time(snapshot, window_drafts=2)
    assert series.values.tolist() == [0 / 1, 2 / 4, 6 / 7, 5 / 6]
    assert series.t_ns.tolist() == snapshot.verdicts["t_ns"].tolist()


def test_steps_without_a_draft_give_no_point() -> None:
    script = EventScript()
    script.sequence("ab")
    for n_drafted, n_accepted in ((0, 0), (2, 1), (0, 0)):
        script.step(drafted=n_drafted, accepted=n_accepted)
    series = acceptance_over_time(snapshot_of(script.events))
    assert series.values.tolist() == [0.5]


def test_throughput_over_the_last_steps() -> None:
    snapshot = snapshot_of(drafted([1, 3], 3))
    step_ns = snapshot.steps["step_ns"].tolist()
    series = throughput_over_time(snapshot, window_steps=1)
    assert series.values == pytest.approx([2e9 / step_ns[0], 4e9 / step_ns[1]])
    both = throughput_over_time(snapshot, window_steps=2)
    assert both.values[-1] == pytest.approx(6e9 / sum(step_ns))


def test_an_empty_session_has_no_points() -> None:
    snapshot = snapshot_of([])
    assert tokens_per_second(snapshot) is None
    assert len(throughput_over_time(snapshot).values) == 0
    assert len(acceptance_over_time(snapshot).values) == 0
    assert engine_steps(snapshot).total_ns == 0
    assert np.isfinite(throughput_over_time(snapshot).values).all()
