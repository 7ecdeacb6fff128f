"""A tiny model and a tokenizer behind the models' protocols: random weights, no download.

The model has one attention layer that reads the cache it is given, so that a wrong slot, a wrong
mask or a wrong roll-back changes its logits.
"""

import math

import torch

from engine.models.base import ForwardBatch, KvStore
from engine.theory.shape import ModelShape


class ToyModel:
    """One layer, one to two heads. ``sharpness`` scales the logits: higher is more certain."""

    notes: tuple[str, ...] = ()

    def __init__(
        self,
        n_tokens: int,
        *,
        seed: int,
        sharpness: float = 2.0,
        hidden_size: int = 16,
        context_length: int = 512,
        vocab_size: int | None = None,
    ) -> None:
        self.name = f"toy-{seed}"
        self.vocab_size = vocab_size or n_tokens
        self.context_length = context_length
        self.device = torch.device("cpu")
        self.dtype = torch.float32
        generator = torch.Generator().manual_seed(seed)

        def weight(*size: int) -> torch.Tensor:
            return torch.randn(size, generator=generator) / math.sqrt(size[-1])

        self._n_heads, self._head_dim = 2, hidden_size // 2
        self._embed = weight(self.vocab_size, hidden_size) * 2
        self._place = weight(context_length + 64, hidden_size)
        self._query, self._key, self._value = (weight(hidden_size, hidden_size) for _ in range(3))
        self._head = weight(self.vocab_size, hidden_size) * sharpness
        n_parameters = 2 * self._embed.numel() + 4 * hidden_size**2 + 64
        self.weight_bytes = 4 * n_parameters
        self.shape = ModelShape(
            n_layers=1,
            hidden_size=hidden_size,
            n_heads=2,
            n_kv_heads=2,
            head_dim=self._head_dim,
            intermediate_size=1,
            vocab_size=self.vocab_size,
            n_parameters=n_parameters,
        )
        self.n_forwards = 0

    def layer_kv_shapes(self) -> tuple[tuple[int, int], ...]:
        return ((self._n_heads, self._head_dim),)

    def forward(self, batch: ForwardBatch, store: KvStore, *, n_logits: int) -> torch.Tensor:
        self.n_forwards += 1
        hidden = self._embed[batch.token_ids] + self._place[batch.positions]
        query, key, value = (
            self._heads(hidden @ weight.T) for weight in (self._query, self._key, self._value)
        )
        keys, values = store.update(0, key, value, batch)
        attended = attend(query, keys, values, batch.mask)
        merged = attended.transpose(1, 2).flatten(2)
        return ((hidden + merged) @ self._head.T)[:, -n_logits:]

    def plain_logits(self, token_ids: list[int]) -> torch.Tensor:
        """[len(token_ids), vocab_size] without any cache."""
        batch = ForwardBatch(
            token_ids=torch.tensor([token_ids]),
            positions=torch.arange(len(token_ids))[None],
            write_slots=torch.empty(0, dtype=torch.int64),
            context_slots=torch.empty((1, 0), dtype=torch.int64),
            mask=None,
            context_run=None,
            context_lengths=(len(token_ids),),
            widths=(len(token_ids),),
        )
        return self.forward(batch, _NoStore(), n_logits=len(token_ids))[0]

    def _heads(self, flat: torch.Tensor) -> torch.Tensor:
        return flat.unflatten(-1, (self._n_heads, self._head_dim)).transpose(1, 2)


class _NoStore:
    def update(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, batch: ForwardBatch
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return keys, values


def attend(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None
) -> torch.Tensor:
    """Plain attention under the rules of ``ForwardBatch.mask``."""
    scores = query @ keys.transpose(-1, -2) / math.sqrt(query.shape[-1])
    n_queries, n_keys = scores.shape[-2:]
    if mask is None:
        offset = n_keys - n_queries
        mask = torch.arange(n_keys) <= torch.arange(n_queries)[:, None] + offset
    return scores.masked_fill(~mask, -torch.inf).softmax(-1) @ values


class ToyTokenizer:
    """One id per byte of ``alphabet``; ids behind it are special and say nothing."""

    def __init__(self, n_tokens: int, *, eos_ids: frozenset[int] = frozenset()) -> None:
        self.n_tokens = n_tokens
        self.eos_ids = eos_ids

    def encode(self, text: str, *, chat: bool = False) -> list[int]:
        return [byte % self.n_tokens for byte in text.encode()]

    def decode(self, token_ids: list[int]) -> str:
        return b"".join(self.token_bytes(token_id) for token_id in token_ids).decode(
            errors="replace"
        )

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([97 + token_id % 26]) if self.n_tokens <= 26 else bytes([token_id])
