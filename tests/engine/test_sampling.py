from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sampling import (
    SamplingParams,
    are_usable,
    draw,
    one_hot,
    probabilities,
)
from tests.support.exact_law import exact_probs

NAN, INF = float("nan"), float("inf")
LOG = torch.tensor([[0.5, 0.3, 0.2]]).log()


def probs_of(logits: torch.Tensor, **params: Any) -> list[float]:
    return probabilities(logits, SamplingParams(**params))[0].tolist()


def test_temperature_zero_is_one_hot_at_the_largest() -> None:
    assert probs_of(LOG) == [1.0, 0.0, 0.0]
    assert probs_of(torch.tensor([[1.0, 7.0, 7.0]])) == [0.0, 1.0, 0.0]  # the first of a tie


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"temperature": 1.0}, [0.5, 0.3, 0.2]),
        ({"temperature": 0.5}, [0.25 / 0.38, 0.09 / 0.38, 0.04 / 0.38]),
        ({"temperature": 1.0, "top_k": 1}, [1.0, 0.0, 0.0]),
        ({"temperature": 1.0, "top_k": 2}, [0.625, 0.375, 0.0]),
        ({"temperature": 1.0, "top_k": 3}, [0.5, 0.3, 0.2]),
        ({"temperature": 1.0, "top_k": 50}, [0.5, 0.3, 0.2]),
        ({"temperature": 1.0, "top_p": 0.49}, [1.0, 0.0, 0.0]),
        ({"temperature": 1.0, "top_p": 0.6}, [0.625, 0.375, 0.0]),
        ({"temperature": 1.0, "top_p": 0.79}, [0.625, 0.375, 0.0]),
        ({"temperature": 1.0, "top_p": 0.81}, [0.5, 0.3, 0.2]),
        # top-p counts what top-k left: .625 of two is not .7 yet, of three .5 + .3 would be.
        ({"temperature": 1.0, "top_k": 2, "top_p": 0.62}, [1.0, 0.0, 0.0]),
        ({"temperature": 1.0, "top_k": 2, "top_p": 0.7}, [0.625, 0.375, 0.0]),
    ],
)
def test_exact_values(params: dict[str, Any], expected: list[float]) -> None:
    assert probs_of(LOG, **params) == pytest.approx(expected, abs=1e-6)


@given(
    logits=st.lists(st.floats(-30, 30, width=32), min_size=2, max_size=40),
    temperature=st.floats(0.05, 10),
    top_k=st.integers(0, 45),
    top_p=st.floats(0.05, 1.0),
)
@settings(max_examples=150, deadline=None)
def test_is_what_plain_python_computes(
    logits: list[float], temperature: float, top_k: int, top_p: float
) -> None:
    logits = [value + index * 1e-3 for index, value in enumerate(logits)]
    row = torch.tensor([logits], dtype=torch.float32)
    ours = probs_of(row, temperature=temperature, top_k=top_k, top_p=top_p)
    assert sum(ours) == pytest.approx(1.0, abs=1e-5)
    unfiltered = exact_probs(row[0].double().numpy(), temperature=temperature)
    sorted_probs = np.sort(unfiltered)[::-1]
    kept = sorted_probs[: top_k or None]
    margins = np.abs(np.cumsum(kept) / kept.sum() - top_p).min()
    ties = np.diff(-sorted_probs).min() if len(sorted_probs) > 1 else 1.0
    if top_p < 1.0 and (margins < 1e-4 or ties < 1e-6):
        return  # at the very border rounding decides
    if top_k and ties < 1e-6:
        return
    expected = exact_probs(
        row[0].double().numpy(), temperature=temperature, top_k=top_k, top_p=top_p
    )
    assert ours == pytest.approx(list(expected), abs=1e-4)


def test_top_k_keeps_exactly_k_of_equal_logits() -> None:
    for top_k in range(1, 8):
        probs = probs_of(torch.zeros(1, 8), temperature=1.0, top_k=top_k)
        assert sorted(probs)[-top_k:] == pytest.approx([1 / top_k] * top_k)
        assert probs.count(0.0) == 8 - top_k


