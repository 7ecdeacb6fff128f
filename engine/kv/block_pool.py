"""The physical blocks of one role's cache: which are free, who owns the others, said as it
changes."""

from collections.abc import Callable, Sequence

from engine.kv.free_blocks import FreeBlocks
from engine.wire.events import BlocksAllocated, BlocksFreed, Event, Role


class BlockPool:
    """``n_blocks`` blocks of ``block_size`` slots. The only speaker about blocks.

    A sequence gets the block behind its last one while that is free, and a new one begins far from
    the others, where there is room for all that it asks for: so the blocks of each lie side by side
    until the pool is nearly full, and a context is read without a gather.
    """

    def __init__(
        self, role: Role, n_blocks: int, *, block_size: int, say: Callable[[Event], None]
    ) -> None:
        self.role = role
        self.n_blocks = n_blocks
        self.block_size = block_size
        self._say = say
        self._owner: dict[int, int] = {}  # physical block -> sequence_id
        self._free = FreeBlocks(n_blocks)  # the others

    @property
    def n_free(self) -> int:
        return self.n_blocks - len(self._owner)

    def owner(self, block: int) -> int | None:
        """The sequence that holds ``block``, or None when it is free."""
        return self._owner.get(block)

    def allocate(
        self, sequence_id: int, n_blocks: int, *, first_logical_block: int, after: int | None = None
    ) -> list[int]:
        """Take ``n_blocks``, side by side where that is possible.

        Args:
            after: the sequence's last block, to go on behind it; None for its first ones.

        Raises:
            MemoryError: fewer are free; nothing was taken.
        """
        if n_blocks > self.n_free:
            raise MemoryError(f"{n_blocks} blocks wanted, {self.n_free} free")
        blocks: list[int] = []
        if after is not None:
            blocks += self._take(after + 1, min(n_blocks, self._free.room_at(after + 1)))
        for start, n_taken in self._free.far_from_others(n_blocks - len(blocks)):
            blocks += self._take(start, n_taken)
        self._give(sequence_id, blocks, first_logical_block)
        return blocks

    def _take(self, start: int, n_blocks: int) -> range:
        if n_blocks:
            self._free.take(start, n_blocks)
        return range(start, start + n_blocks)

    def allocate_run(self, sequence_id: int, n_blocks: int) -> list[int]:
        """Take ``n_blocks`` that lie side by side, the lowest such run, as logical blocks 0, 1, ...

        Raises:
            MemoryError: no free run is long enough; nothing was taken.
        """
        start = self._free.first_run(n_blocks)
        if start is None:
            raise MemoryError(f"no run of {n_blocks} blocks among {self.n_free} free ones")
        blocks = list(self._take(start, n_blocks))
        self._give(sequence_id, blocks, 0)
        return blocks

    def has_run(self, n_blocks: int) -> bool:
        """Whether ``n_blocks`` free blocks lie side by side."""
        return self._free.first_run(n_blocks) is not None

    def free(self, sequence_id: int, blocks: Sequence[int]) -> None:
        """Give ``blocks`` (in logical order) back.

        Raises:
            ValueError: one of them is not ``sequence_id``'s; nothing was freed.
        """
        for block in blocks:
            if self._owner.get(block) != sequence_id:
                raise ValueError(f"block {block} does not belong to sequence {sequence_id}")
        for block in blocks:
            del self._owner[block]
        self._free.give_back(blocks)
        if blocks:
            self._say(
                BlocksFreed(sequence_id=sequence_id, role=self.role, physical_blocks=tuple(blocks))
            )

    def _give(self, sequence_id: int, blocks: list[int], first_logical_block: int) -> None:
        self._owner.update(dict.fromkeys(blocks, sequence_id))
        if blocks:
            self._say(
                BlocksAllocated(
                    sequence_id=sequence_id,
                    role=self.role,
                    first_logical_block=first_logical_block,
                    physical_blocks=tuple(blocks),
                )
            )
