"""Seeded batches of token windows from the encoded splits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from resources.train.tokenizer import KINDS

MIX = {"code": 0.57, "json": 0.18, "prose": 0.25}


class Batches:
    """Windows at random places; each kind supplies its share of the windows."""

    def __init__(self, work: Path, seed: int, split: str = "train") -> None:
        self.random = np.random.default_rng(seed)
        self.arrays = {kind: np.load(work / f"{split}-{kind}.npy", mmap_mode="r")
                       for kind in KINDS}

    def window(self, kind: str, length: int) -> np.ndarray:
        """``length`` tokens of one kind, as int64."""
        array = self.arrays[kind]
        at = int(self.random.integers(0, array.size - length))
        return np.asarray(array[at:at + length], dtype=np.int64)

    def next(self, count: int, length: int) -> Tensor:
        """Token ids (count, length)."""
        kinds = self.random.choice(list(MIX), size=count, p=list(MIX.values()))
        return torch.from_numpy(np.stack([self.window(str(kind), length) for kind in kinds]))
