"""Speed and acceptance as they went along; time of steps counted once."""

import numpy as np
import pytest
from msgspec.structs import replace

from engine.wire.events import DraftVerified, StepCommitted
from sessions.metrics.over_time import (
    acceptance_history,
    acceptance_over_time,
    engine_steps,
    throughput_over_time,
    tokens_per_second,
    tokens_per_step_over_time,
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


def test_acceptance_stands_beside_what_the_distributions_give() -> None:
    events = [
        replace(event, overlaps=(0.1, 0.2, 0.9, 0.9) if event.n_accepted == 1 else (0.5,) * 4)
        if isinstance(event, DraftVerified)
        else event
        for event in drafted([1, 4, 1], 4)
    ]
    snapshot = snapshot_of(events)
    history = acceptance_history(snapshot, window_drafts=2)
    # A draft of which one was accepted had two tokens tested: the overlaps 0.1 and 0.2.
    assert history.expected == pytest.approx([0.3 / 2, 2.3 / 6, 2.3 / 6])
    assert history.observed.tolist() == [1 / 2, 5 / 6, 5 / 6]
    assert history.so_far.tolist() == [1 / 2, 5 / 6, 6 / 8]
    assert history.step.tolist() == [0, 1, 2]
    assert (
        history.observed.tolist() == acceptance_over_time(snapshot, window_drafts=2).values.tolist()
    )


def test_the_history_of_a_sequence_leaves_the_others_and_plain_steps_out() -> None:
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    script.step(0, drafted=4, accepted=4, more=True)
    script.step(1, drafted=2, accepted=0)
    script.step(1, drafted=0, accepted=0)
    script.step(1, drafted=3, accepted=1)
    history = acceptance_history(snapshot_of(script.events), Selection(1))
    assert history.step.tolist() == [0, 2]
    assert history.so_far.tolist() == [0.0, 1 / 3]
    assert history.expected == pytest.approx([0.7, 0.7])


def test_tokens_per_step_are_per_sequence() -> None:
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    script.step(0, drafted=4, accepted=4, more=True)
    script.step(1, drafted=4, accepted=0)
    script.step(0, drafted=4, accepted=2)
    series = tokens_per_step_over_time(snapshot_of(script.events), window_steps=2)
    assert series.values.tolist() == [6 / 2, 9 / 3]


def test_an_empty_session_has_no_points() -> None:
    snapshot = snapshot_of([])
    assert tokens_per_second(snapshot) is None
    assert len(throughput_over_time(snapshot).values) == 0
    assert len(acceptance_over_time(snapshot).values) == 0
    assert len(acceptance_history(snapshot).observed) == 0
    assert len(tokens_per_step_over_time(snapshot).values) == 0
    assert engine_steps(snapshot).total_ns == 0
    assert np.isfinite(throughput_over_time(snapshot).values).all()
