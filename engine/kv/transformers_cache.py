"""Shows a slot-addressed key/value store to transformers, as its cache and its attention
function."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface
from transformers.cache_utils import Cache, CacheLayerMixin

from engine.models.attention import attend
from engine.models.base import ForwardBatch, KvStore

# Load models with attn_implementation=ATTENTION_NAME: transformers builds no mask for a name it
# does not know, and hands a 4-D mask through as it is.
ATTENTION_NAME = "specscope"
_RECORDED_NAME = "specscope_recorded"


class StoreCache(Cache):
    """A transformers cache that keeps nothing: all goes to ``store``, addressed by ``batch``."""

    def __init__(self, store: KvStore, n_layers: int) -> None:
        self.store = store
        self.batch: ForwardBatch | None = None  # the forward under way
        super().__init__(layers=[_StoreLayer(self, layer) for layer in range(n_layers)])

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        layer_idx: int,
        *_args: Any,
        **_kwargs: Any,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of the whole context, [batch, n_kv_heads, n_context, head_dim]."""
        assert self.batch is not None
        return self.store.update(layer_idx, key_states, value_states, self.batch)


class _StoreLayer(CacheLayerMixin):
    """One layer of a StoreCache; answers lengths from the forward under way."""

    is_sliding = False

    def __init__(self, cache: StoreCache, layer: int) -> None:
        super().__init__()
        self.cache = cache
        self.layer = layer

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Nothing to set up: the store is allocated."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_args: Any, **_kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return self.cache.update(key_states, value_states, self.layer)

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.get_seq_length() + int(query_length), 0

    def get_seq_length(self, *_args: Any) -> int:
        batch = self.cache.batch
        if batch is None:
            return 0
        return max(batch.context_lengths) - batch.token_ids.shape[1]

    def get_max_length(self) -> int:
        return -1

    get_max_cache_shape = get_max_length  # its name before transformers 5.20


def cache_keyword(forward: Any) -> str:
    """What ``forward``, a model's bound method, calls its cache argument; it was renamed in 5.x."""
    parameters = inspect.signature(forward).parameters
    return "cache" if "cache" in parameters else "past_key_values"


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """What a model asks of the attention of one layer."""

    scaling: float
    window: int | None
    softcap: float | None
    sinks: torch.Tensor | None  # [n_heads]


@contextmanager
def recorded_attention(config: Any) -> Iterator[list[AttentionCall]]:
    """The attention calls of forwards made inside, in order; ``config`` is the model's own."""
    calls: list[AttentionCall] = []

    def record(
        module: torch.nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, None]:
        scaling = kwargs.get("scaling")
        calls.append(
            AttentionCall(
                scaling=query.shape[-1] ** -0.5 if scaling is None else scaling,
                window=kwargs.get("sliding_window"),
                softcap=kwargs.get("softcap"),
                sinks=kwargs.get("s_aux"),
            )
        )
        return _attention(module, query, key, value, attention_mask, **kwargs)

    AttentionInterface.register(_RECORDED_NAME, record)
    plain_name = config._attn_implementation
    config._attn_implementation = _RECORDED_NAME
    try:
        yield calls
    finally:
        config._attn_implementation = plain_name
        AttentionInterface.register(_RECORDED_NAME, _attention)


def _attention(
    _module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    **_kwargs: Any,
) -> tuple[torch.Tensor, None]:
    output = attend(
        query,
        key,
        value,
        mask=attention_mask,
        scaling=query.shape[-1] ** -0.5 if scaling is None else scaling,
        window=sliding_window,
        softcap=softcap,
        sinks=s_aux,
    )
    return output, None


AttentionInterface.register(ATTENTION_NAME, _attention)
