"""Forwards on made-up tokens: what a model asks of its store, and whether two forwards agree."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from engine.models.base import ForwardBatch, KvStore

Forward = Callable[[ForwardBatch, KvStore, int], torch.Tensor]

PREFILL_WIDTH = 8
VERIFY_WIDTH = 3
N_PROBE_FORWARDS = 3  # prefill, verification, one token


class ProbeStore:
    """A KvStore for one sequence that allocates as it goes and remembers what it was given."""

    def __init__(self) -> None:
        self.shapes: dict[int, tuple[int, int]] = {}  # layer -> (n_kv_heads, head_dim)
        self.has_odd_values = False  # values of another width than the keys
        self._contexts: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def update(
        self, layer: int, keys: torch.Tensor, values: torch.Tensor, batch: ForwardBatch
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """See KvStore; the context is whatever was written so far."""
        self.shapes[layer] = (keys.shape[1], keys.shape[3])
        self.has_odd_values |= values.shape != keys.shape
        if layer in self._contexts:
            past_keys, past_values = self._contexts[layer]
            keys, values = torch.cat((past_keys, keys), 2), torch.cat((past_values, values), 2)
        self._contexts[layer] = (keys, values)
        return keys, values


def probe_batch(first: int, width: int, *, n_ids: int, device: torch.device) -> ForwardBatch:
    """One row of ``width`` fixed made-up tokens at positions ``first``, ``first`` + 1, ..."""
    n_context = first + width
    positions = torch.arange(first, n_context, device=device)
    mask = None
    if first and width > 1:
        mask = positions[:, None] >= torch.arange(n_context, device=device)
        mask = mask[None, None]
    return ForwardBatch(
        token_ids=((positions * 7919 + 13) % n_ids)[None],
        positions=positions[None],
        write_slots=positions,
        context_slots=torch.arange(n_context, device=device)[None],
        mask=mask,
        context_run=(0, n_context),
        context_lengths=(n_context,),
        widths=(width,),
    )


@dataclass(frozen=True, eq=False)
class ProbeResult:
    """Logits of a prefill, a verification and a single token; and the store they went through."""

    token_ids: torch.Tensor  # [1, PREFILL_WIDTH + VERIFY_WIDTH + 1]
    logits: torch.Tensor  # [PREFILL_WIDTH + VERIFY_WIDTH + 1, vocab_size]
    store: ProbeStore


def run_probe(forward: Forward, *, n_ids: int, device: torch.device) -> ProbeResult:
    """Run ``forward`` over one made-up sequence the three ways decoding does."""
    store = ProbeStore()
    token_ids, logits = [], []
    first = 0
    for width in (PREFILL_WIDTH, VERIFY_WIDTH, 1):
        batch = probe_batch(first, width, n_ids=n_ids, device=device)
        token_ids.append(batch.token_ids)
        logits.append(forward(batch, store, width)[0])
        first += width
    return ProbeResult(torch.cat(token_ids, 1), torch.cat(logits), store)


def agrees(logits: torch.Tensor, reference: torch.Tensor) -> bool:
    """Whether two probes' logits are the same up to the rounding of their dtype."""
    bound = 2e-4 if reference.dtype == torch.float32 else 0.08
    largest = reference.float().abs().max()
    difference = (logits.float() - reference.float()).abs().max()
    return bool(difference <= bound * largest)
