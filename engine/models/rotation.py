"""Rotary positions (Su et al. 2021) as a table: the angle of each position, looked up and applied.

A head's numbers are turned two by two. Checkpoints put the two of a pair half a head apart; laid
side by side they are one complex number, and turning is one product of such numbers.
"""

from typing import Any

import torch

from engine.models.base import ForwardBatch

Rotation = tuple[torch.Tensor, ...]
"""Of a batch's positions. With halves apart: cosines and sines [batch, width, 1, head_dim], the
first half of the sines negated. In pairs: complex numbers [batch, width, 1, head_dim / 2]."""

_FIRST_POSITIONS = 4096  # rows of the first table; it doubles as contexts grow
_MOST_ROWS = 8192  # views of the table that are kept


class RotationTable:
    """Grows to the positions asked for. ``rotary`` gives their cosines and sines; ``like`` is a
    weight whose dtype and device they take."""

    def __init__(self, rotary: Any, like: torch.Tensor) -> None:
        self._rotary = rotary
        self._like = like[:1, None]
        self._in_pairs = False
        self._table: Rotation = (like.new_empty(0, 1, 0),)  # each [n_positions, 1, ...]
        self._outgrown: list[Rotation] = []  # tables that a captured graph may still read
        self._rows: dict[tuple[int, int], Rotation] = {}  # by first position and width

    def pair_up(self) -> None:
        """From now on heads come in ``pair_order``. Single precision alone has such numbers."""
        self._in_pairs = True
        self._table = (self._like.new_empty(0, 1, 0),)

    def of(self, batch: ForwardBatch) -> Rotation:
        """The rotation of the batch's positions."""
        n_positions = max(batch.context_lengths)
        if n_positions > len(self._table[0]):
            self._grow(n_positions)
        if len(batch.widths) > 1 or batch.is_fixed or self._like.is_cuda:
            return tuple([part[batch.positions] for part in self._table])
        width = batch.widths[0]  # positions follow each other, and every sequence comes by them
        first = n_positions - width
        rotation = self._rows.get((first, width))
        if rotation is None:
            rotation = tuple([part[None, first:n_positions] for part in self._table])
            if len(self._rows) < _MOST_ROWS:
                self._rows[first, width] = rotation
        return rotation

    def turn(self, heads: torch.Tensor, rotation: Rotation) -> torch.Tensor:
        """``heads`` [batch, width, n_heads, head_dim] turned; in pairs in place."""
        if self._in_pairs:
            pairs = heads.view(*heads.shape[:-1], -1, 2)
            torch.view_as_complex(pairs).mul_(rotation[0])
            return heads
        cosines, sines = rotation
        half = heads.shape[-1] // 2
        first, second = heads.split_with_sizes((half, half), -1)
        return (heads * cosines).addcmul_(torch.cat((second, first), -1), sines)

    def _grow(self, n_positions: int) -> None:
        size = _FIRST_POSITIONS
        while size < n_positions:
            size *= 2
        if self._like.is_cuda:
            self._outgrown.append(self._table)
        positions = torch.arange(size, device=self._like.device)[None]
        cosines, sines = [each[0][:, None] for each in self._rotary(self._like, positions)]
        half = cosines.shape[-1] // 2
        if self._in_pairs:
            parts = [each[..., :half].contiguous() for each in (cosines, sines)]
            self._table = (torch.complex(*parts),)
        else:
            sines = torch.cat((-sines[..., :half], sines[..., half:]), -1)
            self._table = (cosines.contiguous(), sines)
        self._rows.clear()


def pair_order(n_turned: int, n_others: int, head_dim: int) -> torch.Tensor:
    """Where the rows of a projection to ``n_turned`` heads that are turned and ``n_others`` that
    are not come from, if the pairs of the former are to lie side by side: int64, one per row."""
    half = head_dim // 2
    pairs = torch.stack((torch.arange(half), torch.arange(half, head_dim)), 1).reshape(-1)
    heads = torch.arange(n_turned)[:, None] * head_dim + pairs
    others = torch.arange(n_turned * head_dim, (n_turned + n_others) * head_dim)
    return torch.cat((heads.reshape(-1), others))
