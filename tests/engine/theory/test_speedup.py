import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.theory.speedup import (
    PUBLISHED_BAND,
    BestGamma,
    alpha_for_tokens_per_step,
    best_gamma,
    break_even_alpha,
    expected_draft_efficiency,
    expected_speedup,
    expected_tokens_per_step,
    step_cost,
    verify_cost,
)

alphas = st.floats(0.0, 1.0)
gammas = st.integers(1, 40)
costs = st.floats(1e-4, 2.0)
widths = st.floats(1.0, 3.0)


@pytest.mark.parametrize(
    ("alpha", "gamma", "tokens"),
    [
        (0.6, 2, 1.96),
        (0.7, 3, 2.533),
        (0.8, 2, 2.44),
        (0.8, 5, 3.68928),
        (0.9, 2, 2.71),
        (0.9, 10, 6.8618940391),
        (0.85, 5, 4.1523365625),
        (0.95, 5, 5.2981621875),
        (0.3, 5, 1.42753),
    ],
)
def test_tokens_per_step_of_published_points(alpha: float, gamma: int, tokens: float) -> None:
    assert expected_tokens_per_step(alpha, gamma) == pytest.approx(tokens, abs=1e-12)
    assert expected_speedup(alpha, gamma, c=0.0) == pytest.approx(tokens, abs=1e-12)


@pytest.mark.parametrize(
    ("alpha", "gamma", "c", "speedup"),
    [
        (0.75, 7, 0.02, 3.16),
        (0.80, 7, 0.04, 3.25),
        (0.82, 7, 0.11, 2.50),
        (0.62, 7, 0.02, 2.26),
        (0.71, 3, 0.11, 1.93),
        (0.65, 5, 0.02, 2.40),
        (0.56, 3, 0.11, 1.54),
        (0.85, 5, 0.05, 3.32),
        (0.95, 5, 0.05, 4.24),
        (0.30, 5, 0.05, 1.14),
        (0.30, 5, 0.10, 0.95),
    ],
)
def test_speedup_of_published_settings(alpha: float, gamma: int, c: float, speedup: float) -> None:
    assert round(expected_speedup(alpha, gamma, c=c), 2) == speedup


def test_the_figure_quoted_for_predictable_text_is_one_point() -> None:
    alpha = alpha_for_tokens_per_step(4.4, 5)
    assert alpha == pytest.approx(0.874, abs=5e-4)
    assert expected_speedup(alpha, 5, c=0.05) == pytest.approx(3.52, abs=1e-9)


@pytest.mark.parametrize("gamma", [0, 1, 5, 64])
def test_limits_are_exact(gamma: int) -> None:
    assert expected_tokens_per_step(1.0, gamma) == gamma + 1
    assert expected_tokens_per_step(0.0, gamma) == 1.0
    assert expected_speedup(0.0, gamma, c=0.05) == 1.0 / (1.0 + gamma * 0.05)
    assert expected_speedup(0.7, 0, c=0.3, v=1.4) == 1.0


@given(alphas, gammas)
def test_tokens_per_step_is_the_sum_of_powers(alpha: float, gamma: int) -> None:
    tokens = expected_tokens_per_step(alpha, gamma)
    assert tokens == pytest.approx(math.fsum(alpha**i for i in range(gamma + 1)), rel=1e-14)
    assert 1.0 <= tokens <= gamma + 1
    if alpha < 0.999:
        assert tokens == pytest.approx((1 - alpha ** (gamma + 1)) / (1 - alpha), rel=1e-11)


def test_draft_efficiency_falls_while_tokens_per_step_rise() -> None:
    budgets = [1, 2, 4, 8, 16]
    efficiencies = [expected_draft_efficiency(0.8, gamma) for gamma in budgets]
    assert [round(rate, 3) for rate in efficiencies if rate is not None] == [
        0.800, 0.720, 0.590, 0.416, 0.243,
    ]  # fmt: skip
    tokens = [round(expected_tokens_per_step(0.8, gamma), 2) for gamma in budgets]
    assert tokens == [1.80, 2.44, 3.36, 4.33, 4.89]
    speedups = [round(expected_speedup(0.8, gamma, c=0.05), 2) for gamma in budgets]
    assert speedups == [1.71, 2.22, 2.80, 3.09, 2.72]
    assert expected_draft_efficiency(0.8, 0) is None


@pytest.mark.parametrize(
    ("alpha", "c", "gamma", "speedup"),
    [
        (0.75, 0.02, 9, 3.199),
        (0.8, 0.05, 8, 3.092),
        (0.8, 0.128, 5, 2.250),
        (0.6, 0.1, 3, 1.674),
        (0.5, 0.3, 1, 1.154),
        (0.4, 0.48, 0, 1.0),
        (0.9, 0.9, 0, 1.0),
    ],
)
def test_best_gamma_of_known_points(alpha: float, c: float, gamma: int, speedup: float) -> None:
    best = best_gamma(alpha, c)
    assert best.gamma == gamma
    assert best.speedup == pytest.approx(speedup, abs=5e-4)
    assert not best.is_at_limit


