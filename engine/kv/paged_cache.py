"""The paged cache: blocks are taken as positions are needed and given back on roll-back."""

from engine.kv.block_table import BlockTable, blocks_for
from engine.kv.slot_cache import SlotCache


class PagedCache(SlotCache):
    """Memory in proportion to what is written; at most one block per sequence is partly empty,
    besides the blocks held for the draft in flight."""

    allocation = "paged"

    def fits(self, n_positions: int) -> bool:
        return blocks_for(n_positions, self.block_size) <= self.pool.n_free

    def open(self, sequence_id: int, *, n_positions: int) -> None:
        n_blocks = blocks_for(n_positions, self.block_size)
        blocks = self.pool.allocate(sequence_id, n_blocks, first_logical_block=0)
        self._add(sequence_id).extend(blocks)

    def room(self, sequence_id: int) -> int:
        return self._tables[sequence_id].capacity + self.pool.n_free * self.block_size

    def reserve(self, sequence_id: int, n_positions: int) -> bool:
        table = self._tables[sequence_id]
        n_missing = table.n_missing(n_positions)
        if not n_missing:
            return True
        if n_missing > self.pool.n_free:
            return False
        blocks = self.pool.allocate(
            sequence_id,
            n_missing,
            first_logical_block=len(table.blocks),
            after=table.blocks[-1] if table.blocks else None,
        )
        table.extend(blocks)
        return True

    def _give_back(self, sequence_id: int, table: BlockTable) -> None:
        n_kept = blocks_for(table.length, self.block_size)
        if n_kept < len(table.blocks):
            self.pool.free(sequence_id, table.drop(n_kept))
