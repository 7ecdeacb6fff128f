from typing import Any

import pytest

from engine.theory.config_shape import shape_from_config
from engine.theory.presets import PRESETS

LLAMA_8B: dict[str, Any] = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}
QWEN_HALF_B: dict[str, Any] = {
    "model_type": "qwen2",
    "num_hidden_layers": 24,
    "hidden_size": 896,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "intermediate_size": 4864,
    "vocab_size": 151936,
    "tie_word_embeddings": True,
    "sliding_window": 32768,
    "use_sliding_window": False,
    "max_window_layers": 21,
}
GEMMA_2B: dict[str, Any] = {
    "model_type": "gemma2",
    "num_hidden_layers": 26,
    "hidden_size": 2304,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "intermediate_size": 9216,
    "vocab_size": 256000,
    "sliding_window": 4096,
}
MISTRAL_7B: dict[str, Any] = {
    **LLAMA_8B,
    "model_type": "mistral",
    "vocab_size": 32000,
    "sliding_window": 4096,
}


@pytest.mark.parametrize(
    ("config", "preset"),
    [
        (LLAMA_8B, "llama-3-8b"),
        (QWEN_HALF_B, "qwen2.5-0.5b"),
        (GEMMA_2B, "gemma-2-2b"),
    ],
)
def test_a_config_gives_the_shape_of_its_preset(config: dict[str, Any], preset: str) -> None:
    assert shape_from_config(config) == PRESETS[preset].shape


def test_windows() -> None:
    mistral = shape_from_config(MISTRAL_7B)
    assert (mistral.sliding_window, mistral.n_windowed_layers) == (4096, 32)
    assert shape_from_config({**MISTRAL_7B, "sliding_window": None}).n_windowed_layers == 0
    qwen = shape_from_config({**QWEN_HALF_B, "use_sliding_window": True})
    assert (qwen.sliding_window, qwen.n_windowed_layers) == (32768, 3)
    kinds = ["sliding_attention", "full_attention"] * 12
    listed = {**QWEN_HALF_B, "use_sliding_window": True, "layer_types": kinds}
    assert shape_from_config(listed).n_windowed_layers == 12


def test_heads_default_to_multi_head_attention() -> None:
    config = {key: value for key, value in LLAMA_8B.items() if key != "num_key_value_heads"}
    assert shape_from_config(config).n_kv_heads == 32


def test_unknown_structures_and_missing_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="model type 'gpt2' is not known"):
        shape_from_config({"model_type": "gpt2"})
    with pytest.raises(ValueError, match="no 'vocab_size'"):
        shape_from_config({**LLAMA_8B, "vocab_size": None})
    with pytest.raises(ValueError, match="hidden_size must be a whole number"):
        shape_from_config({**LLAMA_8B, "hidden_size": "big"})
