import json
from pathlib import Path

import torch
from safetensors import safe_open

from engine.models import sharded_file
from engine.models.checkpoint import check_folder
from engine.models.sharded_file import write_sharded

SHAPES = {"a": (10, 3), "b": (7,), "c": (4, 2)}


def whole(name: str) -> torch.Tensor:
    count = torch.Size(SHAPES[name]).numel()
    return torch.arange(count, dtype=torch.float32).view(SHAPES[name]) + len(name)


def test_files_are_read_back_by_safetensors(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(sharded_file, "BLOCK_VALUES", 7)
    asked: list[tuple[str, int, int]] = []
    told: list[tuple[int, int]] = []

    def block(name: str, first: int, last: int) -> torch.Tensor:
        asked.append((name, first, last))
        return whole(name)[first:last]

    (tmp_path / "config.json").write_text("{}")
    written = write_sharded(
        tmp_path, SHAPES, block, dtype=torch.bfloat16, say=lambda *n: told.append(n), shard_bytes=70
    )
    assert (written.n_values, written.n_bytes, len(written.files)) == (45, 90, 2)
    assert asked[:3] == [("a", 0, 2), ("a", 2, 4), ("a", 4, 6)], "never a whole tensor"
    assert told[-1] == (90, 90)
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert index["metadata"]["total_size"] == 90
    for name, file_name in index["weight_map"].items():
        with safe_open(tmp_path / file_name, framework="pt") as file:
            assert torch.equal(file.get_tensor(name), whole(name).bfloat16())
    assert check_folder(tmp_path).n_values == 45


def test_a_tensor_larger_than_a_shard_has_one_to_itself(tmp_path: Path) -> None:
    written = write_sharded(
        tmp_path,
        SHAPES,
        lambda name, first, last: whole(name)[first:last],
        dtype=torch.float32,
        say=lambda done, of: None,
        shard_bytes=1,
    )
    assert written.files == tuple(f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3))
