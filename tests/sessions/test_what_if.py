"""Another gamma on recorded drafts: exact where it was seen, marked where it was not."""

import pytest
from msgspec.structs import replace

from engine.theory.speedup import best_gamma
from engine.wire.events import CalibrationMeasured, Event, SpansMeasured
from sessions.metrics.counts import count
from sessions.metrics.waterfall import waterfall
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
    """One width timed far too quickly is evened out with its neighbours: what is shown is what the
    best one is chosen by."""
    accepted = [0, 3, 1, 4, 2, 4]
    events = drafted(accepted, 4, draft_ns=10, target_ns=[100, 130, 40, 100, 100])
    result = gamma_what_if(snapshot_of(events), max_gamma=4)
    assert result is not None
    evened = (90, 90, 90, 100, 100)
    steps_ns = [option.step_ns for option in result.options]
    assert steps_ns == pytest.approx([gamma * 10 + evened[gamma] for gamma in range(5)])
    assert result.best.gamma == 4
    for key in ("tokens_per_second", "speedup"):
        assert max(result.options, key=lambda option: getattr(option, key)) is result.best


@pytest.mark.parametrize("recorded", [4, 16])
def test_iid_drafts_at_alpha_08_and_c_005_want_gamma_8(recorded: int) -> None:
    events = drafted(iid_lengths(0.8, recorded, 1000), recorded, draft_ns=50, target_ns=[1000] * 17)
    result = gamma_what_if(snapshot_of(events))
    assert result is not None
    assert result.best.gamma == best_gamma(0.8, 0.05).gamma == 8
    assert result.best.is_extrapolated == (recorded < 8)
    assert result.recorded_gamma == result.longest_seen == recorded
    assert result.best_seen is result.options[min(8, recorded)]
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


def timed(events: list[Event], host_ns: tuple[int, ...]) -> list[Event]:
    """Every step's spans took so long: step, draft, draft forwards, verify, sample, commit."""
    return [
        replace(event, host_ns=host_ns) if isinstance(event, SpansMeasured) else event
        for event in events
    ]


MS = 1_000_000


@pytest.mark.parametrize(
    ("calibrated_ms", "plain_ms"),
    [((2, 3, 3, 3, 4), 2), ((2, 2, 2, 2, 2), 4), ((5, 5, 5, 5, 5), 4)],  # the last two in doubt
)
def test_its_own_gamma_would_have_done_what_it_did(
    calibrated_ms: tuple[int, ...], plain_ms: int
) -> None:
    """However the forwards were timed before: 3 tokens in 9 ms, draft and verification included."""
    events = timed(
        drafted([2] * 20, 4, draft_ns=7, target_ns=[ms * MS for ms in calibrated_ms],
                with_spans=True),
        (9 * MS, 4 * MS, 3 * MS, 4 * MS, MS // 2, MS // 2),
    )  # fmt: skip
    snapshot = snapshot_of(events)
    result, losses = gamma_what_if(snapshot), waterfall(snapshot)
    assert result is not None
    assert losses is not None
    own = result.options[4]
    assert own.step_ns == pytest.approx(9 * MS)
    assert own.tokens_per_second == pytest.approx(3 / 9e-3)
    assert own.speedup == pytest.approx(losses.measured)
    plain = result.options[0]
    assert (plain.step_ns, plain.speedup) == (result.costs.plain_ns, 1.0)
    assert plain.step_ns == pytest.approx(plain_ms * MS)


def test_a_draft_that_is_not_always_found_is_not_counted_on() -> None:
    """Three steps of four wanted four tokens and had none: they decode one token each."""
    script = EventScript(n_blocks=4096)
    script.sequence("ab")
    script.say(
        CalibrationMeasured(
            context_length=0, draft_forward_ns=None,
            target_widths=(1, 2, 3, 4, 5), target_forward_ns=(2 * MS,) * 5,
        )
    )  # fmt: skip
    for index in range(40):
        is_found = index % 4 == 0
        script.step(drafted=4 * is_found, accepted=4 * is_found, gamma=4, drafter="ngram")
    script.finish()
    events = [event for event in script.events if not isinstance(event, SpansMeasured)]
    result = gamma_what_if(snapshot_of(events))
    assert result is not None
    tokens = [option.tokens_per_step for option in result.options]
    assert tokens[:5] == pytest.approx([1.0, 1.25, 1.5, 1.75, 2.0])
    assert tokens[4] == count(snapshot_of(events)).tokens_per_step
    assert tokens[8] == pytest.approx(3.0)  # every draft that was found went on to its end


def test_without_tests_or_costs_there_is_no_answer() -> None:
    assert gamma_what_if(snapshot_of([])) is None
    assert gamma_what_if(snapshot_of(drafted([2], 4))) is None
    assert gamma_what_if(snapshot_of(drafted([0], 0, draft_ns=1, target_ns=[9]))) is None
