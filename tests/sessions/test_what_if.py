"""Another gamma on recorded drafts: exact where it was seen, marked where it was not."""

import pytest

from engine.theory.speedup import best_gamma
from engine.wire.events import CalibrationMeasured
from sessions.what_if import by_formula, gamma_what_if
from tests.sessions.played import drafted, iid_lengths, snapshot_of
from tests.support.event_script import EventScript


def test_smaller_gammas_are_exact() -> None:
    accepted = [0, 3, 1, 4, 2, 4]
    events = drafted(accepted, 4, draft_ns=10, target_ns=[100, 101, 102, 104, 108])
    result = gamma_what_if(snapshot_of(events), max_gamma=4)
    assert result is not None
    assert result.recorded_gamma == 4
    for gamma, option in enumerate(result.options):
        tokens = sum(min(n, gamma) + 1 for n in accepted) / len(accepted)
        step_ns = gamma * 10 + [100, 101, 102, 104, 108][gamma]
        assert option.gamma == gamma
        assert option.tokens_per_step == pytest.approx(tokens)
        assert option.step_ns == pytest.approx(step_ns)
        assert option.tokens_per_second == pytest.approx(tokens * 1e9 / step_ns)
        assert option.speedup == pytest.approx(tokens * 100 / step_ns)
        assert not option.is_extrapolated


def test_no_single_noisy_width_decides() -> None:
    """One width timed far too quickly is shown as it was timed, and evened out to choose by."""
    accepted = [0, 3, 1, 4, 2, 4]
    for target_ns, best in (([100] * 5, 4), ([100, 130, 40, 100, 100], 4)):
        events = drafted(accepted, 4, draft_ns=10, target_ns=target_ns)
        result = gamma_what_if(snapshot_of(events), max_gamma=4)
        assert result is not None
        steps_ns = [option.step_ns for option in result.options]
        assert steps_ns == pytest.approx([gamma * 10 + target_ns[gamma] for gamma in range(5)])
        assert result.best.gamma == best
    fastest = max(result.options, key=lambda option: option.tokens_per_second)
    assert fastest.gamma == 2


@pytest.mark.parametrize("recorded", [4, 16])
def test_iid_drafts_at_alpha_08_and_c_005_want_gamma_8(recorded: int) -> None:
    events = drafted(iid_lengths(0.8, recorded, 1000), recorded, draft_ns=50, target_ns=[1000] * 17)
    result = gamma_what_if(snapshot_of(events))
    assert result is not None
    assert result.best.gamma == best_gamma(0.8, 0.05).gamma == 8
    assert result.best.is_extrapolated == (recorded < 8)
    assert result.recorded_gamma == recorded
    for option, formula in zip(result.options, by_formula(result), strict=True):
        assert option.speedup == pytest.approx(formula, rel=5e-3)


def test_beyond_what_was_drafted_is_marked() -> None:
    events = drafted([2, 1, 2], 2, draft_ns=10, target_ns=[100, 100, 100])
    result = gamma_what_if(snapshot_of(events), max_gamma=4)
    assert result is not None
    assert [option.is_extrapolated for option in result.options] == [False] * 3 + [True] * 2
    reached = 2 / 3
    grown = result.options[3].tokens_per_step - result.options[2].tokens_per_step
    assert grown == pytest.approx(reached * 5 / 6)


def test_a_width_that_was_not_timed_is_marked() -> None:
    events = drafted([3, 3], 4, draft_ns=10, target_ns=[100, 110])
    result = gamma_what_if(snapshot_of(events), max_gamma=4)
    assert result is not None
    assert [option.is_extrapolated for option in result.options] == [False, False] + [True] * 3
    assert result.options[4].step_ns == pytest.approx(40 + 140)


def test_a_short_draft_says_nothing_of_longer_ones() -> None:
    script = EventScript()
    script.say(
        CalibrationMeasured(
            context_length=0, draft_forward_ns=1, target_widths=(1,), target_forward_ns=(100,)
        )
    )
    script.sequence("ab")
    for n_drafted, n_accepted in ((1, 1), (1, 1), (3, 3), (3, 0)):
        script.step(drafted=n_drafted, accepted=n_accepted)
    result = gamma_what_if(snapshot_of(script.events), max_gamma=3)
    assert result is not None
    tokens = [option.tokens_per_step for option in result.options]
    assert tokens == pytest.approx([1.0, 1.75, 2.5, 3.25])


def test_a_refused_draft_wants_no_draft() -> None:
    events = drafted([0] * 5, 3, draft_ns=10, target_ns=[100] * 4)
    result = gamma_what_if(snapshot_of(events))
    assert result is not None
    assert result.best.gamma == 0
    assert result.recorded_gamma == 3
    assert result.options[16].tokens_per_step == 1.0


def test_what_steps_spend_besides_counts() -> None:
    events = drafted([4] * 3, 4, draft_ns=10, target_ns=[100] * 5, with_spans=True)
    result = gamma_what_if(snapshot_of(events))
    assert result is not None
    plain = result.options[0]
    assert plain.step_ns > plain.gamma * 10 + 100
    assert plain.speedup == 1.0


def test_without_tests_or_costs_there_is_no_answer() -> None:
    assert gamma_what_if(snapshot_of([])) is None
    assert gamma_what_if(snapshot_of(drafted([2], 4))) is None
    assert gamma_what_if(snapshot_of(drafted([0], 0, draft_ns=1, target_ns=[9]))) is None
