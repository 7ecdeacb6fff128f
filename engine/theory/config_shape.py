"""Reads a model's shape out of its ``config.json``, without loading the model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.theory.shape import ModelShape, count_parameters
from engine.theory.validate import require_count


@dataclass(frozen=True, slots=True)
class _Family:
    """What a model type implies that its ``config.json`` need not say."""

    is_tied_by_default: bool = False
    has_qkv_bias: bool = False
    has_qk_norm: bool = False
    n_norms_per_layer: int = 2
    is_windowed_by_default: bool = False
    alternates_windows: bool = False


FAMILIES: Mapping[str, _Family] = {
    "llama": _Family(),
    "mistral": _Family(is_windowed_by_default=True),
    "qwen2": _Family(has_qkv_bias=True),
    "qwen3": _Family(has_qk_norm=True),
    "gemma": _Family(is_tied_by_default=True),
    "gemma2": _Family(
        is_tied_by_default=True,
        n_norms_per_layer=4,
        is_windowed_by_default=True,
        alternates_windows=True,
    ),
}


def shape_from_config(config: Mapping[str, Any]) -> ModelShape:
    """The shape that a parsed ``config.json`` describes; parameters are counted from it.

    ValueError: a model type whose structure is not known here, a missing or senseless number.
    """
    model_type = config.get("model_type")
    family = FAMILIES.get(str(model_type))
    if family is None:
        raise ValueError(
            f"The structure of model type {model_type!r} is not known here "
            f"(known: {', '.join(sorted(FAMILIES))}); give its numbers instead, "
            "such as layers=32,hidden=4096,heads=32,intermediate=11008,vocab=32000."
        )
    n_layers = _count(config, "num_hidden_layers")
    hidden_size = _count(config, "hidden_size")
    n_heads = _count(config, "num_attention_heads")
    n_kv_heads = _count(config, "num_key_value_heads", n_heads)
    head_dim = _count(config, "head_dim", hidden_size // n_heads)
    intermediate_size = _count(config, "intermediate_size")
    vocab_size = _count(config, "vocab_size")
    tied = bool(config.get("tie_word_embeddings", family.is_tied_by_default))
    window, n_window_layers = _window(config, family, n_layers)
    return ModelShape(
        n_layers=n_layers,
        hidden_size=hidden_size,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        intermediate_size=intermediate_size,
        vocab_size=vocab_size,
        n_parameters=count_parameters(
            n_layers=n_layers,
            hidden_size=hidden_size,
            n_heads=n_heads,
            n_kv_heads=n_kv_heads,
            head_dim=head_dim,
            intermediate_size=intermediate_size,
            vocab_size=vocab_size,
            has_tied_embeddings=tied,
            has_qkv_bias=family.has_qkv_bias or bool(config.get("attention_bias")),
            has_qk_norm=family.has_qk_norm,
            n_norms_per_layer=family.n_norms_per_layer,
        ),
        has_tied_embeddings=tied,
        sliding_window=window,
        n_window_layers=n_window_layers,
    )


def _count(config: Mapping[str, Any], key: str, default: int | None = None) -> int:
    value = config.get(key)
    if value is None:
        value = default
    if value is None:
        raise ValueError(f"The config has no {key!r}, which the shape of the model needs.")
    return require_count(key, value, minimum=1)


def _window(
    config: Mapping[str, Any], family: _Family, n_layers: int
) -> tuple[int | None, int | None]:
    """The window and the number of windowed layers; (None, None) where every layer sees all."""
    window = config.get("sliding_window")
    if window is None or not config.get("use_sliding_window", family.is_windowed_by_default):
        return None, None
    layer_types = config.get("layer_types")
    if layer_types is not None:
        n_windowed = sum(kind == "sliding_attention" for kind in layer_types)
    elif family.alternates_windows:
        n_windowed = (n_layers + 1) // 2
    else:  # layers below max_window_layers see everything
        n_windowed = n_layers - min(n_layers, int(config.get("max_window_layers", 0)))
    return (int(window), n_windowed) if n_windowed else (None, None)
