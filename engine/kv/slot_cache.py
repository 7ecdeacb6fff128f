"""Key/value tensors addressed by slot, and the lengths of the sequences in them.

What differs between a paged and a contiguous cache is only when blocks are taken and given back;
that is left to the two subclasses.
"""

import math
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Sequence

import numpy as np
import torch

from engine.kv.base import ForwardRow, Occupancy
from engine.kv.block_pool import BlockPool
from engine.kv.block_table import BlockTable
from engine.kv.causal_steps import CausalSteps
from engine.models.base import ForwardBatch
from engine.wire.events import Event, KvAdvanced, Role

_ALIGNMENT = 64
_MOST_POSITIONS = 8192  # views of one position that are kept
_NARROW = 16  # tokens of one sequence that a step runs at most, by and large


class SlotCache(ABC):
    """The tensors are ``[n_slots + 1, n_kv_heads, head_dim]`` per layer, one for keys and one for
    values. The last slot is the scratch slot: padding is written there and read by nobody."""

    allocation: str

    def __init__(
        self,
        role: Role,
        layer_shapes: Sequence[tuple[int, int]],
        *,
        n_blocks: int,
        block_size: int,
        dtype: torch.dtype,
        device: torch.device,
        say: Callable[[Event], None],
    ) -> None:
        self.role = role
        self.n_blocks = n_blocks
        self.block_size = block_size
        self.pool = BlockPool(role, n_blocks, block_size=block_size, say=say)
        self._say = say
        self._tables: dict[int, BlockTable] = {}
        self._settled: dict[int, int] = {}  # length at the last settle()
        self._scratch = n_blocks * block_size
        self._keys, self._values = (
            [
                _zeros((self._scratch + 1, *shape), dtype=dtype, device=device)
                for shape in layer_shapes
            ]
            for _ in range(2)
        )
        self._heads = [  # the same memory as [1, n_kv_heads, n_slots + 1, head_dim]
            (keys.transpose(0, 1)[None], values.transpose(0, 1)[None])
            for keys, values in zip(self._keys, self._values, strict=True)
        ]
        bytes_per_slot = sum(
            2 * n_kv_heads * head_dim * dtype.itemsize for n_kv_heads, head_dim in layer_shapes
        )
        self.bytes_per_block = bytes_per_slot * block_size
        self.total_bytes = bytes_per_slot * (self._scratch + 1)
        self._counting = torch.arange(self._scratch + 1, device=device)[None]  # positions, [1, n]
        self._single_positions: dict[int, torch.Tensor] = {}
        self._steps = CausalSteps(dtype, device)
        self._newest = array("q", [0] * _NARROW)  # the tokens of a narrow forward
        newest_ids = torch.frombuffer(self._newest, dtype=torch.int64)[None]
        self._newest_ids = [newest_ids[:, :width] for width in range(_NARROW + 1)]

    # --- lengths and blocks
    # ------------------------------------------------------------------------

    @abstractmethod
    def fits(self, n_positions: int) -> bool: ...

    @abstractmethod
    def open(self, sequence_id: int, *, n_positions: int) -> None: ...

    @abstractmethod
    def room(self, sequence_id: int) -> int: ...

    @abstractmethod
    def reserve(self, sequence_id: int, n_positions: int) -> bool: ...

    @abstractmethod
    def _give_back(self, sequence_id: int, table: BlockTable) -> None:
        """Free the blocks that a shorter ``table.length`` no longer needs."""

    def holds(self, sequence_id: int) -> bool:
        return sequence_id in self._tables

    def length(self, sequence_id: int) -> int:
        return self._tables[sequence_id].length

    def table(self, sequence_id: int) -> BlockTable:
        """The sequence's block table, to look at."""
        return self._tables[sequence_id]

    @property
    def scratch_slot(self) -> int:
        """Where padding is written; read by no row that counts."""
        return self._scratch

    @property
    def address(self) -> int:
        """Where the tensors lie; another one means that they were made anew."""
        return self._keys[0].data_ptr()

    def settle(self, sequence_id: int, n_kept: int, *, step: int) -> None:
        table = self._tables[sequence_id]
        before = self._settled[sequence_id]
        n_written = table.length - before
        n_rolled_back = table.length - n_kept
        if n_rolled_back < 0:
            raise ValueError(f"{n_kept} positions to keep, {table.length} held")
        table.length = n_kept
        self._settled[sequence_id] = n_kept
        if n_written or n_rolled_back:
            self._say(
                KvAdvanced(
                    sequence_id=sequence_id,
                    role=self.role,
                    step=step,
                    position=before,
                    n_written=n_written,
                    n_rolled_back=n_rolled_back,
                )
            )
        self._give_back(sequence_id, table)

    def fill(self, number: float) -> None:
        """Write ``number`` everywhere, so that all memory is there: pages that were never written
        are read as one and the same, from the processor's nearest cache."""
        for tensor in (*self._keys, *self._values):
            tensor.fill_(number)

    def close(self, sequence_id: int) -> None:
        table = self._tables.pop(sequence_id)
        del self._settled[sequence_id]
        self.pool.free(sequence_id, table.drop(0))

    def occupancy(self) -> Occupancy:
        per_slot = self.bytes_per_block // self.block_size
        return Occupancy(
            reserved_bytes=sum(len(t.blocks) for t in self._tables.values()) * self.bytes_per_block,
            written_bytes=sum(t.length for t in self._tables.values()) * per_slot,
            n_free_blocks=self.pool.n_free,
        )

    def _add(self, sequence_id: int) -> BlockTable:
        if sequence_id in self._tables:
            raise ValueError(f"sequence {sequence_id} is in the cache already")
        table = self._tables[sequence_id] = BlockTable(self.block_size)
        self._settled[sequence_id] = 0
        return table

    # --- one forward
    # -------------------------------------------------------------------------------

    def batch(self, rows: Sequence[ForwardRow], *, device: torch.device) -> ForwardBatch:
        if len(rows) == 1:
            return self._batch_of_one(rows[0], device)
        tables = [self._tables[row.sequence_id] for row in rows]
        widths = tuple(len(row.token_ids) for row in rows)
        lengths = tuple(table.length + width for table, width in zip(tables, widths, strict=True))
        width, n_context = max(widths), max(lengths)
        token_ids = np.zeros((len(rows), width), dtype=np.int64)
        positions = np.zeros((len(rows), width), dtype=np.int64)
        write_slots = np.full((len(rows), width), self._scratch, dtype=np.int64)
        context_slots = np.full((len(rows), n_context), self._scratch, dtype=np.int64)
        # A padded query looks at context position 0 alone: a row that may look nowhere is NaN.
        last_seen = np.zeros((len(rows), width), dtype=np.int64)
        for index, (row, table, length) in enumerate(zip(rows, tables, lengths, strict=True)):
            pad = width - widths[index]
            token_ids[index, pad:] = row.token_ids
            positions[index, pad:] = last_seen[index, pad:] = np.arange(table.length, length)
            write_slots[index, pad:] = table.slots(table.length, length)
            context_slots[index, :length] = table.slots(0, length)
            # Behind its end a row reads its own first slot, hidden by the mask: the scratch slot
            # may hold NaN from a broken forward, and 0 * NaN is NaN.
            context_slots[index, length:] = context_slots[index, 0]
            table.length = length
        mask = np.arange(n_context) <= last_seen[:, None, :, None]  # [batch, 1, width, n_context]
        return ForwardBatch(
            token_ids=_sent(token_ids, device),
            positions=_sent(positions, device),
            write_slots=_sent(write_slots.reshape(-1), device),
            context_slots=_sent(context_slots, device),
            mask=_sent(mask, device),
            context_run=None,
            context_lengths=lengths,
            widths=widths,
        )

    def _batch_of_one(self, row: ForwardRow, device: torch.device) -> ForwardBatch:
        table = self._tables[row.sequence_id]
        start, width = table.length, len(row.token_ids)
        length = start + width
        run_start = table.run_start(length)
        write_slots = context_slots = mask = bias = None
        if run_start is None:
            slots = table.slots(0, length)  # raises past the table, which no run reaches
            context_slots = _sent(slots.copy(), device)[None]
            write_slots = context_slots[0, start:]
        if width > 1 and start > 0:
            mask, bias = self._steps.of(start, width)
        table.length = length
        return ForwardBatch(
            token_ids=self._token_ids(row, device),
            positions=self._positions(start, width),
            write_slots=write_slots,
            context_slots=context_slots,
            mask=mask,
            context_run=None if run_start is None else (run_start, length),
            context_lengths=(length,),
            widths=(width,),
            bias=bias,
        )

    def _positions(self, start: int, width: int) -> torch.Tensor:
        """[1, width]. Those of single tokens come by in every sequence again."""
        if width > 1:
            return self._counting.narrow(1, start, width)
        position = self._single_positions.get(start)
        if position is None:
            position = self._counting.narrow(1, start, 1)
            if len(self._single_positions) < _MOST_POSITIONS:
                self._single_positions[start] = position
        return position

    def _token_ids(self, row: ForwardRow, device: torch.device) -> torch.Tensor:
        """[1, width]. On the CPU a few ids are written where the last ones were: the forward that
        was laid out before has read them."""
        width = len(row.token_ids)
        if device.type != "cpu" or width > _NARROW:
            return _sent(np.array([row.token_ids], dtype=np.int64), device)
        for index, token_id in enumerate(row.token_ids):
            self._newest[index] = token_id
        return self._newest_ids[width]

    def update(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, batch: ForwardBatch
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if batch.context_run is not None:
            first, n_context = batch.context_run
            width = keys.shape[2]
            start = first + n_context - width
            key_heads, value_heads = self._heads[layer]
            key_heads.narrow(2, start, width).copy_(keys)
            value_heads.narrow(2, start, width).copy_(values)
            return key_heads.narrow(2, first, n_context), value_heads.narrow(2, first, n_context)
        assert batch.write_slots is not None
        key_slots, value_slots = self._keys[layer], self._values[layer]
        n_rows, n_kv_heads, width, head_dim = keys.shape
        flat = (n_rows * width, n_kv_heads, head_dim)
        key_slots.index_copy_(0, batch.write_slots, keys.transpose(1, 2).reshape(flat))
        value_slots.index_copy_(0, batch.write_slots, values.transpose(1, 2).reshape(flat))
        if batch.pool is not None:
            return key_slots, value_slots
        assert batch.context_slots is not None
        gathered = batch.context_slots.reshape(-1)
        shape = (n_rows, batch.context_slots.shape[1], n_kv_heads, head_dim)
        return (
            key_slots.index_select(0, gathered).view(shape).transpose(1, 2),
            value_slots.index_select(0, gathered).view(shape).transpose(1, 2),
        )


def _sent(numbers: np.ndarray, device: torch.device) -> torch.Tensor:
    """On the device, in order with what runs there, without waiting for it: from memory that is
    pinned, which torch keeps until the copy is done."""
    tensor = torch.from_numpy(numbers)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def _zeros(shape: tuple[int, ...], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """Zeros; on the CPU in pages that take no memory until they are written, which torch's own
    zeros do at once. They begin where torch's do, at a whole line of the processor's cache: a
    product may round otherwise where its numbers lie otherwise."""
    if device.type != "cpu":
        return torch.zeros(shape, dtype=dtype, device=device)
    n_bytes = math.prod(shape) * dtype.itemsize
    memory = np.zeros(n_bytes + _ALIGNMENT, dtype=np.uint8)
    first = -memory.ctypes.data % _ALIGNMENT
    return torch.from_numpy(memory[first : first + n_bytes]).view(dtype).view(shape)
