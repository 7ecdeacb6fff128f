"""What the decode loop needs of a model and a tokenizer, and nothing more."""

from typing import TYPE_CHECKING, Protocol

import msgspec
import torch

from engine.theory.shape import ModelShape

if TYPE_CHECKING:
    from engine.kv.pool_attention import PoolContext


class ForwardBatch(msgspec.Struct, frozen=True, eq=False, gc=False):
    """One forward of several sequences. Rows are padded on the **left**, so that the last column is
    the newest token of every row; padding is written to a scratch slot that no row reads.

    Where the positions lie in the store is told in one of two ways. A single row whose slots lie
    side by side is a ``context_run``: no index, no gather. All else has ``write_slots`` and
    ``context_slots``, which list the slots of this forward's tokens and, per row, of positions 0,
    1, 2, ... up to and including them, padded on the right with the row's own first slot.
    """

    token_ids: torch.Tensor  # [batch, width] int64
    positions: torch.Tensor  # [batch, width] int64; 0 for padding
    write_slots: torch.Tensor | None  # [batch * width] int64
    context_slots: torch.Tensor | None  # [batch, n_context] int64
    # [batch, 1, width, n_context] bool, True where a query may look; None where the plain rule is
    # enough: one row that reads all (width 1), or one row that starts at position 0 (lower
    # triangle).
    mask: torch.Tensor | None
    context_run: tuple[int, int] | None  # (first slot, n_context)
    context_lengths: tuple[int, ...]  # per row, tokens of this forward included
    widths: tuple[int, ...]  # per row, padding excluded
    # The mask as numbers to add to the scores, 0 or -inf, in the cache's dtype: what attention on
    # the CPU would make of it in every layer. None where nobody made it.
    bias: torch.Tensor | None = None
    # Set where attention reads the store's whole pool in place, see engine.kv.pool_attention: then
    # there are no context slots and no mask.
    pool: "PoolContext | None" = None
    # The tensors' numbers change from run to run, and ``context_lengths`` are but bounds.
    is_fixed: bool = False


class KvStore(Protocol):
    """Key/value tensors addressed by slot, one pair per layer."""

    def update(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, batch: ForwardBatch
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write ``keys`` and ``values`` [batch, n_kv_heads, width, head_dim] to the batch's write
        slots and return the context [batch, n_kv_heads, n_context, head_dim], a view where the run
        allows it; for a batch with ``pool`` both whole pools [n_slots, n_kv_heads, head_dim]."""
        ...


class CausalModel(Protocol):
    """A decoder-only model, either role."""

    name: str
    shape: ModelShape
    vocab_size: int  # width of the logits
    context_length: int  # positions it can hold
    device: torch.device
    dtype: torch.dtype
    weight_bytes: int
    notes: tuple[str, ...]

    def forward(self, batch: ForwardBatch, store: KvStore, *, n_logits: int) -> torch.Tensor:
        """Run the batch, reading and writing ``store``.

        Returns:
            Logits [batch, n_logits, vocab_size] of the last ``n_logits`` columns, in the model's
            dtype.
        """
        ...

    def layer_kv_shapes(self) -> tuple[tuple[int, int], ...]:
        """Per layer (n_kv_heads, head_dim): what the store must hold for one slot."""
        ...


class Tokenizer(Protocol):
    """Text to ids and back."""

    n_tokens: int  # ids in use; a model's logits may be wider
    eos_ids: frozenset[int]

    def encode(self, text: str, *, chat: bool) -> list[int]:
        """Ids of a prompt, special tokens as the model wants them. ``chat`` wraps it in the model's
        own template. Raises ConfigError when there is no template or nothing is left of the
        text."""
        ...

    def decode(self, token_ids: list[int]) -> str:
        """One decode of all ids; bytes that form no character become U+FFFD."""
        ...

    def token_bytes(self, token_id: int) -> bytes:
        """The raw bytes the token stands for in running text; empty for special tokens."""
        ...
