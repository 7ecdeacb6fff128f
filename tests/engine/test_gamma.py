import random
from itertools import pairwise

import pytest

from engine.gamma import (
    PROBE_EVERY,
    AdaptiveGamma,
    FixedGamma,
    GammaChoice,
    StepCosts,
    make_gamma,
)
from engine.theory.speedup import best_gamma, expected_speedup

FLAT = (1.0,)


def adaptive(limit: int = 8, *, c: float | None = None, verify: tuple[float, ...] = FLAT):
    policy = AdaptiveGamma(limit)
    if c is not None:
        policy.learn_costs(StepCosts(c=c, verify_costs=verify))
    return policy


def play(policy: AdaptiveGamma, alpha: float, n_steps: int, *, seed: int = 0) -> list[int]:
    """Steps of a draft whose every token is accepted with ``alpha``; the gammas chosen."""
    chance = random.Random(seed)
    gammas = []
    for _ in range(n_steps):
        gamma = policy.choose(0).gamma
        n_accepted = 0
        while n_accepted < gamma and chance.random() < alpha:
            n_accepted += 1
        policy.observe(0, n_tested=min(n_accepted + 1, gamma), n_accepted=n_accepted)
        gammas.append(gamma)
    return gammas


def test_fixed() -> None:
    policy = make_gamma(4, max_gamma=8)
    assert isinstance(policy, FixedGamma)
    policy.observe(0, n_tested=4, n_accepted=0)
    policy.learn_costs(StepCosts(c=9.0, verify_costs=(1.0,)))
    policy.forget(0)
    assert policy.choose(0) == GammaChoice(4, "fixed")
    assert make_gamma(0, max_gamma=8).choose(0) == GammaChoice(0, "plain decoding")
    assert policy.limit == 4


def test_auto_is_adaptive_up_to_the_limit() -> None:
    policy = make_gamma("auto", max_gamma=5)
    assert isinstance(policy, AdaptiveGamma)
    assert policy.limit == 5


# --- costs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "width", "cost"),
    [
        ((1.0, 1.1, 1.3), 2, 1.1),
        ((1.0, 1.1, 1.3), 3, 1.3),
        ((1.0, 1.1, 1.3), 5, 1.7),  # the last slope goes on
        ((1.0, 1.2, 1.1), 9, 1.1),  # but never down
        ((1.0,), 4, 1.0),
    ],
)
def test_verify_costs(known: tuple[float, ...], width: int, cost: float) -> None:
    assert StepCosts(c=0.1, verify_costs=known).verify(width) == pytest.approx(cost)


# --- the choice ----------------------------------------------------------------------------------


def test_the_prior_is_four_tokens_at_seven_tenths() -> None:
    choice = adaptive().choose(0)
    assert choice.alpha == pytest.approx(0.7)
    assert choice.gamma == best_gamma(0.7, 0.1, max_gamma=8).gamma == 4
    assert choice.reason == "S(4) = 1.98 is the most; alpha 0.70 over 4 tokens, assumed c 0.10"


@pytest.mark.parametrize("alpha", [0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.97, 1.0])
@pytest.mark.parametrize(
    ("c", "slope"), [(0.02, 0.0), (0.1, 0.0), (0.1, 0.05), (0.3, 0.1), (0.6, 0.3), (1.5, 0.0)]
)
def test_converges_to_a_gamma_as_good_as_the_best(alpha: float, c: float, slope: float) -> None:
    verify = tuple(1.0 + slope * width for width in range(9))
    policy = adaptive(c=c, verify=verify)
    best = best_gamma(alpha, c, v=verify, max_gamma=8)
    gammas = play(policy, alpha, 600)[200:]
    speeds = [expected_speedup(alpha, g, c=c, v=verify[g]) if g else 1.0 for g in gammas]
    # The evidence is 33 tokens, so the choice scatters about the best; what it costs is small.
    assert sum(speeds) / len(speeds) >= 0.93 * best.speedup
    if alpha in (0.0, 1.0):  # nothing scatters
        assert max(set(gammas), key=gammas.count) == best.gamma


