from dataclasses import replace

import pytest

from engine.theory.presets import PRESETS
from engine.theory.shape import ModelShape, count_parameters

LLAMA_8B = PRESETS["llama-3-8b"].shape


def test_derived_counts_of_a_known_model() -> None:
    assert LLAMA_8B.n_kv_values_per_token == 2 * 32 * 8 * 128
    assert LLAMA_8B.n_embedding_parameters == LLAMA_8B.n_head_parameters == 128256 * 4096
    assert LLAMA_8B.n_layer_parameters == 8_030_261_248 - 2 * 128256 * 4096
    assert replace(LLAMA_8B, has_tied_embeddings=True).n_head_parameters == 0


def test_windowed_layers() -> None:
    assert LLAMA_8B.n_windowed_layers == 0
    assert replace(LLAMA_8B, sliding_window=4096).n_windowed_layers == 32
    assert PRESETS["gemma-2-2b"].shape.n_windowed_layers == 13


@pytest.mark.parametrize("name", ["n_layers", "hidden_size", "vocab_size", "n_parameters"])
@pytest.mark.parametrize("value", [0, -1, 1.5])
def test_counts_must_be_counts(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1"):
        replace(LLAMA_8B, **{name: value})


def test_senseless_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple of n_kv_heads"):
        replace(LLAMA_8B, n_kv_heads=5)
    with pytest.raises(ValueError, match="less than the embeddings alone"):
        replace(LLAMA_8B, n_parameters=1_000_000)
    with pytest.raises(ValueError, match="needs a sliding_window"):
        replace(LLAMA_8B, n_window_layers=3)


def test_counting_a_model_small_enough_to_count_by_hand() -> None:
    n_parameters = count_parameters(
        n_layers=2,
        hidden_size=8,
        n_heads=2,
        n_kv_heads=1,
        head_dim=4,
        intermediate_size=16,
        vocab_size=10,
        has_tied_embeddings=True,
    )
    attention = 8 * 8 + 8 * 4 + 8 * 4 + 8 * 8
    assert n_parameters == 2 * (attention + 3 * 8 * 16 + 2 * 8) + 10 * 8 + 8
    ModelShape(
        n_layers=2, hidden_size=8, n_heads=2, n_kv_heads=1, head_dim=4, intermediate_size=16,
        vocab_size=10, n_parameters=n_parameters, has_tied_embeddings=True,
    )  # fmt: skip