def test_half_precision_is_computed_in_single() -> None:
    logits = torch.linspace(-4, 4, 1000).to(torch.bfloat16)[None]
    probs = probabilities(logits, SamplingParams(1.0))
    assert probs.dtype == torch.float32
    assert float(probs.sum()) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("temperature", [1e-3, 1e-30, 1e-38, 1e-45, 5e-324])
def test_the_smallest_temperatures_are_greedy_and_finite(temperature: float) -> None:
    """A division by them would overflow."""
    probs = probs_of(torch.tensor([[10.0, 11.0, -3.0]]), temperature=temperature, top_p=0.9)
    assert probs == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("temperature", [0.1, 0.5, 1.0])
def test_huge_finite_logits_stay_finite(temperature: float) -> None:
    logits = torch.tensor([[3e38, 3e38, -3e38, -INF]])
    assert are_usable(logits.amax(-1).tolist())
    assert probs_of(logits, temperature=temperature) == [0.5, 0.5, 0.0, 0.0]


def test_masked_tokens_have_no_probability() -> None:
    logits = torch.tensor([[-INF, 0.0, -INF, 0.0]])
    for params in ({"temperature": 1.0}, {"temperature": 1.0, "top_k": 3}):
        assert probs_of(logits, **params) == [0.0, 0.5, 0.0, 0.5]


@pytest.mark.parametrize(
    ("row", "is_usable"),
    [
        ([0.0, 1.0], True),
        ([-INF, 1.0], True),
        ([NAN, 1.0], False),
        ([1.0, NAN], False),
        ([INF, 1.0], False),
        ([INF, -INF], False),
        ([-INF, -INF], False),
        ([NAN, -INF], False),
        ([3.4e38, -3.4e38], True),
    ],
)
def test_are_usable(row: list[float], is_usable: bool) -> None:
    fine = [0.0, 1.0]
    assert are_usable(torch.tensor([fine, row]).amax(-1).tolist()) == is_usable


def test_one_hot() -> None:
    assert one_hot(torch.tensor([2, 0]), 3).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert one_hot(torch.empty(0, dtype=torch.int64), 3).shape == (0, 3)


# --- drawing -------------------------------------------------------------------------------------

LAST = 1 - 2**-53  # the largest number a generator gives


def drawn(probs: list[float], *uniforms: float) -> list[int]:
    rows = torch.tensor([probs] * len(uniforms), dtype=torch.float32)
    return draw(rows, torch.tensor(uniforms, dtype=torch.float64)).tolist()


def test_draw_inverts_the_cumulative_sum() -> None:
    probs = [0.25, 0.25, 0.0, 0.5]
    assert drawn(probs, 0.0, 0.2499, 0.25, 0.4999, 0.5, LAST) == [0, 0, 1, 1, 3, 3]


def test_draw_needs_no_sum_of_one() -> None:
    assert drawn([2.0, 0.0, 2.0], 0.0, 0.49, 0.5, LAST) == [0, 0, 2, 2]
    assert drawn([1e-30, 0.0, 3e-30], 0.2, 0.26) == [0, 2]
    assert drawn([0.0, 1e-45, 0.0], 0.0, 0.5, LAST) == [1, 1, 1]  # the smallest there is


@given(
    probs=st.lists(st.sampled_from([0.0, 1e-45, 1e-22, 0.1, 1.0, 1e30]), min_size=1, max_size=30),
    uniform=st.sampled_from([0.0, 5e-324, 1e-17, 0.3, 0.5, LAST]),
)
@settings(max_examples=300, deadline=None)
def test_draw_never_gives_a_token_of_probability_zero(probs: list[float], uniform: float) -> None:
    if not any(probs):
        return
    (token_id,) = drawn(probs, uniform)
    assert torch.tensor(probs)[token_id] > 0


def test_draw_reaches_the_far_end_of_a_long_vocabulary() -> None:
    n_tokens = 150_000
    probs = torch.full((1, n_tokens), 1 / n_tokens)
    uniforms = torch.arange(0.01, 1.0, 0.07, dtype=torch.float64)
    token_ids = draw(probs.expand(len(uniforms), -1), uniforms)
    assert (token_ids - (uniforms * n_tokens).long()).abs().max() <= 1
