"""Attention over a gathered context: masks, windows, grouped heads, capped scores and sinks."""

import torch
from torch.nn import functional


def attend(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    *,
    mask: torch.Tensor | None,
    scaling: float,
    window: int | None = None,
    softcap: float | None = None,
    sinks: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attention of ``query`` [batch, n_heads, width, head_dim] over the context.

    ``keys`` and ``values`` are [batch, n_kv_heads, n_context, head_dim] in position order and may
    be strided views. ``mask`` is bool [batch, 1, width, n_context], True where a query may look,
    with at least one True per query, or numbers to add (without a window, cap or sinks); None means
    that one query reads all (width 1) or that the context starts with the first query (lower
    triangle). A query at position p, the last it may see, sees positions above p - ``window``.
    ``softcap`` bounds the scores; ``sinks`` [n_heads] takes part in the softmax.

    Returns:
        [batch, width, n_heads, head_dim].
    """
    width, n_context = query.shape[2], keys.shape[2]
    if window is not None and window < n_context:
        if mask is not None:
            mask = _windowed(mask, window)
        elif width == 1:
            keys, values = keys[:, :, -window:], values[:, :, -window:]
        else:
            mask = _windowed(_causal(n_context, query.device), window)
    if softcap is not None or sinks is not None:
        if mask is None and width > 1:
            mask = _causal(n_context, query.device)
        return _attend_eagerly(query, keys, values, mask, scaling, softcap, sinks)
    return _attend_fused(query, keys, values, mask, scaling)


def _attend_fused(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float,
) -> torch.Tensor:
    batch, n_heads, width, head_dim = query.shape
    n_groups = n_heads // keys.shape[1]
    # Queries that share a KV head become rows of one product where that is the faster way: always
    # for one query; on CUDA also under a mask, where grouped heads fall back to the slow kernel.
    if n_groups > 1 and (width == 1 or (mask is not None and query.is_cuda)):
        rows = query.reshape(batch, keys.shape[1], n_groups * width, head_dim)
        if mask is not None and width > 1:
            mask = mask.repeat(1, 1, n_groups, 1)
        output = functional.scaled_dot_product_attention(
            rows, keys, values, attn_mask=mask, scale=scaling
        ).reshape(batch, n_heads, width, head_dim)
    else:
        output = functional.scaled_dot_product_attention(
            query,
            keys,
            values,
            attn_mask=mask,
            is_causal=mask is None and width > 1,
            scale=scaling,
            enable_gqa=n_groups > 1,
        )
    return output.transpose(1, 2)


def _attend_eagerly(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    mask: torch.Tensor | None,
    scaling: float,
    softcap: float | None,
    sinks: torch.Tensor | None,
) -> torch.Tensor:
    n_groups = query.shape[1] // keys.shape[1]
    if n_groups > 1:
        keys = keys.repeat_interleave(n_groups, dim=1)
        values = values.repeat_interleave(n_groups, dim=1)
    # [batch, n_heads, width, n_context]
    scores = torch.matmul(query, keys.transpose(2, 3)) * scaling
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    if sinks is not None:
        column = sinks.to(scores.dtype).view(1, -1, 1, 1).expand(*scores.shape[:3], 1)
        scores = torch.cat((scores, column), dim=-1)
    weights = functional.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype)
    if sinks is not None:
        weights = weights[..., :-1]
    return torch.matmul(weights, values).transpose(1, 2)


def _causal(width: int, device: torch.device) -> torch.Tensor:
    return torch.ones(1, 1, width, width, dtype=torch.bool, device=device).tril()


def _windowed(mask: torch.Tensor, window: int) -> torch.Tensor:
    n_visible = mask.sum(dim=-1, keepdim=True)  # the query's position + 1
    key_positions = torch.arange(mask.shape[-1], device=mask.device)
    return mask & (key_positions >= n_visible - window)
