"""The physical blocks of one role's cache: which are free, who owns the others, said as it
changes."""

from collections.abc import Callable, Sequence

from engine.wire.events import BlocksAllocated, BlocksFreed, Event, Role


class BlockPool:
    """``n_blocks`` blocks of ``block_size`` slots. The only speaker about blocks.

    The free list is a stack, in ascending order at the start and kept so by freeing in reverse: a
    sequence alone in the pool gets blocks that lie side by side, and its context is read without a
    gather.
    """

    def __init__(
        self, role: Role, n_blocks: int, *, block_size: int, say: Callable[[Event], None]
    ) -> None:
        self.role = role
        self.n_blocks = n_blocks
        self.block_size = block_size
        self._say = say
        self._free = list(range(n_blocks - 1, -1, -1))
        self._owner: dict[int, int] = {}  # physical block -> sequence_id

    @property
    def n_free(self) -> int:
        return len(self._free)

    def owner(self, block: int) -> int | None:
        """The sequence that holds ``block``, or None when it is free."""
        return self._owner.get(block)

    def allocate(self, sequence_id: int, n_blocks: int, *, first_logical_block: int) -> list[int]:
        """Take ``n_blocks`` from the free list.

        Raises:
            MemoryError: fewer are free; nothing was taken.
        """
        if n_blocks > len(self._free):
            raise MemoryError(f"{n_blocks} blocks wanted, {len(self._free)} free")
        blocks = [self._free.pop() for _ in range(n_blocks)]
        self._give(sequence_id, blocks, first_logical_block)
        return blocks

    def allocate_run(self, sequence_id: int, n_blocks: int) -> list[int]:
        """Take ``n_blocks`` that lie side by side, the lowest such run, as logical blocks 0, 1, ...

        Raises:
            MemoryError: no free run is long enough; nothing was taken.
        """
        start = self._run_start(n_blocks)
        if start is None:
            raise MemoryError(f"no run of {n_blocks} blocks among {len(self._free)} free ones")
        blocks = list(range(start, start + n_blocks))
        taken = set(blocks)
        self._free = [block for block in self._free if block not in taken]
        self._give(sequence_id, blocks, 0)
        return blocks

    def has_run(self, n_blocks: int) -> bool:
        """Whether ``n_blocks`` free blocks lie side by side."""
        return self._run_start(n_blocks) is not None

    def _run_start(self, n_blocks: int) -> int | None:
        free = sorted(self._free)
        for first, last in zip(free, free[n_blocks - 1 :], strict=False):
            if last - first == n_blocks - 1:
                return first
        return None

    def free(self, sequence_id: int, blocks: Sequence[int]) -> None:
        """Give ``blocks`` (in logical order) back.

        Raises:
            ValueError: one of them is not ``sequence_id``'s; nothing was freed.
        """
        for block in blocks:
            if self._owner.get(block) != sequence_id:
                raise ValueError(f"block {block} does not belong to sequence {sequence_id}")
        for block in reversed(blocks):
            del self._owner[block]
            self._free.append(block)
        if blocks:
            self._say(
                BlocksFreed(sequence_id=sequence_id, role=self.role, physical_blocks=tuple(blocks))
            )

    def _give(self, sequence_id: int, blocks: list[int], first_logical_block: int) -> None:
        for block in blocks:
            self._owner[block] = sequence_id
        if blocks:
            self._say(
                BlocksAllocated(
                    sequence_id=sequence_id,
                    role=self.role,
                    first_logical_block=first_logical_block,
                    physical_blocks=tuple(blocks),
                )
            )
