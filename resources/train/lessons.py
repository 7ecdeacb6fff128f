"""What the draft learns from: token ids with the target's final hidden states behind each.

The states are kept as the sixteen bits of a bfloat16, 512 bytes a token at a hidden size of 256.
Shapes: n sequences, T tokens, D hidden size of the target.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor


class Lessons:
    """Sequences of one length with the target's states, read from files as they are asked for."""

    def __init__(self, work: Path, name: str, rank: int) -> None:
        ids, states = _paths(work, name, rank)
        self.ids = np.load(ids, mmap_mode="r")  # (n, T) uint16
        self.states = np.load(states, mmap_mode="r")  # (n, T, D) uint16, bits of bfloat16

    def pick(self, random: np.random.Generator, count: int) -> tuple[Tensor, Tensor]:
        """``count`` sequences at random: ids (count, T) int64 and states (count, T, D) bf16."""
        rows = random.integers(0, len(self.ids), count)
        ids = torch.from_numpy(self.ids[rows].astype(np.int64))
        return ids, torch.from_numpy(self.states[rows].copy()).view(torch.bfloat16)


def keep_lessons(work: Path, name: str, rank: int, parts: list[tuple[Tensor, Tensor]]) -> None:
    """Write sequences of one length: ids (n, T), states (n, T, D) in bfloat16, part by part."""
    path, states_path = _paths(work, name, rank)
    np.save(path, torch.cat([ids for ids, _ in parts]).numpy().astype(np.uint16))
    first = parts[0][1]
    shape = (sum(len(ids) for ids, _ in parts), *first.shape[1:])
    kept = np.lib.format.open_memmap(states_path, mode="w+", dtype=np.uint16, shape=shape)
    at = 0
    for _, states in parts:
        kept[at : at + len(states)] = states.contiguous().view(torch.uint16).numpy()
        at += len(states)
    kept.flush()


def _paths(work: Path, name: str, rank: int) -> tuple[Path, Path]:
    return work / f"{name}-{rank}-ids.npy", work / f"{name}-{rank}-states.npy"
