"""What the target was asked once comes back bit for bit."""

from pathlib import Path

import numpy as np
import torch

from resources.train.lessons import Lessons, keep_lessons


def test_ids_and_states_come_back_in_pairs(tmp_path: Path) -> None:
    ids = torch.arange(24).view(6, 4)
    states = torch.randn(6, 4, 3).bfloat16()
    keep_lessons(tmp_path, "written", 1, [(ids[:2], states[:2]), (ids[2:], states[2:])])
    picked_ids, picked = Lessons(tmp_path, "written", 1).pick(np.random.default_rng(0), 20)
    assert picked.dtype == torch.bfloat16
    for row, state in zip(picked_ids, picked, strict=True):
        at = int(row[0]) // 4
        assert torch.equal(row, ids[at])
        assert torch.equal(state, states[at])


def test_workers_keep_their_own(tmp_path: Path) -> None:
    for rank in range(2):
        ids = torch.full((1, 2), rank)
        keep_lessons(tmp_path, "read", rank, [(ids, torch.zeros(1, 2, 3).bfloat16())])
    assert [int(Lessons(tmp_path, "read", rank).ids[0, 0]) for rank in range(2)] == [0, 1]