@pytest.mark.parametrize(("alpha", "gamma"), [(0.4, 2), (0.7, 4), (0.8, 6), (0.95, 8)])
def test_exact_choices_for_exact_evidence(alpha: float, gamma: int) -> None:
    policy = adaptive(c=0.1)
    for _ in range(300):
        policy.observe(0, n_tested=20, n_accepted=round(20 * alpha))
    choice = policy.choose(0)
    assert choice.alpha == pytest.approx(alpha, abs=1e-6)
    assert choice.gamma == gamma == best_gamma(alpha, 0.1, max_gamma=8).gamma


def test_evidence_forgets_slowly() -> None:
    """One tested token makes older ones weigh .97 as much."""
    policy = adaptive()
    policy.observe(0, n_tested=1, n_accepted=1)
    expected = (4 * 0.7 * 0.97 + 1) / (4 * 0.97 + 1)
    assert policy.choose(0).alpha == pytest.approx(expected)
    policy.observe(0, n_tested=0, n_accepted=0)  # a plain step is no evidence
    assert policy.choose(0).alpha == pytest.approx(expected)
    for _ in range(1000):
        policy.observe(0, n_tested=3, n_accepted=3)
    choice = policy.choose(0)
    assert choice.alpha == pytest.approx(1.0)
    assert choice.alpha <= 1.0
    n_remembered = 3 / (1 - 0.97**3)
    assert f"over {n_remembered:.0f} tokens" in choice.reason


# --- giving up, and coming back ------------------------------------------------------------------


def test_a_useless_draft_is_given_up_and_probed_now_and_then() -> None:
    policy = adaptive(c=0.2)
    gammas = play(policy, 0.0, 400)
    late = gammas[100:]
    assert set(late) == {0, 1}
    assert (
        late.count(1) == len(late) // PROBE_EVERY or late.count(1) == len(late) // PROBE_EVERY + 1
    )
    places = [index for index, gamma in enumerate(late) if gamma]
    assert {b - a for a, b in pairwise(places)} == {PROBE_EVERY}


def test_a_second_giving_up_waits_as_long_for_its_probe() -> None:
    policy = adaptive(c=0.5)
    for n_before in (3, PROBE_EVERY - 1):
        policy.observe(0, n_tested=400, n_accepted=0)
        assert [policy.choose(0).gamma for _ in range(n_before)] == [0] * n_before
        policy.observe(0, n_tested=400, n_accepted=400)
        assert policy.choose(0).gamma == 8


def test_the_reasons_of_giving_up_and_probing() -> None:
    policy = adaptive(c=0.5)
    for _ in range(50):
        policy.observe(0, n_tested=8, n_accepted=0)
    reasons = [policy.choose(0).reason for _ in range(PROBE_EVERY)]
    saw = "alpha 0.00 over 37 tokens, measured c 0.50"
    assert reasons[0] == f"drafting does not pay: S(1) = 0.67; {saw}"
    assert reasons[-1] == f"probe after 16 plain steps; {saw}"


def test_recovers_through_probes_when_the_draft_becomes_good() -> None:
    policy = adaptive(c=0.2)
    play(policy, 0.0, 200)
    assert policy.choose(0).alpha < 0.1
    gammas = play(policy, 1.0, 400)
    assert gammas[-1] == 8
    n_plain = gammas.index(8)
    assert n_plain < 300, "the way back is too long"
    assert set(gammas[-50:]) == {8}


# --- sequences -----------------------------------------------------------------------------------


def test_every_sequence_has_its_own_evidence() -> None:
    policy = adaptive()
    for _ in range(50):
        policy.observe(1, n_tested=4, n_accepted=4)
        policy.observe(2, n_tested=4, n_accepted=0)
    assert (policy.choose(1).gamma, policy.choose(2).gamma) == (8, 0)
    assert policy.choose(3) == adaptive().choose(0)


def test_a_finished_sequence_is_forgotten() -> None:
    policy = adaptive()
    policy.observe(1, n_tested=40, n_accepted=40)
    policy.forget(1)
    policy.forget(1)  # twice is no harm
    policy.forget(99)
    assert policy.choose(1) == adaptive().choose(0)


def test_measured_costs_change_the_choice_and_keep_the_evidence() -> None:
    policy = adaptive()
    for _ in range(50):
        policy.observe(0, n_tested=4, n_accepted=3)
    before = policy.choose(0)
    policy.learn_costs(StepCosts(c=5.0, verify_costs=(1.0, 1.0)))
    after = policy.choose(0)
    assert before.gamma > 0
    assert (after.gamma, after.alpha) == (0, before.alpha)
