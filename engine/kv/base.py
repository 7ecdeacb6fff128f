"""What the decode loop asks of a cache, whichever way it hands out memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec
import torch

from engine.models.base import ForwardBatch, KvStore
from engine.wire.events import Role


class ForwardRow(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The tokens of one sequence to run, starting at the first position its cache does not hold."""

    sequence_id: int
    token_ids: Sequence[int]


@dataclass(frozen=True)
class Occupancy:
    """How full a cache is. Reserved and not written is what a reservation wastes."""

    reserved_bytes: int  # in blocks owned by sequences
    written_bytes: int  # in positions that hold keys and values
    n_free_blocks: int


class KvCache(KvStore, Protocol):
    """Keys and values of one role for several sequences, addressed by slot."""

    role: Role
    allocation: str
    n_blocks: int
    block_size: int
    bytes_per_block: int
    total_bytes: int

    def fits(self, n_positions: int) -> bool:
        """Whether a new sequence of ``n_positions`` would find its blocks now."""
        ...

    def open(self, sequence_id: int, *, n_positions: int) -> None:
        """Take the blocks for a new sequence.

        Raises:
            MemoryError: it does not fit; nothing was taken.
        """
        ...

    def room(self, sequence_id: int) -> int:
        """The most positions the sequence could hold now: its own blocks and all free ones."""
        ...

    def reserve(self, sequence_id: int, n_positions: int) -> bool:
        """Own blocks for ``n_positions`` positions. False: not enough free; nothing changed."""
        ...

    def length(self, sequence_id: int) -> int:
        """Positions held."""
        ...

    def batch(self, rows: Sequence[ForwardRow], *, device: torch.device) -> ForwardBatch:
        """Lay out one forward of ``rows`` and count their positions as written.

        Raises:
            IndexError: a row reaches past its blocks; call ``reserve`` first.
        """
        ...

    def settle(self, sequence_id: int, n_kept: int, *, step: int) -> None:
        """Keep the first ``n_kept`` positions, give back blocks that hold none of them, and say
        what was written and rolled back since the last call. No tensor is touched."""
        ...

    def holds(self, sequence_id: int) -> bool:
        """Whether the sequence is open here."""
        ...

    def close(self, sequence_id: int) -> None:
        """Give all blocks of the sequence back."""
        ...

    def occupancy(self) -> Occupancy: ...
