"""A cache beside a plain dict of lists: what was written must be what is read."""

from collections.abc import Sequence
from typing import Any

import torch

from engine.kv.base import ForwardRow
from engine.kv.contiguous_cache import ContiguousCache
from engine.kv.paged_cache import PagedCache
from engine.kv.slot_cache import SlotCache
from engine.models.base import ForwardBatch
from engine.wire.events import Event, Role

N_HEADS, HEAD_DIM = 2, 3
CPU = torch.device("cpu")
LAYERS = ((N_HEADS, HEAD_DIM), (1, 5))


def make_cache(
    allocation: str = "paged", *, n_blocks: int = 8, block_size: int = 4, **options: Any
) -> tuple[Any, list[Event]]:
    said: list[Event] = []
    kind: Any = PagedCache if allocation == "paged" else ContiguousCache
    if allocation == "contiguous":
        options.setdefault("reservation", 12)
    cache = kind(
        Role.TARGET, LAYERS, n_blocks=n_blocks, block_size=block_size,
        dtype=torch.float32, device=CPU, say=said.append, **options,
    )  # fmt: skip
    return cache, said


class PlainCache:
    """Writes tagged rows through a ``SlotCache`` and into lists, and compares what comes out."""

    def __init__(self, cache: SlotCache) -> None:
        self.cache = cache
        self.tags: dict[int, list[int]] = {}
        self._next_tag = 1

    def write(self, widths: dict[int, int]) -> ForwardBatch:
        """One forward over the sequences of ``widths``; checks every position of each."""
        rows = [ForwardRow(sequence_id, [0] * width) for sequence_id, width in widths.items()]
        starts = [len(self.tags[sequence_id]) for sequence_id in widths]
        batch = self.cache.batch(rows, device=CPU)
        fresh = []
        for sequence_id, width in widths.items():
            fresh.append(list(range(self._next_tag, self._next_tag + width)))
            self._next_tag += width
            self.tags[sequence_id] += fresh[-1]
        for layer in range(len(LAYERS)):
            keys = _left_padded(fresh, layer, sign=1)
            values = _left_padded(fresh, layer, sign=-1)
            read = self.cache.update(layer, keys, values, batch)
            for index, sequence_id in enumerate(widths):
                expected = _rows(self.tags[sequence_id], layer)
                n_held = len(self.tags[sequence_id])
                assert torch.equal(read[0][index, :, :n_held], expected)
                assert torch.equal(read[1][index, :, :n_held], -expected)
        self._check_layout(batch, starts, tuple(widths.values()))
        return batch

    def roll_back(self, sequence_id: int, n_kept: int) -> None:
        self.cache.settle(sequence_id, n_kept, step=0)
        del self.tags[sequence_id][n_kept:]
        assert self.cache.length(sequence_id) == n_kept

    def _check_layout(self, batch: ForwardBatch, starts: list[int], widths: Sequence[int]) -> None:
        """Positions, padding and mask of every row, position by position."""
        width = max(widths)
        assert batch.widths == tuple(widths)
        lengths = tuple(start + each for start, each in zip(starts, widths, strict=True))
        assert batch.context_lengths == lengths
        mask = batch.mask
        if mask is None:
            assert len(widths) == 1
            assert width == 1 or starts[0] == 0
            return
        for index, (start, each) in enumerate(zip(starts, widths, strict=True)):
            pad = width - each
            positions = list(range(start, start + each))
            assert batch.positions[index].tolist() == [0] * pad + positions
            for column in range(width):
                seen = mask[index, 0, column].nonzero()[:, 0].tolist()
                last = positions[column - pad] if column >= pad else 0
                assert seen == list(range(last + 1))


def _row(tag: int, layer: int) -> torch.Tensor:
    n_heads, head_dim = LAYERS[layer]
    return tag + torch.arange(n_heads * head_dim).view(n_heads, head_dim) / 100


def _rows(tags: list[int], layer: int) -> torch.Tensor:
    """[n_heads, n_tags, head_dim]"""
    return torch.stack([_row(tag, layer) for tag in tags], dim=1)


def _left_padded(fresh: list[list[int]], layer: int, *, sign: int) -> torch.Tensor:
    """[batch, n_heads, width, head_dim]; the padding is what must never be read: NaN."""
    width = max(map(len, fresh))
    n_heads, head_dim = LAYERS[layer]
    padded = torch.full((len(fresh), n_heads, width, head_dim), float("nan"))
    for index, tags in enumerate(fresh):
        padded[index, :, width - len(tags) :] = sign * _rows(tags, layer)
    return padded
