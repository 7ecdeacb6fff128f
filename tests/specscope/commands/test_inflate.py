"""``specscope models inflate``: what it refuses, and that what it makes is listed as what it is."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from engine.models.inflate import inflate
from engine.theory.presets import PRESETS
from engine.theory.shape import ModelShape, count_parameters
from engine.wire.catalog import INFLATED_NOTE
from specscope.cli import main
from specscope.commands import inflate as module
from specscope.commands.inflate import CannotInflate, run_inflate

SIZES = {
    "n_layers": 1, "hidden_size": 512, "n_heads": 8, "n_kv_heads": 2, "head_dim": 64,
    "intermediate_size": 800, "vocab_size": 4096,
}  # fmt: skip
SHAPE = ModelShape(
    has_tied_embeddings=True,
    n_parameters=count_parameters(has_tied_embeddings=True, **SIZES),
    **SIZES,
)


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Builds a small shape whatever is asked for; the sources asked for."""
    asked: list[str] = []

    def build(source: str, shape_name: str, folder: Path, *, report) -> None:
        asked.append(source)
        inflate("bundled-draft", shape_name, folder, shape=SHAPE, say=report)

    monkeypatch.setattr(module, "run_inflate", build)
    return asked


def run(*arguments: str):
    return CliRunner().invoke(main, ["models", "inflate", *arguments])


def test_it_is_built_named_and_listed(data_folder: Path, in_this_process: list[str]) -> None:
    result = run("--shape", "llama-3.2-1b")
    assert result.exit_code == 0, result.output
    assert "for timing only" in result.stdout
    assert "specscope run --target inflated-llama-3.2-1b" in result.stdout
    assert in_this_process == ["bundled-draft"], "of that size a draft"
    listed = json.loads(CliRunner().invoke(main, ["models", "--json"]).stdout)
    (row,) = [row for row in listed if row["name"] == "inflated-llama-3.2-1b"]
    assert row["note"] == INFLATED_NOTE
    assert row["n_parameters"] == SHAPE.n_parameters
    assert all(row["note"] == "" for row in listed if row["source"] == "bundled")
    table = CliRunner().invoke(main, ["models"], env={"COLUMNS": "140"}).stdout
    assert INFLATED_NOTE in table
    again = run("--shape", "llama-3.2-1b")
    assert again.exit_code == 2
    assert "exists" in again.output


def test_a_large_shape_is_a_targets(
    tmp_path: Path, in_this_process: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Disk:
        free = 10**12

    monkeypatch.setattr(module.shutil, "disk_usage", lambda folder: Disk)
    assert run("--shape", "llama-3-8b", str(tmp_path / "a")).exit_code == 0
    assert (
        run("--shape", "llama-3-8b", "--from", "bundled-draft", str(tmp_path / "b")).exit_code == 0
    )
    assert in_this_process == ["bundled-target", "bundled-draft"]


def test_a_disk_too_small_is_told_before_anything_is_written(
    tmp_path: Path, in_this_process: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Disk:
        free = 10**9

    monkeypatch.setattr(module.shutil, "disk_usage", lambda folder: Disk)
    result = run("--shape", "llama-3-8b", str(tmp_path / "a"))
    assert result.exit_code == 2
    needed = 2 * PRESETS["llama-3-8b"].shape.n_parameters / 1e9
    assert f"1.0 GB free and {needed:.1f} GB are needed" in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_cannot_be_inflated(tmp_path: Path) -> None:
    with pytest.raises(CannotInflate, match="could not be inflated: there is no model at"):
        run_inflate("./nowhere", "llama-3.2-1b", tmp_path / "x", report=lambda done, of: None)