def test_best_gamma_stops_at_the_limit_when_every_token_is_accepted() -> None:
    assert best_gamma(1.0, 0.1, max_gamma=12) == BestGamma(12, 13 / (1 + 12 * 0.1), True)
    assert best_gamma(0.9, 0.1, max_gamma=0) == BestGamma(0, 1.0, True)


@given(alphas, costs, st.integers(0, 20))
def test_best_gamma_is_not_beaten(alpha: float, c: float, gamma: int) -> None:
    assert expected_speedup(alpha, gamma, c=c) <= best_gamma(alpha, c).speedup * (1 + 1e-11)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_drafting_pays_for_some_gamma_exactly_when_alpha_exceeds_c(alpha: float, c: float) -> None:
    best = best_gamma(alpha, c)  # Leviathan et al. 2023, Corollary 3.9
    if alpha > c * (1 + 1e-9):
        assert best.speedup >= (1 + alpha) / (1 + c) * (1 - 1e-11)
    elif alpha < c:
        assert best == BestGamma(0, 1.0, False)


def test_a_measured_verify_cost_by_width_moves_the_best_gamma() -> None:
    table = [1.0, 1.0, 1.0, 1.0, 1.6, 1.8, 2.0, 2.2, 2.4]  # widths 1 to 9
    flat, stepped = best_gamma(0.8, 0.05), best_gamma(0.8, 0.05, v=table)
    assert (flat.gamma, stepped.gamma) == (8, 3)
    assert stepped.speedup == expected_speedup(0.8, 3, c=0.05, v=1.0)
    assert best_gamma(0.8, 0.05, v=np.array(table)) == stepped
    assert best_gamma(0.8, 0.05, v=lambda width: table[width - 1], max_gamma=8) == stepped


def test_verify_cost_reads_the_width_gamma_plus_one() -> None:
    assert verify_cost([1.0, 1.1, 1.3], 2) == 1.3
    assert verify_cost(lambda width: width / 10, 2) == pytest.approx(0.3)
    assert (verify_cost(1.2, 0), verify_cost(1.2, 3)) == (1.0, 1.2)
    with pytest.raises(ValueError, match="cover 3 widths"):
        verify_cost([1.0, 1.1, 1.3], 3)
    with pytest.raises(ValueError, match="cover 3 widths"):
        best_gamma(0.8, 0.05, v=[1.0, 1.1, 1.3], max_gamma=3)


def test_break_even_of_one_draft_token_is_c() -> None:
    assert break_even_alpha(1, c=0.3) == pytest.approx(0.3, abs=1e-15)


@given(gammas, costs, widths)
def test_break_even_is_where_the_speedup_is_one(gamma: int, c: float, v: float) -> None:
    alpha = break_even_alpha(gamma, c=c, v=v)
    if alpha is None:
        assert expected_speedup(1.0, gamma, c=c, v=v) <= 1.0
    else:
        assert expected_speedup(alpha, gamma, c=c, v=v) == pytest.approx(1.0, rel=1e-12)


def test_break_even_where_it_cannot_or_always_pays() -> None:
    assert break_even_alpha(5, c=1.0) is None
    assert break_even_alpha(0, c=0.1) is None
    assert break_even_alpha(5, c=0.0) == 0.0


@given(st.floats(0.0, 1.0), gammas)
def test_alpha_is_recovered_from_tokens_per_step(alpha: float, gamma: int) -> None:
    tokens = expected_tokens_per_step(alpha, gamma)
    assert alpha_for_tokens_per_step(tokens, gamma) == pytest.approx(alpha, abs=1e-12)


def test_published_measurements_lie_within_the_band() -> None:
    low, high = PUBLISHED_BAND
    assert low * expected_speedup(0.82, 7, c=0.11) == pytest.approx(1.7, abs=0.01)
    assert high * expected_speedup(0.65, 5, c=0.02) == pytest.approx(3.1, abs=0.01)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, 80, math.nan, math.inf])
def test_alpha_outside_its_range_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1"):
        expected_tokens_per_step(alpha, 5)


@pytest.mark.parametrize("gamma", [-1, 2.5, True])
def test_gamma_must_be_a_count(gamma: int) -> None:
    with pytest.raises(ValueError, match="gamma must be a whole number"):
        expected_tokens_per_step(0.5, gamma)


@pytest.mark.parametrize("c", [-0.1, math.nan, math.inf])
def test_c_must_be_finite_and_not_negative(c: float) -> None:
    with pytest.raises(ValueError, match="draft time / target time"):
        step_cost(5, c=c)


@pytest.mark.parametrize("v", [0.0, -1.0, math.nan, math.inf])
def test_v_must_be_finite_and_positive(v: float) -> None:
    with pytest.raises(ValueError, match="verify time / one-token time"):
        expected_speedup(0.8, 5, c=0.1, v=v)


@pytest.mark.parametrize("tokens", [0.9, 6.1, math.nan])
def test_impossible_tokens_per_step_are_refused(tokens: float) -> None:
    with pytest.raises(ValueError, match="between 1 and gamma"):
        alpha_for_tokens_per_step(tokens, 5)
