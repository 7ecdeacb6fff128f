import math

import pytest
import torch

from engine.drafters.base import Draft
from engine.readings import raw_confidences, raw_readings, read
from engine.sampling import peaks

TARGET = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [1 / 3, 1 / 3, 1 / 3]]).log()
INF = float("inf")
DRAFT = torch.tensor([[0.4, 0.35, 0.25], [0.25, 0.25, 0.5]]).log()


def draft_of(token_ids: list[int], logits: torch.Tensor | None) -> Draft:
    rows = None if logits is None else list(logits.split(1))[: len(token_ids)]
    return Draft(token_ids, torch.empty(len(token_ids), 3), rows or None, "model")


@pytest.mark.parametrize(("n_accepted", "entropy"), [(0, 1.029653), (1, 0.639032), (2, 1.098612)])
def test_readings_of_a_model_draft(n_accepted: int, entropy: float) -> None:
    readings = read(
        draft_of([0, 2], DRAFT), TARGET, target_peaks=peaks(TARGET), n_accepted=n_accepted
    )
    assert readings.draft_confidences == pytest.approx([0.4, 0.5])
    assert readings.target_confidences == pytest.approx([0.5, 0.8])
    assert readings.target_entropies == pytest.approx([1.029653, 0.639032], abs=1e-5)
    assert readings.extra_entropy == pytest.approx(entropy, abs=1e-5)


def test_a_looked_up_draft_is_sure_of_itself() -> None:
    readings = read(draft_of([0, 2], None), TARGET, target_peaks=peaks(TARGET), n_accepted=0)
    assert readings.draft_confidences == (1.0, 1.0)
    assert readings.target_confidences == pytest.approx([0.5, 0.8])


@pytest.mark.parametrize("logits", [None, torch.empty(0, 3)])
def test_readings_of_no_draft(logits: torch.Tensor | None) -> None:
    readings = read(draft_of([], logits), TARGET[:1], target_peaks=peaks(TARGET[:1]), n_accepted=0)
    assert readings.draft_confidences == readings.target_confidences == ()
    assert readings.target_entropies == ()
    assert readings.extra_entropy == pytest.approx(1.029653, abs=1e-5)


def test_models_of_different_precision() -> None:
    readings = read(
        draft_of([0, 2], DRAFT.to(torch.bfloat16)),
        TARGET,
        target_peaks=peaks(TARGET),
        n_accepted=0,
    )
    assert readings.target_confidences == pytest.approx([0.5, 0.8])
    assert readings.draft_confidences == pytest.approx([0.4, 0.5], rel=0.01)


# --- of rows ---------------------------------------------------------------------------------


def raw(logits: torch.Tensor, token_ids: list[int]) -> tuple[list[float], list[float]]:
    return raw_readings(logits, peaks(logits), token_ids)


def test_confidence_and_entropy_of_rows() -> None:
    logits = torch.cat((TARGET[:1], torch.zeros(1, 3), torch.tensor([[0.0, -INF, -INF]])))
    confidences, entropies = raw(logits, [1, 2, 0])
    assert confidences == pytest.approx([0.3, 1 / 3, 1.0])
    assert entropies == pytest.approx([1.0296530, math.log(3), 0.0], abs=1e-6)


def test_against_probabilities_written_out() -> None:
    logits = 4 * torch.randn(7, 300, generator=torch.Generator().manual_seed(5))
    probs = logits.double().softmax(-1)
    token_ids = [3 * row for row in range(7)]
    confidences, entropies = raw(logits, token_ids)
    assert confidences == pytest.approx([float(probs[r, i]) for r, i in enumerate(token_ids)])
    assert entropies == pytest.approx((-probs * probs.log()).sum(-1).tolist(), rel=1e-4)


def test_confidences_alone_are_those_of_the_readings() -> None:
    rows = [torch.randn(1, 50, generator=torch.Generator().manual_seed(n)) for n in range(4)]
    ids = [1, 2, 3, 4]
    together = raw(torch.cat(rows), ids)
    assert raw_confidences(rows, ids) == pytest.approx(together[0])
    assert raw_confidences([torch.tensor([[0.0, -INF, 0.0]])], [1]) == [0.0]
    assert raw_confidences([], []) == []
    assert raw(torch.cat(rows), ids) == together  # other rows in between change nothing


def test_readings_in_a_step_and_outside_of_one() -> None:
    logits = torch.randn(6, 20, generator=torch.Generator().manual_seed(2))
    with torch.inference_mode():
        inside = raw(logits.clone(), [0] * 6)
    assert raw(logits, [0] * 6) == inside


def test_extreme_logits_give_numbers() -> None:
    logits = torch.tensor([[1e4, -1e4, 0.0], [3e38, -3e38, 0.0], [-INF, -INF, 5.0]])
    confidences, entropies = raw(logits, [1, 0, 2])
    assert confidences == [0.0, 1.0, 1.0]
    assert entropies == [0.0, 0.0, 0.0]


def test_an_impossible_token_has_no_confidence() -> None:
    assert raw(torch.tensor([[0.0, -INF, 0.0]]), [1])[0] == [0.0]
