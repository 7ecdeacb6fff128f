"""Whether the calibration still describes the decoding."""

import pytest

from engine.wire.events import CalibrationMeasured
from sessions.findings import find
from sessions.metrics.doubt import MIN_STEPS, calibration_doubt
from sessions.snapshot import Snapshot
from tests.sessions.scripted import folded
from tests.support.event_script import EventScript


def decoded(*, verify_ns: tuple[int, ...] = (1,) * 5, n_steps: int = 60) -> Snapshot:
    """Steps whose verification takes a quarter of their time; calibrated at ``verify_ns`` a width,
    from 1 to 5."""
    script = EventScript(n_blocks=400)
    script.say(
        CalibrationMeasured(
            context_length=8,
            draft_forward_ns=100_000,
            target_widths=(1, 2, 3, 4, 5),
            target_forward_ns=verify_ns,
            elapsed_ns=1,
        )
    )
    script.sequence("ab")
    for _ in range(n_steps):
        script.step(drafted=4, accepted=2)
    script.finish()
    return folded(script.events)


def mean_verify_ns(snapshot: Snapshot) -> int:
    spans = snapshot.spans
    verify = spans["host_ns"][spans["name"] == spans.code("verify")]
    return round(float(verify.mean()))


def test_a_calibration_that_agrees_is_not_doubted() -> None:
    took = mean_verify_ns(decoded())
    assert calibration_doubt(decoded(verify_ns=(took,) * 5)) is None


@pytest.mark.parametrize("factor", [3, 1 / 3])
def test_decoding_much_slower_or_quicker_than_calibrated_is_told(factor: float) -> None:
    took = mean_verify_ns(decoded())
    doubt = calibration_doubt(decoded(verify_ns=(round(took * factor),) * 5))
    assert doubt is not None
    assert doubt.drift == pytest.approx(1 / factor, rel=1e-3)


def test_a_wider_forward_timed_quicker_than_a_narrow_one_is_told() -> None:
    took = mean_verify_ns(decoded())
    doubt = calibration_doubt(decoded(verify_ns=(took * 2, took, took, took, took)))
    assert doubt is not None
    assert "quicker" in doubt.sentence


def test_nothing_is_said_of_few_steps_or_without_a_calibration() -> None:
    assert calibration_doubt(decoded(verify_ns=(9,) * 5, n_steps=MIN_STEPS - 1)) is None
    assert calibration_doubt(folded(EventScript().events)) is None


def test_advice_from_doubtful_costs_is_marked() -> None:
    found = find(decoded(verify_ns=(9_000, 5_000, 5_000, 5_000, 5_000)))
    doubted = {finding.key for finding in found if finding.is_doubted}
    sure = {finding.key for finding in found if not finding.is_doubted}
    assert doubted == {"drafting_does_not_pay"}
    assert "timing_doubtful" in sure
    assert [each.words.startswith("in doubt: ") for each in found if each.is_doubted] == [True]
