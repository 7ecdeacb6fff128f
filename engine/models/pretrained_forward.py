"""A transformers model's own forward, with a KvStore in the place of its cache."""

import inspect
from typing import Any

import torch

from engine.kv.transformers_cache import StoreCache, cache_keyword
from engine.models.base import ForwardBatch, KvStore


class TransformersForward:
    """Calls ``module``, loaded with the attention of ``engine.kv.transformers_cache``."""

    def __init__(self, module: Any) -> None:
        self._forward = module.forward  # no hooks are used, so their dispatch is left out
        self._cache_keyword = cache_keyword(module.forward)
        self._keeps_logits = "logits_to_keep" in inspect.signature(module.forward).parameters
        self._n_layers = int(module.config.num_hidden_layers)
        self._cache: StoreCache | None = None

    def __call__(self, batch: ForwardBatch, store: KvStore, n_logits: int) -> torch.Tensor:
        """Logits [batch, n_logits, vocab_size]; call under inference_mode."""
        cache = self._cache
        if cache is None or cache.store is not store:
            cache = self._cache = StoreCache(store, self._n_layers)
        cache.batch = batch
        arguments: dict[str, Any] = {self._cache_keyword: cache}
        if self._keeps_logits:
            arguments["logits_to_keep"] = n_logits
        logits: torch.Tensor = self._forward(
            input_ids=batch.token_ids,
            attention_mask=batch.mask,
            position_ids=batch.positions,
            use_cache=True,
            return_dict=True,
            **arguments,
        ).logits
        return logits[:, -n_logits:]


def own_logits(module: Any, token_ids: torch.Tensor) -> torch.Tensor:
    """What ``module`` says of ``token_ids`` [1, width] with its own attention and no cache,
    [width, vocab_size]; call under inference_mode."""
    config = module.config
    ours = config._attn_implementation
    config._attn_implementation = "eager"
    try:
        logits: torch.Tensor = module.forward(
            input_ids=token_ids, use_cache=False, return_dict=True
        ).logits
    finally:
        config._attn_implementation = ours
    return logits[0]
