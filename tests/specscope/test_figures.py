"""Figures of scripted streams, against numbers worked out by hand."""

import pytest

from engine.wire.events import CalibrationMeasured, Fate
from specscope.figures import RunFigures
from tests.support.event_script import EventScript


def figures_of(script: EventScript) -> RunFigures:
    script.finish()
    figures = RunFigures()
    figures.consume(script.events)
    return figures


def test_counts_and_rates_of_three_steps() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=4, accepted=2)
    script.step(drafted=4, accepted=4)
    script.step(drafted=4, accepted=0)
    total = figures_of(script).total
    assert (total.n_drafted, total.n_accepted, total.n_rejected, total.n_discarded) == (12, 6, 2, 4)
    assert total.acceptance_rate == 6 / 8
    assert total.draft_efficiency == 6 / 12
    assert total.expected_acceptance_rate == pytest.approx(0.7)
    assert (total.n_steps, total.n_committed, total.tokens_per_step) == (3, 9, 3.0)
    assert (total.n_recovered, total.n_bonus) == (2, 1)


def test_acceptance_by_position_leaves_untested_tokens_out() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=3, accepted=1)
    script.step(drafted=3, accepted=3)
    positions = figures_of(script).total.acceptance_by_position
    assert [position["n_tested"] for position in positions] == [2, 2, 1]
    assert [position["conditional"] for position in positions] == [1.0, 0.5, 1.0]
    assert [position["unconditional"] for position in positions] == [1.0, 0.5, 0.5]


def test_steps_without_a_draft_are_apart_from_those_with_one() -> None:
    script = EventScript()
    script.sequence("ab")
    for drafted, accepted in ((0, 0), (0, 0), (5, 5), (4, 2), (0, 0)):
        script.step(drafted=drafted, accepted=accepted, gamma=5)
    total = figures_of(script).total
    assert total.draft_efficiency == pytest.approx(7 / 9)
    assert (total.n_steps_drafted, total.n_steps - total.n_steps_drafted) == (2, 3)
    assert total.tokens_per_drafted_step == 4.5


def test_nothing_drafted_has_no_rate_and_one_token_a_step() -> None:
    script = EventScript()
    script.sequence("ab")
    for _ in range(3):
        script.step(drafted=0, accepted=0)
    figures = figures_of(script)
    result = figures.as_dict()
    for name in ("acceptance_rate", "expected_acceptance_rate", "draft_efficiency"):
        assert result[name] is None
    assert result["tokens_per_step"] == 1.0
    assert result["acceptance_by_position"] == []
    assert result["predicted_speedup"] is None


def test_an_empty_run_divides_by_nothing() -> None:
    result = RunFigures().as_dict()
    assert result["tokens_per_second"] is None
    assert result["tokens_per_step"] is None
    assert result["overhead_share"] is None
    assert result["elapsed_s"] == 0.0


def test_tokens_behind_a_stop_are_in_no_count() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=4, accepted=2, stop=True)
    figures = figures_of(script)
    assert (figures.total.n_drafted, figures.total.n_accepted, figures.total.n_discarded) == (
        2,
        2,
        0,
    )
    assert figures.sequences[0].as_dict()["text"] == "ab"
    assert figures.total.n_bonus == figures.total.n_recovered == 0


def test_a_batch_step_counts_its_time_once() -> None:
    script = EventScript()
    first, second = script.sequence("ab"), script.sequence("cd")
    script.step(first, drafted=2, accepted=1, more=True)
    script.step(second, drafted=2, accepted=2)
    figures = figures_of(script)
    longest_ns = max(e.step_ns for e in script.events if hasattr(e, "step_ns"))
    assert figures.decode_s == pytest.approx(longest_ns / 1e9)
    assert figures.total.n_committed == 5
    assert figures.tokens_per_second == pytest.approx(5 / (longest_ns / 1e9))
    assert [len(s.token_ids) for s in figures.sequences.values()] == [2, 3]


def test_c_and_v_come_from_the_calibration_and_v_between_widths() -> None:
    script = EventScript()
    script.say(
        CalibrationMeasured(
            context_length=100,
            draft_forward_ns=100,
            target_widths=(1, 2, 3, 4, 5),
            target_forward_ns=(1000, 1040, 1080, 1120, 1160),
        )
    )
    script.sequence("ab")
    script.step(drafted=4, accepted=4)
    script.step(drafted=3, accepted=1)
    figures = figures_of(script)
    assert figures.c == pytest.approx(0.1)
    assert figures.mean_gamma == 3.5
    assert figures.verify_width_cost == pytest.approx(1.14)  # width 4.5
    alpha = 5 / 6
    expected_tokens = sum(alpha**n for n in range(5))
    assert figures.predicted_speedup == pytest.approx(expected_tokens / (4 * 0.1 + 1.14))


def test_overhead_is_what_the_forwards_leave() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=4, accepted=2)
    figures = figures_of(script)
    # The script's step: a quarter verify, an eighth draft forward.
    step_ns = max(e.step_ns for e in script.events if hasattr(e, "step_ns"))
    spans = next(e for e in script.events if type(e).__name__ == "SpansMeasured")
    forward_ns = spans.host_ns[spans.names.index("verify")]
    forward_ns += spans.host_ns[spans.names.index("draft_forward")]
    assert figures.overhead_share == pytest.approx(1 - forward_ns / step_ns)


def test_fates_of_the_script_are_the_ones_counted() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=4, accepted=1)
    verified = next(e for e in script.events if type(e).__name__ == "DraftVerified")
    assert verified.fates == (Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED, Fate.DISCARDED)
    total = figures_of(script).total
    assert total.tested_at == {0: 1, 1: 1}
