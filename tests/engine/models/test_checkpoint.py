"""Files are checked by their headers alone."""

import json

import pytest
import torch
from safetensors.torch import save_file

from engine.models.checkpoint import check_folder, check_gguf, check_safetensors
from engine.wire.config import ConfigError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    save_file({"a": torch.zeros(3, 4), "b": torch.zeros(5)}, tmp_path / "model.safetensors")
    return tmp_path


def test_sizes(folder):
    size = check_folder(folder)
    assert size.n_values == 17
    assert size.file_bytes == (folder / "model.safetensors").stat().st_size


def test_shards_are_added_up(folder):
    (folder / "model.safetensors").rename(folder / "part-1.safetensors")
    save_file({"c": torch.zeros(2)}, folder / "part-2.safetensors")
    index = {"weight_map": {"a": "part-1.safetensors", "c": "part-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert check_folder(folder).n_values == 19
    (folder / "model.safetensors.index.json").write_text("{}")
    with pytest.raises(ConfigError, match="damaged"):
        check_folder(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content[:5],
        lambda content: b"\xff" * 8 + content[8:],
        lambda content: content[:8] + b"}" + content[9:],
        lambda content: b"",
    ],
)
def test_any_damage_is_a_sentence(folder, change):
    file = folder / "model.safetensors"
    file.write_bytes(change(file.read_bytes()))
    with pytest.raises(ConfigError, match="download it again"):
        check_safetensors(file)


def test_gguf_heads(tmp_path):
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF" + (3).to_bytes(4, "little"))
    check_gguf(file)
    file.write_bytes(b"GGUF")
    with pytest.raises(ConfigError, match="no GGUF file"):
        check_gguf(file)
