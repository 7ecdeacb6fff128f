"""One verdict at a time; the law of whole sequences is in ``test_law.py``."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from engine.rejection import Verdict, judge, judge_one_hot
from engine.sampling import draw, one_hot
from engine.wire.events import Fate, Origin

A, R, D = Fate.ACCEPTED, Fate.REJECTED, Fate.DISCARDED
NAN, INF = float("nan"), float("inf")
LAST = 1 - 2**-53


def verdict_of(
    token_ids: list[int],
    draft: list[list[float]],
    target: list[list[float]],
    *,
    uniforms: list[float],
    extra: float = 0.5,
) -> Verdict:
    n_tokens = len(target[0])
    return judge(
        torch.tensor(token_ids, dtype=torch.int64),
        torch.tensor(draft, dtype=torch.float32).reshape(len(token_ids), n_tokens),
        torch.tensor(target, dtype=torch.float32),
        uniforms=uniforms,
        extra_uniform=extra,
    )


P = [0.5, 0.3, 0.2]
Q = [0.4, 0.35, 0.25]


def test_nothing_drafted_is_plain_sampling() -> None:
    for extra, token_id in ((0.0, 0), (0.49, 0), (0.51, 1), (0.81, 2)):
        verdict = verdict_of([], [], [P], uniforms=[], extra=extra)
        assert verdict == Verdict(
            fates=(), draft_probs=(), target_probs=(), overlaps=(), uniforms=(), n_accepted=0,
            extra_token_id=token_id, extra_origin=Origin.BONUS,
            extra_target_prob=pytest.approx(P[token_id]), n_zero_residual=0,
        )  # fmt: skip


def test_ratio_decides() -> None:
    """Token 1: p / q = .857; token 2: .8; token 0: above 1."""
    for token_id, ratio in ((1, 0.3 / 0.35), (2, 0.8)):
        low = verdict_of([token_id], [Q], [P, P], uniforms=[ratio - 1e-6])
        high = verdict_of([token_id], [Q], [P, P], uniforms=[ratio + 1e-6])
        assert (low.fates, high.fates) == ((A,), (R,))
    assert verdict_of([0], [Q], [P, P], uniforms=[LAST]).fates == (A,)


def test_replacement_comes_from_the_residual() -> None:
    """max(0, p - q) = [.1, 0, 0]: always token 0."""
    for extra in (0.0, 0.5, LAST):
        verdict = verdict_of([1], [Q], [P, P], uniforms=[0.9], extra=extra)
        assert (verdict.extra_token_id, verdict.extra_origin) == (0, Origin.RECOVERED)
        assert verdict.extra_target_prob == pytest.approx(0.5)


def test_all_accepted_adds_a_bonus_of_the_last_row() -> None:
    target = [P, P, [0.0, 0.0, 1.0]]
    verdict = verdict_of([0, 0], [Q, Q], target, uniforms=[0.1, 0.2], extra=0.0)
    assert verdict.fates == (A, A)
    assert (verdict.extra_token_id, verdict.extra_origin) == (2, Origin.BONUS)
    assert verdict.draft_probs == pytest.approx([0.4, 0.4])
    assert verdict.target_probs == pytest.approx([0.5, 0.5])
    assert verdict.overlaps == pytest.approx([0.9, 0.9])
    assert verdict.uniforms == (0.1, 0.2)


def test_one_rejection_and_the_rest_discarded() -> None:
    uniforms = [0.1, 0.99, 0.0, 0.0]  # those behind the rejection would be accepted
    verdict = verdict_of([1, 1, 0, 0], [Q] * 4, [P] * 5, uniforms=uniforms)
    assert verdict.fates == (A, R, D, D)
    assert verdict.n_accepted == 1
    assert len(verdict.overlaps) == len(verdict.target_probs) == 4


def test_equal_distributions_accept_always() -> None:
    probs = [0.5, 0.5]
    for uniform in (0.0, 0.5, 0.999999, LAST):
        for token_id in (0, 1):
            verdict = verdict_of([token_id], [probs], [probs, probs], uniforms=[uniform])
            assert verdict.fates == (A,)
            assert verdict.overlaps == (1.0,)


@given(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=20), st.floats(0, LAST), st.data())
@settings(max_examples=100, deadline=None)
def test_equal_distributions_accept_always_whatever_they_are(
    weights: list[float], uniform: float, data: Any
) -> None:
    probs = (torch.tensor(weights) / sum(weights)).tolist()
    token_id = data.draw(st.integers(0, len(probs) - 1))
    assert verdict_of([token_id], [probs], [probs] * 2, uniforms=[uniform]).n_accepted == 1


def test_impossible_for_the_target_is_rejected_even_by_zero() -> None:
    verdict = verdict_of([0], [[1.0, 0.0]], [[0.0, 1.0]] * 2, uniforms=[0.0])
    assert (verdict.fates, verdict.extra_token_id) == ((R,), 1)


# --- the law of one step, with exact numbers -----------------------------------------------------


def one_step(
    p: list[float], q: list[float], n_steps: int, *, seed: int, propose: str = "sample"
) -> tuple[list[int], float]:
    """First output tokens of ``n_steps`` steps of gamma 1, and the share that was accepted."""
    uniforms = torch.rand(
        (n_steps, 3), generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    proposal = torch.tensor([q], dtype=torch.float32)
    if propose == "one-hot":  # what a draft at temperature 0 says it drew from, and drew from
        proposal = one_hot(proposal.argmax(-1), len(q))
    token_ids = draw(proposal.expand(n_steps, -1), uniforms[:, 0])
    if propose == "argmax":  # the fault: not a draw from the q in the ratio
        token_ids = proposal.argmax(-1).expand(n_steps)
    target = torch.tensor([p, p], dtype=torch.float32)
    first, n_accepted = [], 0
    for row, token_id in zip(uniforms.tolist(), token_ids, strict=True):
        verdict = judge(token_id[None], proposal, target, uniforms=[row[1]], extra_uniform=row[2])
        n_accepted += verdict.n_accepted
        first.append(int(token_id) if verdict.n_accepted else verdict.extra_token_id)
    return first, n_accepted / n_steps


def law_p(tokens: list[int], p: list[float]) -> float:
    counts = [tokens.count(token_id) for token_id in range(len(p))]
    return float(stats.chisquare(counts, [len(tokens) * prob for prob in p]).pvalue)


def test_draws_of_the_draft_follow_the_target() -> None:
    tokens, acceptance = one_step(P, Q, 20_000, seed=0)
    assert acceptance == pytest.approx(0.9, abs=0.01)
    assert law_p(tokens, P) > 0.001


def test_a_greedy_draft_of_a_sampling_target_follows_the_target() -> None:
    """It says the one-hot distribution that it really drew from."""
    tokens, acceptance = one_step(P, Q, 5_000, seed=0, propose="one-hot")
    assert acceptance == pytest.approx(0.5, abs=0.03)  # p of the token, not p / q
    assert law_p(tokens, P) > 0.001


def test_a_greedy_draft_that_claims_its_softmax_is_seen() -> None:
    tokens, _ = one_step(P, Q, 2_000, seed=0, propose="argmax")
    assert set(tokens) == {0}  # the fault in full: token 0 in all steps


# --- what is not a distribution ------------------------------------------------------------------

TINY = [1e-22, 0.97, 0.03]


@pytest.mark.parametrize(
    "row", [[NAN] * 3, [NAN, 0.5, 0.5], [0.5, 0.5, NAN], [INF, 0.0, 0.0], [0.0] * 3]
)
def test_an_unusable_draft_row_is_replaced_from_the_target(row: list[float]) -> None:
    uniforms = torch.rand(400, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    tokens = []
    for uniform in uniforms.tolist():
        verdict = verdict_of([0], [row], [TINY, TINY], uniforms=[0.0], extra=uniform)
        assert (verdict.fates, verdict.extra_origin) == ((R,), Origin.RECOVERED)
        for number in (*verdict.draft_probs, *verdict.overlaps, *verdict.target_probs):
            assert 0.0 <= number <= 1.0
        tokens.append(verdict.extra_token_id)
    assert tokens.count(0) == 0
    assert tokens.count(1) / 400 == pytest.approx(0.97, abs=0.03)


def test_an_unusable_row_leaves_what_stood_before_it() -> None:
    verdict = verdict_of([0, 0, 0], [Q, [NAN] * 3, Q], [P] * 4, uniforms=[0.1, 0.1, 0.1])
    assert verdict.fates == (A, R, D)


def test_an_unusable_row_behind_a_rejection_does_no_harm() -> None:
    verdict = verdict_of([1, 0], [Q, [NAN] * 3], [P] * 3, uniforms=[0.99, 0.1])
    assert (verdict.fates, verdict.extra_token_id) == ((R, D), 0)


def test_a_rejection_without_residual_draws_from_the_target() -> None:
    """Rounding alone can bring it about; here by a number that no generator gives."""
    row = [0.25, 0.25, 0.5]
    for extra, token_id in ((0.1, 0), (0.3, 1), (0.9, 2)):
        verdict = verdict_of([0], [row], [row, row], uniforms=[1.0], extra=extra)
        assert (verdict.fates, verdict.n_zero_residual) == ((R,), 1)
        assert verdict.extra_token_id == token_id
    assert verdict_of([1], [Q], [P, P], uniforms=[0.99]).n_zero_residual == 0


@given(
    st.lists(st.lists(st.floats(0, 1, width=32), min_size=4, max_size=4), min_size=9, max_size=9),
    st.lists(st.integers(0, 3), min_size=0, max_size=4),
    st.lists(st.floats(0, LAST), min_size=5, max_size=5),
)
@settings(max_examples=200, deadline=None)
def test_a_verdict_is_always_whole(
    rows: list[list[float]], token_ids: list[int], numbers: list[float]
) -> None:
    n = len(token_ids)
    rows = [
        [value / sum(row) for value in row] if sum(row) > 0.01 else [1, 0, 0, 0] for row in rows
    ]
    target = rows[4 : 4 + n + 1]
    verdict = verdict_of(token_ids, rows[:n], target, uniforms=numbers[:n], extra=numbers[4])
    a = verdict.n_accepted
    assert verdict.fates == (A,) * a + ((R,) + (D,) * (n - a - 1) if a < n else ())
    for index in range(a):
        assert numbers[index] * verdict.draft_probs[index] < verdict.target_probs[index]
    assert target[a][verdict.extra_token_id] > 0
    if a < n and not verdict.n_zero_residual:
        assert target[a][verdict.extra_token_id] > rows[a][verdict.extra_token_id]
    assert all(0 <= overlap <= 1 for overlap in verdict.overlaps)


@given(st.data())
def test_one_hot_distributions_need_not_be_written_out(data: st.DataObject) -> None:
    """Whatever the numbers drawn, down to each field."""
    n_drafted = data.draw(st.integers(0, 5))
    ids = st.integers(0, 3)
    draft_ids = data.draw(st.lists(ids, min_size=n_drafted, max_size=n_drafted))
    target_ids = data.draw(st.lists(ids, min_size=n_drafted + 1, max_size=n_drafted + 1))
    numbers = st.floats(0.0, LAST)
    uniforms = data.draw(st.lists(numbers, min_size=n_drafted, max_size=n_drafted))
    written_out = judge(
        torch.tensor(draft_ids, dtype=torch.int64),
        one_hot(torch.tensor(draft_ids, dtype=torch.int64), 4),
        one_hot(torch.tensor(target_ids), 4),
        uniforms=uniforms,
        extra_uniform=data.draw(numbers),
    )
    assert judge_one_hot(draft_ids, target_ids, uniforms=uniforms) == written_out
