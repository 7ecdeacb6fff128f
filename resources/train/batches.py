"""Seeded batches of token windows from the encoded splits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from resources.train.tokenizer import KINDS

END_ID = 0
MIX = {"code": 0.57, "json": 0.18, "prose": 0.25}
"""What the target reads, as shares of the windows."""


class Batches:
    """Windows at random places; each kind supplies its share of the windows."""

    def __init__(self, work: Path, seed: int, mix: dict[str, float] = MIX) -> None:
        self.mix = mix
        self.random = np.random.default_rng(seed)
        self.arrays = {kind: np.load(work / f"train-{kind}.npy", mmap_mode="r") for kind in KINDS}
        self.starts: dict[str, np.ndarray] = {}

    def window(self, kind: str, length: int) -> np.ndarray:
        """``length`` tokens of one kind, as int64."""
        array = self.arrays[kind]
        at = int(self.random.integers(0, array.size - length))
        return np.asarray(array[at : at + length], dtype=np.int64)

    def beginning(self, kind: str, length: int) -> np.ndarray:
        """The first ``length`` tokens from where some document of a kind begins, as int64."""
        if kind not in self.starts:
            ends = np.flatnonzero(np.asarray(self.arrays[kind]) == END_ID)
            self.starts[kind] = ends[ends < self.arrays[kind].size - length - 1] + 1
        at = int(self.random.choice(self.starts[kind]))
        return np.asarray(self.arrays[kind][at : at + length], dtype=np.int64)

    def beginnings(self, count: int, length: int) -> Tensor:
        """Like :meth:`next`, with every row at the beginning of a document."""
        kinds = self.random.choice(list(self.mix), size=count, p=list(self.mix.values()))
        return torch.from_numpy(np.stack([self.beginning(str(kind), length) for kind in kinds]))

    def next(self, count: int, length: int) -> Tensor:
        """Token ids (count, length)."""
        kinds = self.random.choice(list(self.mix), size=count, p=list(self.mix.values()))
        return torch.from_numpy(np.stack([self.window(str(kind), length) for kind in kinds]))
