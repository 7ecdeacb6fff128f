"""Where a forward of fixed shape finds its positions: told by numbers in fixed tensors."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from engine.device.static_inputs import StaticInputs
from engine.kv.block_table import BlockTable
from engine.kv.pool_attention import GATHER, PoolContext
from engine.kv.slot_cache import SlotCache
from engine.models.base import ForwardBatch

SMALLEST_CONTEXT = 256
"""Positions of the narrowest captured context; wider ones are twice as wide, again and again."""


class ContextShape(NamedTuple):
    """What of a context is fixed when a forward is captured."""

    n_positions: int  # that its tensors have room for
    mode: str  # how attention finds them, see engine.kv.pool_attention


def context_room(n_positions: int, *, context_length: int, block_size: int) -> int:
    """The captured context that holds ``n_positions``: a power of two, or all a model can hold."""
    room = SMALLEST_CONTEXT
    while room < n_positions:
        room *= 2
    most = -(-context_length // block_size) * block_size
    return max(min(room, most), -(-n_positions // block_size) * block_size)


def address_shapes(
    n_rows: int, n_columns: int, context: ContextShape, block_size: int
) -> dict[str, tuple[int, ...]]:
    """The inputs that tell positions: ``n_columns`` are tokens of a row, padding included."""
    return {
        "positions": (n_rows, n_columns),
        "write_slots": (n_rows, n_columns),
        "blocks": (n_rows, -(-context.n_positions // block_size)),
    }


def clear_addresses(inputs: StaticInputs, cache: SlotCache) -> None:
    """Make padding of all: written to the scratch slot, looking at the first slot of the pool."""
    inputs.host["positions"].fill(0)
    inputs.host["write_slots"].fill(cache.scratch_slot)
    inputs.host["blocks"].fill(0)


def fill_addresses(
    inputs: StaticInputs, row: int, table: BlockTable, *, first_column: int, n_tokens: int
) -> None:
    """Let ``row`` write the table's next ``n_tokens`` positions, from ``first_column`` on, and
    count them as written.

    Raises:
        IndexError: they reach past the table's blocks.
    """
    start, stop = table.length, table.length + n_tokens
    columns = slice(first_column, first_column + n_tokens)
    inputs.host["positions"][row, columns] = np.arange(start, stop)
    inputs.host["write_slots"][row, columns] = table.slots(start, stop)
    blocks = inputs.host["blocks"][row]
    n_blocks = min(len(table.blocks), len(blocks))
    blocks[:n_blocks] = table.blocks[:n_blocks]
    blocks[n_blocks:] = table.blocks[0]  # never looked at, but it must be some block
    table.length = stop


def pretend_addresses(inputs: StaticInputs, cache: SlotCache, n_held: int) -> None:
    """Let every row look at ``n_held`` positions of whatever the pool holds, for a measurement;
    what it writes goes to the scratch slot."""
    if not n_held:
        return
    n_columns = inputs.host["positions"].shape[1]
    n_slots = cache.n_blocks * cache.block_size
    first = max(0, min(n_held, n_slots - n_columns))
    inputs.host["positions"][:] = np.arange(first, first + n_columns)
    inputs.host["blocks"][:] = np.arange(inputs.host["blocks"].shape[1]) % cache.n_blocks


def lie_side_by_side(tables: Sequence[BlockTable], n_tokens: Sequence[int]) -> bool:
    """Whether each table's positions, ``n_tokens`` more of them included, lie side by side."""
    return all(
        table.run_start(table.length + n) is not None
        for table, n in zip(tables, n_tokens, strict=True)
    )


class Addressing:
    """Makes the batches of a function that is captured: tensors computed from its inputs alone."""

    def __init__(self, inputs: StaticInputs, context: ContextShape, block_size: int) -> None:
        self._given = inputs.device
        self._context = context
        self._block_size = block_size
        device = self._given["blocks"].device
        self._places = torch.arange(context.n_positions, device=device)
        self._offsets = torch.arange(block_size, device=device)

    def slots(self) -> torch.Tensor:
        """[n_rows, n_positions]: the slot of each position, as far as the rows' blocks go. To be
        made once in a function and handed to every ``batch`` of it."""
        blocks = self._given["blocks"]
        slots = (blocks[:, :, None] * self._block_size + self._offsets).flatten(1)
        return slots[:, : self._context.n_positions]

    def batch(
        self, token_ids: torch.Tensor, slots: torch.Tensor, *, first_column: int
    ) -> ForwardBatch:
        """The forward of ``token_ids`` [n_rows, width], which stand in the columns from
        ``first_column`` on."""
        n_rows, width = token_ids.shape
        columns = slice(first_column, first_column + width)
        positions = self._given["positions"][:, columns]
        newest = positions[:, -1:]
        mask = context_slots = pool = None
        if self._context.mode == GATHER:
            # Behind its newest position a row reads its own first slot, hidden by the mask: others
            # may hold NaN from a broken forward, and 0 * NaN is NaN.
            context_slots = torch.where(self._places <= newest, slots, slots[:, :1])
            mask = self._places <= positions[:, None, :, None]
        else:
            pool = self._pool_context(newest, width)
        return ForwardBatch(
            token_ids=token_ids,
            positions=positions,
            write_slots=self._given["write_slots"][:, columns].reshape(-1),
            context_slots=context_slots,
            mask=mask,
            context_run=None,
            context_lengths=(self._context.n_positions,) * n_rows,
            widths=(width,) * n_rows,
            pool=pool,
            is_fixed=True,
        )

    def _pool_context(self, newest: torch.Tensor, width: int) -> PoolContext:
        blocks = self._given["blocks"]
        n_rows = blocks.shape[0]
        counting = torch.arange(n_rows + 1, device=blocks.device, dtype=torch.int32)
        starts = blocks[:, 0] * self._block_size
        return PoolContext(
            mode=self._context.mode,
            block_size=self._block_size,
            query_starts=counting * width,
            key_starts=torch.cat((starts, starts[-1:])).to(torch.int32),
            n_used=(newest[:, 0] + 1).to(torch.int32),
            blocks=blocks.to(torch.int32),
            width=width,
            n_positions=self._context.n_positions,
        )
