"""Sentences about a session, their numbers, and silence where the evidence is thin."""

import re
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from engine.wire.events import (
    CalibrationMeasured,
    DraftVerified,
    Event,
    SpansMeasured,
    StepCommitted,
)
from sessions.findings import (
    MIN_STEPS,
    MIN_TESTED,
    Finding,
    MissingEvidence,
    Severity,
    find,
    gamma_to_try,
    missing_evidence,
)
from sessions.metrics.selection import Selection
from sessions.metrics.waterfall import waterfall
from sessions.snapshot import Snapshot
from sessions.what_if import gamma_what_if
from tests.sessions.played import drafted, iid_lengths, snapshot_of
from tests.support.event_script import EventScript


def found(events: Sequence[Event], **options: Snapshot) -> dict[str, Finding]:
    findings = find(snapshot_of(events), **options)
    order = list(Severity)
    gravities = [order.index(finding.severity) for finding in findings]
    assert gravities == sorted(gravities, reverse=True)
    for finding in findings:
        assert finding.sentence.endswith(".")
        assert not re.search(r"nan|inf\b|None", finding.sentence)
    return {finding.key: finding for finding in findings}


def with_overlap(events: Sequence[Event], overlap: float) -> list[Event]:
    return [
        replace(event, overlaps=(overlap,) * len(event.overlaps))
        if isinstance(event, DraftVerified)
        else event
        for event in events
    ]


def test_little_evidence_is_no_finding() -> None:
    assert found([]) == {}
    events = drafted([0] * (MIN_TESTED - 1), 2, draft_ns=900, target_ns=[1000] * 3)
    assert found(events) == {}


def test_another_gamma_that_is_faster_is_named() -> None:
    events = drafted(iid_lengths(0.5, 8, 200), 8, draft_ns=100, target_ns=[1000] * 17)
    finding = found(events)["other_gamma"]
    assert finding.severity is Severity.ADVICE
    assert finding.values["best_gamma"] == 2
    assert finding.values["gain"] == pytest.approx((1.75 / 1.2) / (1.996 / 1.8) - 1, abs=0.02)
    assert "gamma 2 would be" in finding.sentence


def test_a_gamma_beyond_those_seen_is_worth_a_try_and_promises_nothing() -> None:
    events = drafted(iid_lengths(0.8, 2, 200), 2, draft_ns=50, target_ns=[1000] * 17)
    finding = found(events)["other_gamma"]  # by the formula 8, and 39 % faster
    assert finding.severity is Severity.ADVICE
    assert finding.values["try_gamma"] == 4
    assert finding.values["longest_seen"] == 2
    assert "gain" not in finding.values
    assert finding.sentence == (
        "Longer drafts may pay: try gamma 4. How much they gain is not known: the drafts of this "
        "run tell of gammas up to 2."
    )


@pytest.mark.parametrize(("gamma", "draft_ns", "longer"), [(4, 90, 6), (3, 60, 6), (5, 50, 8)])
def test_the_gamma_to_try_is_no_more_than_twice_the_longest_nor_past_the_best(
    gamma: int, draft_ns: int, longer: int
) -> None:
    events = drafted(iid_lengths(0.8, gamma, 300), gamma, draft_ns=draft_ns, target_ns=[1000] * 17)
    assert found(events)["other_gamma"].values["try_gamma"] == longer


def test_no_longer_draft_is_tried_for_a_hair_on_thin_evidence_or_before_a_seen_one() -> None:
    def to_try(lengths: Sequence[int], gamma: int, draft_ns: int, at: float) -> int | None:
        events = drafted(lengths, gamma, draft_ns=draft_ns, target_ns=[1000] * 17)
        what_if = gamma_what_if(snapshot_of(events))
        assert what_if is not None
        assert what_if.best.is_extrapolated
        return gamma_to_try(what_if, at)

    assert to_try(iid_lengths(0.8, 2, 200), 2, 50, at=2.0) == 4
    assert to_try(iid_lengths(0.8, 2, 10), 2, 50, at=2.0) is None
    assert to_try(iid_lengths(0.8, 2, 200), 2, 50, at=1.0) is None  # 2 is better
    assert to_try(iid_lengths(0.75, 4, 300), 4, 80, at=4.0) is None


def test_a_gamma_that_is_advised_is_not_hinted_at_besides() -> None:
    events = drafted(iid_lengths(0.97, 2, 300), 2, draft_ns=50, target_ns=[1000] * 17)
    findings = found(events)
    assert "other_gamma" in findings
    assert "acceptance_high" not in findings


def test_the_best_gamma_is_not_advised_against() -> None:
    events = drafted(iid_lengths(0.8, 8, 300), 8, draft_ns=50, target_ns=[1000] * 17)
    assert "other_gamma" not in found(events)
    assert "drafting_does_not_pay" not in found(events)


def test_drafting_that_does_not_pay() -> None:
    events = with_overlap(
        drafted(iid_lengths(0.3, 4, 200), 4, draft_ns=600, target_ns=[1000] * 5), 0.3
    )
    findings = found(events)
    finding = findings["drafting_does_not_pay"]
    assert finding.severity is Severity.WARNING
    assert finding.values["c"] == 0.6
    assert findings["acceptance_low"].values["acceptance_rate"] == pytest.approx(0.3, abs=0.01)


