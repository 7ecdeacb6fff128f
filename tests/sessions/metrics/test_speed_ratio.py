"""The factors of a ratio of speeds multiply to it, and the parts of a step add up."""

import pytest
from msgspec.structs import replace

from engine.wire.events import Event, SpansMeasured, StepCommitted
from sessions.metrics.speed_ratio import MeanStep, SpeedRatio, mean_step, speed_ratio
from sessions.metrics.summary import summarise
from sessions.snapshot import Snapshot
from tests.sessions.scripted import baseline, folded, speculative
from tests.support.event_script import EventScript


def steps(
    *, drafted: int = 4, accepted: int = 2, n: int = 10, together: int = 1, spans: int = 1000
) -> list[Event]:
    """Sequences decoded ``together``, the first ``spans`` steps measured."""
    script = EventScript(n_blocks=512)
    ids = [script.sequence("ab") for _ in range(together)]
    for _ in range(n):
        for each in ids:
            script.step(each, drafted=drafted, accepted=accepted, more=each != ids[-1])
    script.finish()
    measured = 0
    kept: list[Event] = []
    for event in script.events:
        measured += isinstance(event, SpansMeasured)
        if not isinstance(event, SpansMeasured) or measured <= spans:
            kept.append(event)
    return kept


def mean(snapshot: Snapshot) -> MeanStep:
    found = mean_step(snapshot)
    assert found is not None
    return found


def assert_exact(found: SpeedRatio, one: MeanStep, other: MeanStep) -> None:
    product = found.tokens_per_step * found.sequences_per_step / found.step_time
    assert product == pytest.approx(found.value, rel=1e-12)
    assert found.parts is not None
    parts_ms = found.parts.draft_ms + found.parts.verify_ms + found.parts.rest_ms
    assert parts_ms == pytest.approx(one.step_ms - other.step_ms, abs=1e-12)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (speculative(), baseline()),
        (baseline(), speculative()),
        (folded(steps(together=3)), folded(steps(accepted=4))),
        (folded(steps(drafted=1, accepted=0)), folded(steps(drafted=8, accepted=7, together=2))),
    ],
)
def test_the_factors_are_exact(one: Snapshot, other: Snapshot) -> None:
    mine, theirs = mean(one), mean(other)
    found = speed_ratio(mine, theirs)
    assert_exact(found, mine, theirs)
    speeds = [summarise(each)["tokens_per_second"] for each in (one, other)]
    assert mine.tokens_per_second == pytest.approx(speeds[0], rel=1e-12)
    assert speeds[0] is not None
    assert speeds[1] is not None
    assert found.value == pytest.approx(speeds[0] / speeds[1], rel=1e-12)


def test_a_session_against_itself_is_one_throughout() -> None:
    one = mean(speculative())
    found = speed_ratio(one, one)
    factors = (found.value, found.tokens_per_step, found.sequences_per_step, found.step_time)
    assert factors == (1.0,) * 4
    assert found.parts is not None
    assert (found.parts.draft_ms, found.parts.verify_ms, found.parts.rest_ms) == (0.0,) * 3


def test_sequences_decoded_together_are_a_factor_of_their_own() -> None:
    found = speed_ratio(mean(folded(steps(together=3))), mean(folded(steps())))
    assert found.sequences_per_step == 3.0
    assert found.tokens_per_step == 1.0


def test_the_parts_are_known_where_all_steps_but_the_newest_were_measured() -> None:
    assert mean(folded(steps(n=10, spans=9))).parts is not None
    half = mean(folded(steps(n=10, spans=5)))
    assert half.parts is None
    assert mean(folded(steps(spans=0))).parts is None
    assert speed_ratio(half, mean(speculative())).parts is None


def test_two_clocks_are_not_subtracted() -> None:
    timed = [
        replace(event, gpu_ns=(1000,) * len(event.names))
        if isinstance(event, SpansMeasured)
        else event
        for event in steps()
    ]
    on_device, on_host = mean(folded(timed)), mean(folded(steps()))
    assert on_device.parts is not None
    assert on_device.parts.clock == "device"
    assert speed_ratio(on_device, on_host).parts is None
    assert speed_ratio(on_device, on_device).parts is not None


def test_nothing_committed_or_no_time_is_no_step() -> None:
    assert mean_step(folded([])) is None
    timeless = [
        replace(event, step_ns=0) if isinstance(event, StepCommitted) else event
        for event in steps(n=2)
    ]
    assert mean_step(folded(timeless)) is None
