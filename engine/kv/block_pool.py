"""The physical blocks of one role's cache: which are free, who owns the others, said as it
changes."""

from collections.abc import Callable, Iterator, Sequence

from engine.wire.events import BlocksAllocated, BlocksFreed, Event, Role


class BlockPool:
    """``n_blocks`` blocks of ``block_size`` slots. The only speaker about blocks.

    A sequence gets the block behind its last one while that is free, and a new one begins far from
    the others: so the blocks of each lie side by side as long as the pool has room, and a context
    is read without a gather.
    """

    def __init__(
        self, role: Role, n_blocks: int, *, block_size: int, say: Callable[[Event], None]
    ) -> None:
        self.role = role
        self.n_blocks = n_blocks
        self.block_size = block_size
        self._say = say
        self._owner: dict[int, int] = {}  # physical block -> sequence_id; the others are free

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
        block = self.n_blocks if after is None else after + 1
        for _ in range(n_blocks):
            if block >= self.n_blocks or block in self._owner:
                block = self._far_from_others()
            self._owner[block] = sequence_id
            blocks.append(block)
            block += 1
        self._told(sequence_id, blocks, first_logical_block)
        return blocks

    def allocate_run(self, sequence_id: int, n_blocks: int) -> list[int]:
        """Take ``n_blocks`` that lie side by side, the lowest such run, as logical blocks 0, 1, ...

        Raises:
            MemoryError: no free run is long enough; nothing was taken.
        """
        start = self._run_start(n_blocks)
        if start is None:
            raise MemoryError(f"no run of {n_blocks} blocks among {self.n_free} free ones")
        blocks = list(range(start, start + n_blocks))
        self._owner.update(dict.fromkeys(blocks, sequence_id))
        self._told(sequence_id, blocks, 0)
        return blocks

    def has_run(self, n_blocks: int) -> bool:
        """Whether ``n_blocks`` free blocks lie side by side."""
        return self._run_start(n_blocks) is not None

    def _run_start(self, n_blocks: int) -> int | None:
        return next((start for start, end in self._gaps() if end - start >= n_blocks), None)

    def _far_from_others(self) -> int:
        """A free block in the longest gap: its middle, so that the sequence before it may grow, or
        its beginning where there is none."""
        start, end = max(self._gaps(), key=lambda gap: gap[1] - gap[0])
        return start if start == 0 else (start + end) // 2

    def _gaps(self) -> Iterator[tuple[int, int]]:
        """Free blocks that lie side by side, as first and behind the last, ascending."""
        start = 0
        for block in (*sorted(self._owner), self.n_blocks):
            if block > start:
                yield start, block
            start = block + 1

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
        if blocks:
            self._say(
                BlocksFreed(sequence_id=sequence_id, role=self.role, physical_blocks=tuple(blocks))
            )

    def _told(self, sequence_id: int, blocks: list[int], first_logical_block: int) -> None:
        if blocks:
            self._say(
                BlocksAllocated(
                    sequence_id=sequence_id,
                    role=self.role,
                    first_logical_block=first_logical_block,
                    physical_blocks=tuple(blocks),
                )
            )
