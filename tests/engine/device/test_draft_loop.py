"""The captured draft: where its tokens go, and what it may not touch."""

import pytest
import torch

from engine.device.draft_loop import DraftResults, DraftTask
from engine.sampling import SamplingParams
from tests.support.device_engine import DeviceEngine
from tests.support.running_engine import greedy
from tests.support.toy_model import ToyModel

TARGET, DRAFT = ToyModel(24, seed=1), ToyModel(24, seed=2)
PROMPTS = {1: [3, 1, 4, 1, 5, 9], 2: [7, 7, 20]}


@pytest.fixture
def running() -> DeviceEngine:
    running = DeviceEngine(TARGET, DRAFT, gamma=4, batch=4, n_blocks=8)
    for sequence_id, prompt in PROMPTS.items():
        running.draft_cache.open(sequence_id, n_positions=len(prompt) + 5)
        running.drafter._runner.prefill(sequence_id, prompt[:-2])
    return running


def task(sequence_id: int, row: int, gamma: int, n_pending: int = 2) -> DraftTask:
    pending = PROMPTS[sequence_id][-n_pending:]
    return DraftTask(row, sequence_id, pending, gamma, [0.5] * gamma)


@pytest.mark.parametrize("n_rows", [2, 4])
def test_rows_of_unequal_length_beside_padding(running: DeviceEngine, n_rows: int) -> None:
    results = DraftResults(4, 4, 24, has_probs=False, device=torch.device("cpu"))
    loop, cache = running.device_step._drafting.loop, running.draft_cache
    table = cache.table(2)
    beyond = table.slots(table.length + 2 + 1, table.length + 5).copy()
    before = cache._keys[0][beyond].clone()
    loop.launch([task(2, 3, 2), task(1, 0, 4)], results, SamplingParams(), n_rows=n_rows)
    assert results.token_ids[0].tolist() == greedy(DRAFT, PROMPTS[1], 4)
    assert results.token_ids[3, :2].tolist() == greedy(DRAFT, PROMPTS[2], 2)
    assert cache.length(1) == len(PROMPTS[1]) + 3, "all but the last token that was drawn"
    assert cache.length(2) == len(PROMPTS[2]) + 1
    assert cache._keys[0][beyond].equal(before), "a shorter row wrote nothing behind its end"
    assert results.confidences[0].min() > 0.0
    assert torch.isfinite(results.maxima[0]).all()


def test_the_law_is_kept_with_the_tokens(running: DeviceEngine) -> None:
    results = DraftResults(4, 4, 24, has_probs=True, device=torch.device("cpu"))
    running.device_step._drafting.loop.launch(
        [task(1, 1, 3)], results, SamplingParams(1.0), n_rows=1
    )
    assert results.probs is not None
    assert results.probs[1, :3].sum(-1).tolist() == pytest.approx([1.0] * 3)
    cumulative = results.probs[1, 0].double().cumsum(-1)
    assert results.token_ids[1, 0] == int(torch.searchsorted(cumulative, 0.5, right=True))


def test_the_bytes_of_results_are_known_before_they_are_taken() -> None:
    results = DraftResults(4, 3, 24, has_probs=True, device=torch.device("cpu"))
    assert results.probs is not None
    tensors = (results.token_ids, results.maxima, results.confidences, results.probs)
    assert sum(each.nbytes for each in tensors) == DraftResults.n_bytes(4, 3, 24, has_probs=True)
