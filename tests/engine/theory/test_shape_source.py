import json
from pathlib import Path

import pytest

from engine.theory.presets import PRESETS
from engine.theory.shape_source import resolve_shape

QWEN_7B = (
    "layers=28,hidden=3584,heads=28,kv_heads=4,head_dim=128,intermediate=18944,vocab=152064,"
    "parameters=7.62B"
)
LLAMA_8B = {
    "model_type": "llama",
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}


def test_a_preset() -> None:
    model = resolve_shape("LLAMA-3-70B")
    assert model.shape is PRESETS["llama-3-70b"].shape
    assert model.with_nominal_size().shape.n_parameters == 70_000_000_000


def test_a_folder_and_its_file(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LLAMA_8B), encoding="utf-8")
    model = resolve_shape(str(tmp_path))
    assert model.shape == PRESETS["llama-3-8b"].shape
    assert model.name == tmp_path.name
    assert resolve_shape(str(file)) == model


def test_a_folder_by_the_name_it_goes_by(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA_8B), encoding="utf-8")
    folders = {"mine": tmp_path}
    model = resolve_shape("mine", folders)
    assert (model.name, model.shape) == ("mine", PRESETS["llama-3-8b"].shape)
    with pytest.raises(ValueError, match="No model 'yours': name a known one \\(mine, "):
        resolve_shape("yours", folders)


def test_numbers() -> None:
    shape = resolve_shape(QWEN_7B).shape
    assert shape.n_parameters == 7_620_000_000
    assert (shape.n_kv_heads, shape.head_dim, shape.has_tied_embeddings) == (4, 128, False)


def test_numbers_left_out_are_derived() -> None:
    text = "layers=2, hidden=64, heads=4, intermediate=128, vocab=1K, tied=yes, window=32"
    shape = resolve_shape(text).shape
    assert (shape.n_kv_heads, shape.head_dim, shape.vocab_size) == (4, 16, 1000)
    assert (shape.has_tied_embeddings, shape.sliding_window) == (True, 32)
    assert shape.n_parameters == 2 * (4 * 64 * 64 + 3 * 64 * 128 + 2 * 64) + 1000 * 64 + 64


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nonsense", "No model 'nonsense': name a known one"),
        ("layers=2", "'hidden' is missing"),
        (QWEN_7B + ",colour=1", "unknown 'colour'"),
        (QWEN_7B.replace("3584", "wide"), "hidden=wide is no number"),
        (QWEN_7B.replace("3584", "inf"), "hidden=inf is no number"),
        (QWEN_7B.replace("layers=28", "layers=0"), "n_layers must be a whole number"),
    ],
)
def test_what_cannot_be_resolved(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        resolve_shape(text)


@pytest.mark.parametrize(
    ("content", "sentence"), [("{", "not a readable JSON"), ("[]", "holds no JSON object")]
)
def test_files_that_are_no_config(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=sentence):
        resolve_shape(str(tmp_path))
