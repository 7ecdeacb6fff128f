"""A lean bf16 forward over the parameters of a transformers Llama model, for training on CPU.

The parameters stay fp32 inside the transformers module (so that it can be saved as it is); each
step works on bf16 copies of them. Shapes: B sequences, T positions, D hidden size, V vocabulary.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM

from resources.train.attention import attention_kernels, causal_attention


def rotary_tables(config: LlamaConfig, length: int) -> tuple[Tensor, Tensor]:
    """Cosine and sine, each (1, 1, length, head_dim) in bf16, in the half-split layout."""
    head_dim = int(config.head_dim or config.hidden_size // config.num_attention_heads)
    rope: Any = config.rope_parameters
    theta = float(rope["rope_theta"])
    inverse = theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
    angles = torch.arange(length, dtype=torch.float32)[:, None] * inverse[None, :]
    angles = torch.cat((angles, angles), -1)[None, None]
    return angles.cos().bfloat16(), angles.sin().bfloat16()


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    """RMS norm over the last dimension, computed in fp32, returned in bf16."""
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)).bfloat16() * weight


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding of (B, heads, T, head_dim)."""
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def _before_attention(
    x: Tensor, norm: Tensor, w_qkv: Tensor, cos: Tensor, sin: Tensor, heads: int, kv_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value, each (B, heads, T, head_dim), the last two repeated per group."""
    batch, length, _ = x.shape
    dim = w_qkv.shape[0] // (heads + 2 * kv_heads)
    qkv = F.linear(_norm(x, norm), w_qkv).view(batch, length, heads + 2 * kv_heads, dim)
    qkv = qkv.transpose(1, 2)
    q = _rotate(qkv[:, :heads], cos, sin)
    k = _rotate(qkv[:, heads : heads + kv_heads], cos, sin)
    v = qkv[:, heads + kv_heads :]
    groups = heads // kv_heads
    k = k[:, :, None].expand(-1, -1, groups, -1, -1).reshape(q.shape)
    v = v[:, :, None].expand(-1, -1, groups, -1, -1).reshape(q.shape)
    return q, k, v


def _after_attention(
    x: Tensor, mixed: Tensor, w_o: Tensor, norm: Tensor, w_gate_up: Tensor, w_down: Tensor
) -> Tensor:
    """Output projection, residual and SwiGLU of one layer; ``x`` is (B, T, D)."""
    x = x + F.linear(mixed.transpose(1, 2).flatten(2), w_o)
    gate, up = F.linear(_norm(x, norm), w_gate_up).chunk(2, -1)
    return x + F.linear(F.silu(gate) * up, w_down)


class LeanForward:
    """Computes final hidden states of a Llama model; optionally through compiled kernels."""

    def __init__(self, model: LlamaForCausalLM, length: int, compiled: bool = True) -> None:
        self.model = model
        self.heads = model.config.num_attention_heads
        self.kv_heads = int(model.config.num_key_value_heads or model.config.num_attention_heads)
        self.cos, self.sin = rotary_tables(model.config, length)
        wrap = torch.compile if compiled else lambda function, **_: function
        self._before = wrap(_before_attention, dynamic=False)
        self._after = wrap(_after_attention, dynamic=False)
        self._kernels = attention_kernels(compiled)
        self._final = wrap(_norm, dynamic=False)

    def head(self) -> Tensor:
        """The tied (V, D) output matrix in bf16 (a differentiable copy)."""
        return self.model.model.embed_tokens.weight.bfloat16()

    def hidden(self, ids: Tensor, head: Tensor) -> Tensor:
        """Normalised final hidden states (B, T, D) in bf16 for token ids (B, T)."""
        length = ids.shape[1]
        cos, sin = self.cos[:, :, :length], self.sin[:, :, :length]
        x = F.embedding(ids, head)
        for layer in self.model.model.layers:
            a, m = layer.self_attn, layer.mlp
            w_qkv = torch.cat((a.q_proj.weight, a.k_proj.weight, a.v_proj.weight)).bfloat16()
            w_gate_up = torch.cat((m.gate_proj.weight, m.up_proj.weight)).bfloat16()
            q, k, v = self._before(
                x,
                layer.input_layernorm.weight.bfloat16(),
                w_qkv,
                cos,
                sin,
                self.heads,
                self.kv_heads,
            )
            mixed = causal_attention(q, k, v, self._kernels)
            x = self._after(
                x,
                mixed,
                a.o_proj.weight.bfloat16(),
                layer.post_attention_layernorm.weight.bfloat16(),
                w_gate_up,
                m.down_proj.weight.bfloat16(),
            )
        return self._final(x, self.model.model.norm.weight.bfloat16())
