"""One sequence's logical -> physical blocks: from a position to its slot."""

from collections.abc import Sequence

import numpy as np


class BlockTable:
    """The blocks of one sequence in logical order, and how many of their positions are written."""

    def __init__(self, block_size: int) -> None:
        self.block_size = block_size
        self.blocks: list[int] = []
        self.length = 0  # positions written and kept
        self._slots = np.empty(0, dtype=np.int64)  # slot of each position; grows by doubling
        self._n_side_by_side = 0  # leading blocks whose numbers follow each other
        self._n_in_run = 0  # the positions they can hold

    @property
    def capacity(self) -> int:
        """Positions the blocks can hold."""
        return len(self.blocks) * self.block_size

    def n_missing(self, n_positions: int) -> int:
        """Blocks to add before ``n_positions`` positions fit."""
        return max(0, blocks_for(n_positions, self.block_size) - len(self.blocks))

    def extend(self, blocks: Sequence[int]) -> None:
        """Append physical blocks."""
        size = self.block_size
        first = len(self.blocks)
        needed = (first + len(blocks)) * size
        if needed > len(self._slots):
            grown = np.empty(max(needed, 2 * len(self._slots)), dtype=np.int64)
            grown[: first * size] = self._slots[: first * size]
            self._slots = grown
        for logical, block in enumerate(blocks, start=first):
            self._slots[logical * size : (logical + 1) * size] = np.arange(
                block * size, (block + 1) * size
            )
            if logical == self._n_side_by_side and (
                logical == 0 or block == self.blocks[logical - 1] + 1
            ):
                self._n_side_by_side += 1
            self.blocks.append(block)
        self._n_in_run = self._n_side_by_side * size

    def drop(self, n_kept: int) -> list[int]:
        """Remove the blocks from logical block ``n_kept`` on and return them, in logical order."""
        dropped = self.blocks[n_kept:]
        del self.blocks[n_kept:]
        self._n_side_by_side = min(self._n_side_by_side, len(self.blocks))
        self._n_in_run = self._n_side_by_side * self.block_size
        return dropped

    def slots(self, start: int, stop: int) -> np.ndarray:
        """Slots (``physical_block * block_size + offset``) of positions ``start`` .. ``stop - 1``,
        int64.

        Raises:
            IndexError: the positions reach past the table.
        """
        if stop > self.capacity:
            raise IndexError(f"position {stop - 1} is past a table of {self.capacity} positions")
        return self._slots[start:stop]

    def run_start(self, n_positions: int) -> int | None:
        """The slot of position 0 if the first ``n_positions`` positions lie side by side, else
        None."""
        if 0 < n_positions <= self._n_in_run:
            return self.blocks[0] * self.block_size
        return None


def blocks_for(n_positions: int, block_size: int) -> int:
    """Blocks that ``n_positions`` positions fill, the last one perhaps in part."""
    return -(-n_positions // block_size)