def test_a_baseline_that_is_slower_has_the_last_word() -> None:
    def timed(step_ns: int, n_drafted: int) -> list[Event]:
        script = EventScript()
        script.say(
            CalibrationMeasured(
                context_length=0, draft_forward_ns=600,
                target_widths=(1, 2, 3, 4, 5), target_forward_ns=(1000,) * 5,
            )
        )  # fmt: skip
        for index in range(4):
            script.sequence("abcd"[index])
            for _ in range(15):
                script.step(index, drafted=n_drafted, accepted=0)
        return [
            replace(event, step_ns=step_ns) if isinstance(event, StepCommitted) else event
            for event in script.events
            if not isinstance(event, SpansMeasured)
        ]

    slow = timed(50, 4)
    assert "drafting_does_not_pay" in found(slow)
    beside = found(slow, baseline=snapshot_of(timed(100, 0)))
    assert beside["measured_speedup"].values["low"] > 1
    assert "drafting_does_not_pay" not in beside


def test_acceptance_close_to_one() -> None:
    events = with_overlap(drafted([4] * 50, 4), 0.99)
    assert found(events)["acceptance_high"].severity is Severity.INFO


def test_a_sampler_that_is_off_is_a_warning() -> None:
    fair = drafted(iid_lengths(0.7, 4, 200), 4)  # the script says overlap 0.7
    assert "acceptance_unexpected" not in found(fair)
    finding = found(with_overlap(fair, 0.5))["acceptance_unexpected"]
    assert finding.severity is Severity.WARNING
    assert finding.values["expected_acceptance_rate"] == pytest.approx(0.5)


def test_where_the_time_goes() -> None:
    target_ns = [900_000, 1_000_000, 1_100_000, 1_200_000, 1_350_000]
    events = drafted([2] * 30, 4, draft_ns=90_000, target_ns=target_ns, with_spans=True)
    findings = found(events)
    assert findings["overhead_high"].values["overhead_share"] > 0.3
    assert findings["verify_width_cost_high"].values == {"verify_width_cost": 1.5, "width": 5}


def test_few_steps_with_a_draft() -> None:
    script = EventScript()
    script.sequence("ab")
    for index in range(30):
        script.step(drafted=3 * (index % 5 == 0), accepted=0, gamma=3)
    finding = found(script.events)["few_drafted"]
    assert finding.values == {"n_steps_drafted": 6, "n_steps": 30}


@pytest.mark.parametrize(
    ("step_ns", "severity", "word"),
    [(50, Severity.INFO, "faster"), (200, Severity.WARNING, "slower")],
)
def test_against_a_baseline(step_ns: int, severity: Severity, word: str) -> None:
    def timed(step_ns: int) -> list[Event]:
        script = EventScript()
        for index in range(4):
            script.sequence("abcd"[index])
            script.step(index, drafted=0, accepted=0)
        return [
            replace(event, step_ns=step_ns) if isinstance(event, StepCommitted) else event
            for event in script.events
        ]

    finding = found(timed(step_ns), baseline=snapshot_of(timed(100)))["measured_speedup"]
    assert finding.severity is severity
    assert finding.values["measured_speedup"] == pytest.approx(100 / step_ns)
    assert word in finding.sentence


def test_what_drafting_costs_is_said_once() -> None:
    events = drafted(iid_lengths(0.6, 2, 60), 2, draft_ns=100_000,
                     target_ns=[2_000_000] * 17, with_spans=True)  # fmt: skip
    half_of_a_step = [
        replace(event, host_ns=(4_000_000, 2_000_000, 2_000_000, 2_000_000, 0, 0))
        if isinstance(event, SpansMeasured)
        else event
        for event in events
    ]
    findings = found(half_of_a_step)
    assert findings["other_gamma"].values["draft_share"] == 0.5
    assert findings["other_gamma"].values["best_gamma"] == 1
    assert findings["other_gamma"].sentence.startswith("Drafting costs 50% of a step.")
    assert "draft_share_high" not in findings


def test_a_prediction_that_the_mean_step_does_not_reach_is_told_without_a_baseline() -> None:
    events = drafted(iid_lengths(0.8, 2, 60), 2, draft_ns=100_000,
                     target_ns=[2_000_000] * 17, with_spans=True)  # fmt: skip
    slow, quick = (
        [
            replace(event, host_ns=(step_ns, 1_000_000, 900_000, 2_000_000, 500_000, 500_000))
            if isinstance(event, SpansMeasured)
            else event
            for event in events
        ]
        for step_ns in (9_000_000, 4_000_000)
    )
    finding = found(slow)["prediction_not_reached"]
    assert finding.severity is Severity.ADVICE
    assert finding.values["predicted_speedup"] > 1 > finding.values["mean_step_speedup"]
    reached = waterfall(snapshot_of(slow))
    assert reached is not None
    assert finding.values["mean_step_speedup"] == reached.measured
    assert "prediction_not_reached" not in found(slow, baseline=snapshot_of(slow))
    assert "prediction_not_reached" not in found(quick)


def test_it_is_told_how_much_evidence_is_missing() -> None:
    nothing = missing_evidence(snapshot_of([]))
    assert (nothing.n_tested, nothing.n_steps) == (MIN_TESTED, MIN_STEPS)
    few = snapshot_of(drafted([0, 2, 1], 2, with_spans=True))  # 1 + 2 + 2 tested, three steps
    missing = missing_evidence(few)
    assert (missing.n_tested, missing.n_steps) == (MIN_TESTED - 5, MIN_STEPS - 3)
    assert missing_evidence(few, Selection(first_step=2)).n_tested == MIN_TESTED - 2
    many = snapshot_of(drafted([2] * MIN_TESTED, 2, with_spans=True))
    assert missing_evidence(many) == MissingEvidence(0, 0)
