"""A straight-line forward for Llama-shaped models: fused projections, a table of rotations."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from engine.kv.pool_attention import attend_in_pool
from engine.models.attention import attend
from engine.models.base import ForwardBatch, KvStore
from engine.models.linear import Linear, PlainLinear
from engine.models.rotation import RotationTable, pair_order

_STATIC_ROPE_TYPES = frozenset({"default", "linear", "llama3", "yarn"})
_LAYER_NORMS = frozenset({"input_layernorm", "post_attention_layernorm"})
_LAYER_PARTS = frozenset({"self_attn", "mlp"}) | _LAYER_NORMS
_ATTENTION_PARTS = frozenset({"q_proj", "k_proj", "v_proj", "o_proj"})
_QK_NORMS = frozenset({"q_norm", "k_norm"})
_SILU_NAMES = frozenset({"SiLU", "SiLUActivation"})  # torch's, and that of transformers 5
_MLP_PARTS = frozenset({"gate_proj", "up_proj", "down_proj", "act_fn"})


@dataclass(eq=False, slots=True)
class StraightLayer:
    """One decoder layer; the linear parts may be exchanged for packed ones."""

    qkv: Linear
    output: Linear
    gate_up: Linear
    down: Linear
    attention_norm: "RootMeanSquareNorm"
    mlp_norm: "RootMeanSquareNorm"
    query_norm: "RootMeanSquareNorm | None"
    key_norm: "RootMeanSquareNorm | None"
    mlp_sizes: tuple[int, int]  # of the gate and of what passes it; a split takes less than a chunk
    scaling: float
    window: int | None


LINEAR_PARTS = ("qkv", "output", "gate_up", "down")


class RootMeanSquareNorm:
    """RMS normalisation of the last dimension in as few operators as the device allows."""

    def __init__(self, module: nn.Module) -> None:
        weight: Any = module.weight
        self.weight: torch.Tensor = weight.detach()
        self.eps = float(getattr(module, "variance_epsilon", getattr(module, "eps", 1e-6)))
        size = self.weight.shape[0]
        self._is_wide = self.weight.dtype == torch.float32 and not self.weight.is_cuda
        self._scaled_weight = self.weight * size**0.5
        # sqrt(|x|^2 + size * eps) is the hypotenuse of |x| and this.
        self._floor = torch.tensor((size * self.eps) ** 0.5, device=self.weight.device)

    def scale(self, factor: float) -> None:
        """Multiply all that comes out from now on; exact for a power of two."""
        self.weight = self.weight * factor
        self._scaled_weight = self._scaled_weight * factor

    def reorder(self, order: torch.Tensor) -> None:
        """Expect the numbers in another order: [size] places that they come from."""
        self.weight = self.weight[order]
        self._scaled_weight = self._scaled_weight[order]

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        """[..., size] -> [..., size]."""
        if self._is_wide:  # twice as fast as the composite rms_norm of the CPU
            length = torch.linalg.vector_norm(rows, dim=-1, keepdim=True).hypot(self._floor)
            return rows.mul(self._scaled_weight).div_(length)
        return functional.rms_norm(rows, self.weight.shape, self.weight, self.eps)


class StraightForward:
    """The forward of a Llama, Qwen2, Qwen3, Mistral and the like. Weights are shared with
    ``module``: fused matrices are made once, and the module's own projections become views of
    them."""

    def __init__(
        self, module: nn.Module, *, windows: list[int | None], scalings: list[float]
    ) -> None:
        base: Any = module.model
        config: Any = module.config
        self.n_heads = int(config.num_attention_heads)
        self.n_kv_heads = int(getattr(config, "num_key_value_heads", None) or self.n_heads)
        self.embedding: torch.Tensor = base.embed_tokens.weight.detach()
        self.norm = RootMeanSquareNorm(base.norm)
        head: Any = module.lm_head
        self.head: Linear = PlainLinear(head.weight, head.bias)
        activation = base.layers[0].mlp.act_fn
        # A module is called in several steps, which take longer than a narrow row does.
        self.activation: Linear = (
            functional.silu if type(activation).__name__ in _SILU_NAMES else activation
        )
        self.layers = [
            _straight_layer(layer, windows[index], scalings[index])
            for index, layer in enumerate(base.layers)
        ]
        self._rotations = RotationTable(base.rotary_emb, self.embedding)

    def pair_up(self) -> None:
        """Lay the numbers that are turned together side by side, in copies of the weights: a narrow
        forward then turns by one operator. Call it on fp32, before layers are packed."""
        self._rotations.pair_up()
        for layer in self.layers:
            assert isinstance(layer.qkv, PlainLinear), "the layers are packed already"
            n_turned = self.n_heads + self.n_kv_heads
            head_dim = layer.qkv.weight.shape[0] // (n_turned + self.n_kv_heads)
            layer.qkv = layer.qkv.reordered(pair_order(n_turned, self.n_kv_heads, head_dim))
            for norm in (layer.query_norm, layer.key_norm):
                if norm is not None:
                    norm.reorder(pair_order(1, 0, head_dim))

    def __call__(self, batch: ForwardBatch, store: KvStore, n_logits: int) -> torch.Tensor:
        """Logits [batch, n_logits, vocab_size]; call under inference_mode."""
        n_rows, width = batch.token_ids.shape
        n_heads, n_kv_heads = self.n_heads, self.n_kv_heads
        activation = self.activation
        hidden = torch.embedding(self.embedding, batch.token_ids)
        rotation = self._rotations.of(batch)
        for index, layer in enumerate(self.layers):
            heads = layer.qkv(layer.attention_norm(hidden)).view(
                n_rows, width, n_heads + 2 * n_kv_heads, -1
            )
            turning, values = heads.split_with_sizes((n_heads + n_kv_heads, n_kv_heads), 2)
            if layer.query_norm is not None and layer.key_norm is not None:
                queries, keys = turning.split_with_sizes((n_heads, n_kv_heads), 2)
                turning = torch.cat((layer.query_norm(queries), layer.key_norm(keys)), 2)
            turned = self._rotations.turn(turning, rotation)
            queries, keys = turned.transpose(1, 2).split_with_sizes((n_heads, n_kv_heads), 1)
            context_keys, context_values = store.update(index, keys, values.transpose(1, 2), batch)
            if batch.pool is not None:
                attended = attend_in_pool(
                    queries,
                    context_keys,
                    context_values,
                    batch.pool,
                    scaling=layer.scaling,
                    window=layer.window,
                )
            else:
                mask = batch.mask if batch.bias is None or layer.window is not None else batch.bias
                attended = attend(
                    queries,
                    context_keys,
                    context_values,
                    mask=mask,
                    scaling=layer.scaling,
                    window=layer.window,
                )
            hidden = layer.output(attended.reshape(n_rows, width, -1)).add_(hidden)
            gate, up = layer.gate_up(layer.mlp_norm(hidden)).split_with_sizes(layer.mlp_sizes, -1)
            hidden = layer.down(activation(gate).mul_(up)).add_(hidden)
        return self.head(self.norm(hidden[:, -n_logits:]))


def is_straight(module: nn.Module) -> bool:
    """Whether ``module`` has the parts of a Llama and none besides; numbers are checked apart."""
    base, head = getattr(module, "model", None), getattr(module, "lm_head", None)
    layers = getattr(base, "layers", None)
    rotary = getattr(base, "rotary_emb", None)
    if not isinstance(layers, nn.ModuleList) or type(head) is not nn.Linear or rotary is None:
        return False
    if not _has_weight(getattr(base, "norm", None)):
        return False
    if not isinstance(getattr(rotary, "rope_type", None), str):
        return False
    return rotary.rope_type in _STATIC_ROPE_TYPES and all(_is_straight(layer) for layer in layers)


def _is_straight(layer: nn.Module) -> bool:
    if {name for name, _ in layer.named_children()} != _LAYER_PARTS:
        return False
    attention, mlp = layer.self_attn, layer.mlp
    attention_parts = {name for name, _ in attention.named_children()}  # type: ignore[union-attr]
    linears = [getattr(attention, name, None) for name in _ATTENTION_PARTS]
    linears += [getattr(mlp, name, None) for name in ("gate_proj", "up_proj", "down_proj")]
    return (
        attention_parts - _QK_NORMS == _ATTENTION_PARTS
        and attention_parts & _QK_NORMS in (frozenset(), _QK_NORMS)
        and {name for name, _ in mlp.named_children()} == _MLP_PARTS  # type: ignore[union-attr]
        and all(type(linear) is nn.Linear for linear in linears)
        and all(_has_weight(getattr(layer, name)) for name in _LAYER_NORMS)
    )


def _has_weight(norm: Any) -> bool:
    """A norm without one, as OLMo's, is of another kind."""
    return isinstance(getattr(norm, "weight", None), torch.Tensor)


