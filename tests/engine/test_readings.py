import pytest
import torch

from engine.drafters.base import Draft
from engine.readings import read

TARGET = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [1 / 3, 1 / 3, 1 / 3]]).log()
DRAFT = torch.tensor([[0.4, 0.35, 0.25], [0.25, 0.25, 0.5]]).log()


def draft_of(token_ids: list[int], logits: torch.Tensor | None) -> Draft:
    rows = None if logits is None else list(logits.split(1))[: len(token_ids)]
    return Draft(token_ids, torch.empty(len(token_ids), 3), rows or None, "model")


@pytest.mark.parametrize(("n_accepted", "entropy"), [(0, 1.029653), (1, 0.639032), (2, 1.098612)])
def test_readings_of_a_model_draft(n_accepted: int, entropy: float) -> None:
    readings = read(draft_of([0, 2], DRAFT), TARGET, n_accepted=n_accepted)
    assert readings.draft_confidences == pytest.approx([0.4, 0.5])
    assert readings.target_confidences == pytest.approx([0.5, 0.8])
    assert readings.target_entropies == pytest.approx([1.029653, 0.639032], abs=1e-5)
    assert readings.extra_entropy == pytest.approx(entropy, abs=1e-5)


def test_a_looked_up_draft_is_sure_of_itself() -> None:
    readings = read(draft_of([0, 2], None), TARGET, n_accepted=0)
    assert readings.draft_confidences == (1.0, 1.0)
    assert readings.target_confidences == pytest.approx([0.5, 0.8])


@pytest.mark.parametrize("logits", [None, torch.empty(0, 3)])
def test_readings_of_no_draft(logits: torch.Tensor | None) -> None:
    readings = read(draft_of([], logits), TARGET[:1], n_accepted=0)
    assert readings.draft_confidences == readings.target_confidences == ()
    assert readings.target_entropies == ()
    assert readings.extra_entropy == pytest.approx(1.029653, abs=1e-5)


def test_models_of_different_precision() -> None:
    readings = read(draft_of([0, 2], DRAFT.to(torch.bfloat16)), TARGET, n_accepted=0)
    assert readings.target_confidences == pytest.approx([0.5, 0.8])
    assert readings.draft_confidences == pytest.approx([0.4, 0.5], rel=0.01)
