"""The contiguous cache: each sequence reserves its worst case at once, side by side, and keeps it.

It exists to be compared with: the same tensors and the same O(1) roll-back, but memory that is
reserved and not written, and sequences that have to wait although most of it is empty.
"""

from typing import Any

from engine.kv.block_table import BlockTable, blocks_for
from engine.kv.slot_cache import SlotCache


class ContiguousCache(SlotCache):
    """Every sequence reserves ``reservation`` positions, whatever it will use of them."""

    allocation = "contiguous"

    def __init__(self, *args: Any, reservation: int, **options: Any) -> None:
        super().__init__(*args, **options)
        self.reservation = reservation
        self._n_reserved_blocks = blocks_for(reservation, self.block_size)

    def fits(self, n_positions: int) -> bool:
        return n_positions <= self.reservation and self.pool.has_run(self._n_reserved_blocks)

    def open(self, sequence_id: int, *, n_positions: int) -> None:
        if n_positions > self.reservation:
            raise MemoryError(f"{n_positions} positions, {self.reservation} to a reservation")
        blocks = self.pool.allocate_run(sequence_id, self._n_reserved_blocks)
        self._add(sequence_id).extend(blocks)

    def room(self, sequence_id: int) -> int:
        return self._tables[sequence_id].capacity

    def reserve(self, sequence_id: int, n_positions: int) -> bool:
        return n_positions <= self._tables[sequence_id].capacity

    def _give_back(self, sequence_id: int, table: BlockTable) -> None:
        """Nothing: the reservation stays until the sequence is closed."""
