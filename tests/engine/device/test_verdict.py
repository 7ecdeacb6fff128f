"""The batched verdict against the readable one, row by row, on the same numbers."""

import math
from typing import Any

import pytest
import torch

from engine.device.verdict import DraftRows, JudgedRow, confidences_of, judge_rows, read_rows
from engine.readings import raw_readings
from engine.rejection import judge, judge_one_hot
from engine.sampling import SamplingParams, one_hot, peaks, probabilities

N_TOKENS, N_MOST = 7, 4
ASKED = [4, 2, 0, 3, 1]
SAMPLED = SamplingParams(temperature=0.8, top_p=0.9)


class Batch:
    """Made-up logits, drafts and random numbers for five rows."""

    def __init__(self, seed: int, params: SamplingParams, *, is_looked_up: bool) -> None:
        generator = torch.Generator().manual_seed(seed)
        n_rows = len(ASKED)
        self.params = params
        self.logits = torch.randn(n_rows, N_MOST + 1, N_TOKENS, generator=generator) * 2
        draft_logits = self.logits[:, :-1] + torch.randn(
            n_rows, N_MOST, N_TOKENS, generator=generator
        )
        self.ids = draft_logits.argmax(-1)
        law = probabilities(draft_logits.reshape(-1, N_TOKENS), params)
        self.probs = None if is_looked_up else law.view(draft_logits.shape)
        self.uniforms = torch.rand(n_rows, N_MOST, generator=generator, dtype=torch.float64)
        self.extra = torch.rand(n_rows, generator=generator, dtype=torch.float64)
        self.maxima = draft_logits.amax(-1).double()

    def rows(self) -> list[JudgedRow]:
        draft = DraftRows(
            self.ids, torch.tensor(ASKED), self.maxima, torch.full_like(self.maxima, 0.5),
            self.probs,
        )  # fmt: skip
        numbers = judge_rows(
            self.logits, draft, self.params, uniforms=self.uniforms, extra_uniforms=self.extra
        )
        tests = [self.uniforms[row, :n].tolist() for row, n in enumerate(ASKED)]
        return read_rows(numbers.numpy(), ASKED, tests, n_most=N_MOST)

    def expected(self, row: int, n: int) -> Any:
        uniforms = self.uniforms[row, :n].tolist()
        ids, logits = self.ids[row, :n], self.logits[row, : n + 1]
        if self.params.temperature == 0.0:
            return judge_one_hot(ids.tolist(), logits.argmax(-1).tolist(), uniforms=uniforms)
        probs = one_hot(ids, N_TOKENS) if self.probs is None else self.probs[row, :n]
        return judge(
            ids, probs, probabilities(logits, self.params),
            uniforms=uniforms, extra_uniform=float(self.extra[row]),
        )  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("params", [SamplingParams(), SAMPLED, SamplingParams(1.0)], ids=str)
@pytest.mark.parametrize("is_looked_up", [False, True])
def test_as_the_verdict_of_one(seed: int, params: SamplingParams, is_looked_up: bool) -> None:
    batch = Batch(seed, params, is_looked_up=is_looked_up)
    for row, (judged, n) in enumerate(zip(batch.rows(), ASKED, strict=True)):
        expected, verdict = batch.expected(row, n), judged.verdict
        for name in ("fates", "n_accepted", "extra_token_id", "extra_origin", "uniforms",
                     "n_zero_residual"):  # fmt: skip
            assert getattr(verdict, name) == getattr(expected, name), name
        for name in ("draft_probs", "target_probs", "overlaps", "extra_target_prob"):
            assert getattr(verdict, name) == pytest.approx(getattr(expected, name)), name
        assert judged.token_ids == batch.ids[row, :n].tolist()
        assert judged.n_non_finite == 0
        rows = batch.logits[row, : n + 1]
        confidences, entropies = raw_readings(rows, peaks(rows), [*judged.token_ids, 0])
        assert judged.readings.target_confidences == pytest.approx(confidences[:n])
        assert judged.readings.target_entropies == pytest.approx(entropies[:n], abs=1e-5)
        assert judged.readings.extra_entropy == pytest.approx(
            entropies[verdict.n_accepted], abs=1e-5
        )
        assert judged.readings.draft_confidences == (0.5,) * n


@pytest.mark.parametrize("params", [SamplingParams(), SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf])
def test_a_draft_ends_before_a_token_drawn_from_nothing(
    params: SamplingParams, broken: float
) -> None:
    batch = Batch(3, params, is_looked_up=False)
    batch.maxima[0, 2] = broken
    judged = batch.rows()[0]
    assert judged.token_ids == batch.ids[0, :2].tolist()
    assert judged.n_non_finite == 1
    expected = batch.expected(0, 2)
    assert judged.verdict.fates == expected.fates
    assert judged.verdict.extra_token_id == expected.extra_token_id
    assert len(judged.target_maxima) == 3


def test_a_target_without_numbers_is_told_and_harms_no_other_row() -> None:
    batch = Batch(5, SAMPLED, is_looked_up=False)
    batch.logits[1] = math.nan
    rows = batch.rows()
    assert not any(map(math.isfinite, rows[1].target_maxima))
    assert rows[1].verdict.extra_token_id < N_TOKENS
    assert rows[0].verdict.fates == batch.expected(0, 4).fates


def test_an_empty_residual_is_counted_and_the_target_drawn_from() -> None:
    logits = torch.tensor([[[0.0, 0.0], [0.0, 0.0]]])
    probs = torch.tensor([[[0.6, 0.6]]])  # rounding made it too large everywhere
    draft = DraftRows(
        torch.tensor([[0]]), torch.tensor([1]), torch.zeros(1, 1).double(),
        torch.ones(1, 1).double(), probs,
    )  # fmt: skip
    numbers = judge_rows(
        logits, draft, SamplingParams(1.0),
        uniforms=torch.tensor([[0.99]]).double(), extra_uniforms=torch.tensor([0.7]).double(),
    )  # fmt: skip
    (judged,) = read_rows(numbers.numpy(), [1], [[0.99]], n_most=1)
    assert judged.verdict.n_zero_residual == 1
    assert judged.verdict.extra_token_id == 1


def test_confidence_is_read_at_temperature_one() -> None:
    logits = torch.tensor([[0.0, math.log(3.0)]])
    assert confidences_of(logits, torch.tensor([1])).tolist() == pytest.approx([0.75])
