import pytest

from engine.theory.presets import PRESETS, Preset, find_preset
from engine.theory.shape import count_parameters


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_shape_has_exactly_the_published_parameters(preset: Preset) -> None:
    shape = preset.shape
    assert shape.n_parameters == count_parameters(
        n_layers=shape.n_layers,
        hidden_size=shape.hidden_size,
        n_heads=shape.n_heads,
        n_kv_heads=shape.n_kv_heads,
        head_dim=shape.head_dim,
        intermediate_size=shape.intermediate_size,
        vocab_size=shape.vocab_size,
        has_tied_embeddings=shape.has_tied_embeddings,
        has_qkv_bias="qwen2.5" in preset.name,
        n_norms_per_layer=4 if "gemma-2" in preset.name else 2,
    )


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_the_nominal_size_is_near_the_real_one(preset: Preset) -> None:
    assert preset.n_nominal_parameters == pytest.approx(preset.shape.n_parameters, rel=0.25)


def test_names_are_found_whatever_their_case() -> None:
    assert find_preset(" Llama-3-70B ") is PRESETS["llama-3-70b"]
    assert find_preset("llama-4") is None
