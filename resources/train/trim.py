"""Cut a trained draft down to a narrower one, as a start for its distillation.

The residual stream is turned into its principal directions and only the leading ones are kept;
of the MLP only the most active neurons stay. Shapes: V vocabulary, D and d hidden size before
and after, T tokens.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM


@torch.no_grad()
def trimmed(wide: LlamaForCausalLM, config: LlamaConfig, ids: Tensor) -> LlamaForCausalLM:
    """A model of ``config`` that behaves like ``wide`` as far as its width allows.

    Both have one layer and the same heads; ``ids`` (n, T) is text to measure activity on.
    """
    narrow = LlamaForCausalLM(config)
    before, after = wide.model.layers[0], narrow.model.layers[0]
    embedding = wide.model.embed_tokens.weight
    states = wide.model(ids, output_hidden_states=True).hidden_states
    turn = _directions([embedding, *(state.flatten(0, 1) for state in states)])
    turn = turn[:, : config.hidden_size]  # (D, d)
    # A norm divides by the root of the mean square over d instead of D numbers.
    grown = (turn.shape[0] / turn.shape[1]) ** 0.5

    narrow.model.embed_tokens.weight.copy_(embedding @ turn)
    for name in ("q_proj", "k_proj", "v_proj"):
        reads = getattr(before.self_attn, name).weight * before.input_layernorm.weight
        getattr(after.self_attn, name).weight.copy_(grown * reads @ turn)
    after.self_attn.o_proj.weight.copy_(turn.T @ before.self_attn.o_proj.weight)

    scale = before.post_attention_layernorm.weight
    gate, up = before.mlp.gate_proj.weight * scale, before.mlp.up_proj.weight * scale
    down = before.mlp.down_proj.weight
    middle = _normalised(states[0].flatten(0, 1))  # what the MLP reads, without the attention
    activity = (F.silu(middle @ gate.T) * (middle @ up.T)).abs().mean(0) * down.norm(dim=0)
    kept = activity.topk(config.intermediate_size).indices
    after.mlp.gate_proj.weight.copy_(grown * gate[kept] @ turn)
    after.mlp.up_proj.weight.copy_(grown * up[kept] @ turn)
    after.mlp.down_proj.weight.copy_(turn.T @ down[:, kept])

    final = wide.model.norm.weight
    narrow.model.norm.weight.copy_(grown * (turn * final[:, None] * turn).sum(0))
    return narrow


def _directions(groups: list[Tensor]) -> Tensor:
    """Orthonormal columns (D, D), the strongest first; every group of rows (n, D) counts alike."""
    rows = [_normalised(group) for group in groups]
    spread = sum(((each.T @ each) / len(each) for each in rows), torch.zeros(()))
    return torch.linalg.eigh(spread).eigenvectors.flip(1)


def _normalised(rows: Tensor) -> Tensor:
    """Rows (n, D) with a mean square of 1."""
    return rows / rows.pow(2).mean(-1, keepdim=True).sqrt().clamp(min=1e-6)
