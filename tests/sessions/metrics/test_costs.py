"""Costs of a forward: from spans where plain verifications were measured, else calibrated."""

import pytest

from engine.wire.events import CalibrationMeasured, DraftProposed, Event, Role, SpansMeasured
from sessions.metrics.costs import (
    MIN_PLAIN_SPANS,
    MIN_WIDE_SPANS,
    MeasuredCosts,
    measured_costs,
)
from tests.sessions.played import snapshot_of


def step(number: int, n_drafted: int, verify_ns: int, *, n_sequences: int = 1) -> list[Event]:
    """The proposals of one step, and its spans."""
    events: list[Event] = [
        DraftProposed(
            ordinal=100 * number + index, t_ns=1000 * number, sequence_id=index, step=number,
            position=1, gamma=n_drafted, token_ids=(1,) * n_drafted,
            token_texts=("a",) * n_drafted, draft_probs=(0.5,) * n_drafted, drafter="model",
        )
        for index in range(n_sequences)
    ]  # fmt: skip
    names = ("step", "draft", *["draft_forward"] * n_drafted, "verify")
    n = len(names)
    events.append(
        SpansMeasured(
            ordinal=100 * number + n_sequences, t_ns=1000 * number + 500, step=number,
            names=names, roles=(None, *[Role.DRAFT] * (n - 2), Role.TARGET),
            start_ns=(1000 * number,) * n,
            host_ns=(400, 50, *[10] * n_drafted, verify_ns),
            gpu_ns=(None,) * n, n_flops=(None,) * n, n_bytes=(None,) * n,
        )
    )  # fmt: skip
    return events


CALIBRATION = CalibrationMeasured(
    ordinal=99_000, t_ns=99_000, context_length=0, draft_forward_ns=30,
    target_widths=(1, 2, 3), target_forward_ns=(300, 330, 360),
)  # fmt: skip


def test_spans_are_believed_where_plain_verifications_are_many() -> None:
    events = [event for i in range(MIN_PLAIN_SPANS) for event in step(i, 0, 100 + i % 5)]
    events += [event for i in range(MIN_WIDE_SPANS) for event in step(50 + i, 4, 130 + i % 2 * 4)]
    costs = measured_costs(snapshot_of(events))
    assert costs is not None
    assert (costs.source, costs.widths) == ("spans", (1, 5))
    assert costs.target_ns == (102.0, 132.0)
    assert costs.c == pytest.approx(10 / 102)
    assert costs.v(5) == pytest.approx(132 / 102)


def test_a_width_that_was_run_a_few_times_costs_what_the_calibration_found_of_it() -> None:
    """One verification that the machine disturbed, or hurried, decides on no figure."""
    events = [event for i in range(MIN_PLAIN_SPANS) for event in step(i, 0, 200)]
    events += [event for i in range(MIN_WIDE_SPANS) for event in step(50 + i, 1, 250)]
    events += step(70, 2, 90) + step(71, 3, 900)
    without = measured_costs(snapshot_of(events))
    assert without is not None
    assert without.target_ns == (200.0, 250.0, 90.0, 900.0), "nothing else is known of them"
    costs = measured_costs(snapshot_of([*events, CALIBRATION]))
    assert costs is not None
    assert (costs.source, costs.widths) == ("spans", (1, 2, 3, 4))
    assert costs.target_ns == (200.0, 250.0, 240.0, 260.0), "1.2 and 1.3 times a plain one"


def test_too_few_plain_verifications_leave_it_to_the_calibration() -> None:
    events = [event for i in range(MIN_PLAIN_SPANS - 1) for event in step(i, 0, 100)]
    costs = measured_costs(snapshot_of([*events, CALIBRATION]))
    assert costs is not None
    assert (costs.source, costs.plain_ns, costs.c) == ("calibration", 300.0, 0.1)
    assert measured_costs(snapshot_of(events)) is None


def test_steps_of_other_batches_are_left_out() -> None:
    events = [event for i in range(MIN_PLAIN_SPANS) for event in step(i, 0, 100)]
    events += step(90, 0, 900, n_sequences=3)
    costs = measured_costs(snapshot_of(events))
    assert costs is not None
    assert costs.target_ns == (100.0,)
    assert costs.c == 0.0  # nothing was drafted


def test_the_newest_calibration_counts() -> None:
    older = CalibrationMeasured(
        ordinal=1, t_ns=1, context_length=0, draft_forward_ns=None,
        target_widths=(1,), target_forward_ns=(5,),
    )  # fmt: skip
    costs = measured_costs(snapshot_of([older, CALIBRATION]))
    assert costs is not None
    assert costs.plain_ns == 300.0
    alone = measured_costs(snapshot_of([older]))
    assert alone is not None
    assert alone.c == 0.0


def test_widths_between_and_beyond_the_measured() -> None:
    costs = MeasuredCosts(
        source="calibration", draft_ns=10.0, widths=(1, 3, 5), target_ns=(100.0, 110.0, 130.0)
    )
    assert [costs.verify_ns(width) for width in (1, 2, 3, 4, 5, 6)] == [
        100.0, 105.0, 110.0, 120.0, 130.0, 140.0,
    ]  # fmt: skip
    assert costs.is_measured(3)
    assert not costs.is_measured(4)
    falling = MeasuredCosts(
        source="calibration", draft_ns=0.0, widths=(1, 2), target_ns=(100.0, 90.0)
    )
    assert falling.verify_ns(9) == 90.0
    single = MeasuredCosts(source="calibration", draft_ns=0.0, widths=(1,), target_ns=(100.0,))
    assert single.v(4) == 1.0


def test_no_cost_is_known_of_nothing() -> None:
    assert measured_costs(snapshot_of([])) is None
