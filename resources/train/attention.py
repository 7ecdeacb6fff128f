"""Causal attention for short windows, with its backward pass written out.

The fused kernel of the framework is slow in its backward pass on CPU; for windows of up to
:data:`LONGEST` tokens whole probability matrices are cheaper. Shapes: n = batch x heads.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

LONGEST = 256
Kernels = tuple[Callable[..., Tensor], Callable[..., Tensor]]


def _probabilities(scores: Tensor, bias: Tensor, scale: float) -> Tensor:
    """Softmax over the last dimension of (n, T, T) scores plus a (T, T) causal bias."""
    wide = scores.float() * scale + bias
    grown = (wide - wide.amax(-1, keepdim=True)).exp()
    return (grown / grown.sum(-1, keepdim=True)).bfloat16()


def _score_gradient(weights: Tensor, upstream: Tensor, scale: float) -> Tensor:
    """Gradient of the raw scores from that of the probabilities."""
    p, g = weights.float(), upstream.float()
    return (p * (g - (p * g).sum(-1, keepdim=True)) * scale).bfloat16()


class _ShortAttention(torch.autograd.Function):
    """Attention on (n, T, head_dim) query, key and value."""

    @staticmethod
    def forward(ctx, q, k, v, bias, kernels):
        ctx.kernels, ctx.scale = kernels, q.shape[-1] ** -0.5
        weights = kernels[0](torch.bmm(q, k.transpose(1, 2)), bias, ctx.scale)
        ctx.save_for_backward(q, k, v, weights)
        return torch.bmm(weights, v)

    @staticmethod
    def backward(ctx, upstream):
        q, k, v, weights = ctx.saved_tensors
        g_v = torch.bmm(weights.transpose(1, 2), upstream)
        g_s = ctx.kernels[1](weights, torch.bmm(upstream, v.transpose(1, 2)), ctx.scale)
        return torch.bmm(g_s, k), torch.bmm(g_s.transpose(1, 2), q), g_v, None, None


def attention_kernels(compiled: bool) -> Kernels:
    """The element-wise parts, compiled where asked for."""
    if not compiled:
        return _probabilities, _score_gradient
    return (
        torch.compile(_probabilities, dynamic=False),
        torch.compile(_score_gradient, dynamic=False),
    )


def causal_attention(q: Tensor, k: Tensor, v: Tensor, kernels: Kernels) -> Tensor:
    """Causal self-attention of (B, heads, T, head_dim) tensors."""
    length = q.shape[2]
    if length > LONGEST:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    bias = torch.full((length, length), float("-inf")).triu(1)
    flat = [x.flatten(0, 1) for x in (q, k, v)]
    return _ShortAttention.apply(*flat, bias, kernels).view(q.shape)
