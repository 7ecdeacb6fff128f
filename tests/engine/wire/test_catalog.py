"""The list of known models, and where their files are."""

import json

from engine.wire.catalog import KNOWN_MODELS, data_folder, find_known_model, stored_size


def test_every_pair_names_a_known_model():
    names = [model.name for model in KNOWN_MODELS]
    assert len(set(names)) == len(names)
    for model in KNOWN_MODELS:
        assert model.pairs_with in (*names, "ngram")
        assert sum(map(bool, (model.hub_id, model.bundled_folder, model.wheel))) == 1


def test_the_data_folder_can_be_moved(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    assert data_folder("/elsewhere") == tmp_path
    monkeypatch.delenv("SPECSCOPE_DATA_DIR")
    assert str(data_folder("/elsewhere")) == "/elsewhere"


def test_unknown_names_are_not_known():
    assert find_known_model("gpt-x") is None


def test_sizes_are_read_from_headers(tmp_path):
    assert stored_size(tmp_path) is None
    header = json.dumps(
        {
            "a": {"dtype": "F32", "shape": [10, 4], "data_offsets": [0, 160]},
            "b": {"dtype": "BF16", "shape": [8], "data_offsets": [160, 176]},
        }
    ).encode()
    file = tmp_path / "model.safetensors"
    file.write_bytes(len(header).to_bytes(8, "little") + header + bytes(176))
    size = stored_size(tmp_path)
    assert size.n_parameters == 48
    assert size.weight_bytes == file.stat().st_size
    file.write_bytes(b"damaged")
    assert stored_size(tmp_path) is None
