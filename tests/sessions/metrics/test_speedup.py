"""Predicted and measured speed-ups."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from engine.theory.speedup import expected_speedup
from engine.wire.events import Event, StepCommitted
from sessions.metrics.speedup import (
    draft_lengths,
    expected_tokens,
    measured_speedup,
    predicted_speedup,
)
from sessions.snapshot import Snapshot
from tests.sessions.played import drafted, iid_lengths, snapshot_of
from tests.support.event_script import EventScript


def test_the_prediction_is_the_formulas() -> None:
    events = drafted([2, 4, 1, 4], 4, draft_ns=10, target_ns=[100, 104, 108, 112, 120])
    predicted = predicted_speedup(snapshot_of(events))
    assert predicted is not None
    assert predicted.acceptance_rate == 11 / 13
    assert predicted.value == pytest.approx(expected_speedup(11 / 13, 4, c=0.1, v=1.2))
    assert predicted.tokens_per_step / predicted.cost == predicted.value
    assert predicted.costs.source == "calibration"


@pytest.mark.parametrize(
    ("gamma", "speedup"), [(1, 1.71), (2, 2.22), (4, 2.80), (8, 3.09), (16, 2.72)]
)
def test_published_values_at_alpha_08(gamma: int, speedup: float) -> None:
    events = drafted(
        iid_lengths(0.8, gamma, 500), gamma, draft_ns=50, target_ns=[1000] * (gamma + 1)
    )
    predicted = predicted_speedup(snapshot_of(events))
    assert predicted is not None
    assert predicted.value == pytest.approx(speedup, abs=0.015)


def test_drafts_of_several_lengths_are_averaged() -> None:
    script = EventScript()
    script.sequence("ab")
    for n_drafted, n_accepted in ((0, 0), (2, 1), (2, 2)):
        script.step(drafted=n_drafted, accepted=n_accepted)
    assert draft_lengths(snapshot_of(script.events)) == {0: 1, 2: 2}
    assert expected_tokens(0.5, {0: 1, 2: 2}) == pytest.approx((1 + 2 * 1.75) / 3)


def test_nothing_tested_or_nothing_timed_predicts_nothing() -> None:
    assert predicted_speedup(snapshot_of(drafted([1], 2))) is None
    assert predicted_speedup(snapshot_of(drafted([0], 0, draft_ns=1, target_ns=[9]))) is None
    assert predicted_speedup(snapshot_of([])) is None


def timed(prompts: Sequence[str], step_ns: Sequence[int], *, accepted: int) -> Snapshot:
    """Each prompt one sequence of two steps, each ``step_ns`` long."""
    script = EventScript()
    for index, prompt in enumerate(prompts):
        script.sequence(prompt)
        for _ in range(2):
            script.step(index, drafted=accepted, accepted=accepted)
    events: list[Event] = [
        replace(event, step_ns=step_ns[event.sequence_id])
        if isinstance(event, StepCommitted)
        else event
        for event in script.events
    ]
    return snapshot_of(events)


def test_prompts_are_compared_with_themselves() -> None:
    plain = timed(["a", "b", "other"], [100, 200, 5], accepted=0)
    fast = timed(["b", "a"], [300, 100], accepted=1)  # two tokens a step
    measured = measured_speedup(fast, plain)
    assert measured is not None
    assert {pair.prompt: pair.ratio for pair in measured.prompts} == {
        "b": pytest.approx(200 / 150),
        "a": pytest.approx(100 / 50),
    }
    assert measured.value == pytest.approx((4 / 3 * 2) ** 0.5)
    assert measured.total == pytest.approx(150 / 100)
    assert measured.low is not None
    assert measured.high is not None
    assert 4 / 3 <= measured.low + 1e-12 <= measured.value <= measured.high <= 2 + 1e-12
    assert measured == measured_speedup(fast, plain)


def test_one_prompt_has_no_interval_and_none_has_no_speedup() -> None:
    plain, fast = timed(["a"], [100], accepted=0), timed(["a"], [100], accepted=3)
    measured = measured_speedup(fast, plain)
    assert measured is not None
    assert (measured.value, measured.low, measured.high) == (pytest.approx(4.0), None, None)
    assert measured_speedup(fast, timed(["z"], [100], accepted=0)) is None


def test_a_prompt_run_twice_is_two_pairs() -> None:
    plain, fast = timed(["a", "a"], [100, 120], accepted=0), timed(["a", "a"], [50, 40], accepted=0)
    measured = measured_speedup(fast, plain)
    assert measured is not None
    assert [pair.ratio for pair in measured.prompts] == [pytest.approx(2.0), pytest.approx(3.0)]


def test_a_sequence_that_was_set_back_is_one_sequence() -> None:
    script = EventScript()
    script.sequence("a")
    script.step(drafted=0, accepted=0)
    script.set_back()
    script.resume()
    script.step(drafted=0, accepted=0)
    snapshot = snapshot_of(script.events)
    measured = measured_speedup(snapshot, snapshot)
    assert measured is not None
    assert len(measured.prompts) == 1
    assert measured.value == 1.0