def _straight_layer(layer: Any, window: int | None, scaling: float) -> StraightLayer:
    attention, mlp = layer.self_attn, layer.mlp
    query_norm, key_norm = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
    return StraightLayer(
        qkv=_fuse(attention.q_proj, attention.k_proj, attention.v_proj),
        output=PlainLinear(attention.o_proj.weight, attention.o_proj.bias),
        gate_up=_fuse(mlp.gate_proj, mlp.up_proj),
        down=PlainLinear(mlp.down_proj.weight, mlp.down_proj.bias),
        attention_norm=RootMeanSquareNorm(layer.input_layernorm),
        mlp_norm=RootMeanSquareNorm(layer.post_attention_layernorm),
        query_norm=None if query_norm is None else RootMeanSquareNorm(query_norm),
        key_norm=None if key_norm is None else RootMeanSquareNorm(key_norm),
        mlp_sizes=(mlp.gate_proj.out_features, mlp.up_proj.out_features),
        scaling=scaling,
        window=window,
    )


def _fuse(*linears: nn.Linear) -> PlainLinear:
    """One layer that computes all; the originals keep working, as views of it."""
    weight = torch.cat([linear.weight.detach() for linear in linears])
    biases = [linear.bias for linear in linears]
    bias = None
    if any(bias is not None for bias in biases):
        bias = torch.cat(
            [
                weight.new_zeros(linear.out_features)
                if linear.bias is None
                else linear.bias.detach()
                for linear in linears
            ]
        )
    first = 0
    for linear in linears:
        linear.weight.data = weight[first : first + linear.out_features]
        first += linear.out_features
    return PlainLinear(weight, bias)
