"""One forward and one verdict for rows of unequal length, drafted here and there."""

import pytest
import torch

from engine.device.draft_loop import DraftResults
from engine.device.verdict import read_rows
from engine.device.verification import VerifyTask
from engine.sampling import SamplingParams
from tests.support.device_engine import DeviceEngine
from tests.support.running_engine import greedy
from tests.support.toy_model import ToyModel

TARGET, DRAFT = ToyModel(24, seed=1), ToyModel(24, seed=2)
PROMPTS = {1: [3, 1, 4, 1, 5, 9], 2: [7, 7, 20], 3: [11, 2]}


@pytest.mark.parametrize("n_rows", [3, 4])
def test_drafts_of_the_host_and_of_the_device_side_by_side(n_rows: int) -> None:
    running = DeviceEngine(TARGET, DRAFT, gamma=4, batch=4, n_blocks=12)
    texts = {key: greedy(TARGET, prompt, 5) for key, prompt in PROMPTS.items()}
    for sequence_id, prompt in PROMPTS.items():
        running.target_cache.open(sequence_id, n_positions=len(prompt) + 6)
        running.engine.target.prefill(sequence_id, prompt[:-1])
    results = DraftResults(4, 4, 24, has_probs=False, device=torch.device("cpu"))
    results.token_ids[1, :4] = torch.tensor([*texts[2][:2], (texts[2][2] + 1) % 24, 0])

    def task(key: int, n_drafted: int, host_ids: list[int] | None) -> VerifyTask:
        return VerifyTask(key, PROMPTS[key][-1], n_drafted, host_ids, [0.5] * n_drafted, 0.5)

    tasks = [task(1, 2, texts[1][:2]), task(2, 4, None), task(3, 0, [])]
    numbers = running.device_step.verification.launch(
        tasks, results, SamplingParams(), n_rows=n_rows
    )
    rows = read_rows(numbers.numpy(), [2, 4, 0], [t.test_uniforms for t in tasks], n_most=4)
    assert [row.verdict.n_accepted for row in rows] == [2, 2, 0]
    assert [row.verdict.extra_token_id for row in rows] == [texts[1][2], texts[2][2], texts[3][0]]
    assert rows[0].readings.draft_confidences == (1.0, 1.0)
    assert [running.target_cache.length(key) for key in PROMPTS] == [8, 7, 2]
