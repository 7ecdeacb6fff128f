"""A model laid into a large shape writes what it wrote before."""

import json
from pathlib import Path

import pytest
import torch

from engine.assembly import Parts
from engine.benchmark.our_side import OurSide
from engine.models import inflate as module
from engine.models.inflate import inflate, main
from engine.models.loading import load_pair
from engine.theory.shape import ModelShape, count_parameters
from engine.wire.catalog import INFLATED_NOTE, is_complete, note_on, stored_size
from engine.wire.config import ConfigError, RunConfig

PROMPT = "def read_lines(path):\n    with open("


def shape(*, has_tied_embeddings: bool, **sizes: int) -> ModelShape:
    n_parameters = count_parameters(has_tied_embeddings=has_tied_embeddings, **sizes)
    return ModelShape(has_tied_embeddings=has_tied_embeddings, n_parameters=n_parameters, **sizes)


TARGET_SHAPE = shape(
    n_layers=14, hidden_size=512, n_heads=16, n_kv_heads=4, head_dim=96, intermediate_size=800,
    vocab_size=5000, has_tied_embeddings=False,
)  # fmt: skip
DRAFT_SHAPE = shape(  # stored in bfloat16, its keys not shared
    n_layers=2, hidden_size=1280, n_heads=8, n_kv_heads=8, head_dim=128, intermediate_size=800,
    vocab_size=4100, has_tied_embeddings=True,
)  # fmt: skip


def decoded(target: str, draft: str) -> tuple[list[int], float | None, list[str]]:
    """Greedy tokens in fp32, the acceptance rate, and the models' names."""
    config = RunConfig(
        target=target, draft=draft, dtype="float32", device="cpu", packed=False, n_threads=1,
        max_new_tokens=40, calibrate=False,
    )  # fmt: skip
    pair = load_pair(config, progress=lambda detail: None)
    assert pair.draft is not None
    side = OurSide(config, Parts(pair.target, pair.draft, pair.tokenizer, pair.n_tokens))
    run = side.run(PROMPT)
    return run.token_ids, side.totals.acceptance_rate, [pair.target.name, pair.draft.name]


@pytest.mark.slow
def test_greedy_tokens_are_those_of_the_small_pair(tmp_path: Path) -> None:
    target, draft = tmp_path / "target", tmp_path / "draft"
    inflate("bundled-target", "toy", target, shape=TARGET_SHAPE, dtype=torch.float32)
    inflate("bundled-draft", "toy", draft, shape=DRAFT_SHAPE, shard_bytes=4_000_000)
    token_ids, acceptance, names = decoded(str(target), str(draft))
    expected_ids, expected_acceptance, _ = decoded("bundled-target", "bundled-draft")
    assert token_ids == expected_ids
    assert acceptance == expected_acceptance, "the draft is the same draft"
    assert names == [f"{path} ({INFLATED_NOTE})" for path in (target, draft)]


def test_what_is_written_says_what_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "x"
    told: list[tuple[int, int]] = []
    inflate(
        "bundled-draft", "toy", folder, shape=DRAFT_SHAPE, say=lambda *counts: told.append(counts)
    )
    assert told[-1][0] == told[-1][1]
    config = json.loads((folder / "config.json").read_text())
    assert config["specscope_inflated"]["source"] == "bundled-draft"
    assert config["dtype"] == "bfloat16"
    assert "for timing only" in (folder / "README.md").read_text()
    assert is_complete(folder)
    assert note_on(folder) == INFLATED_NOTE
    size = stored_size(folder)
    assert size is not None
    assert size.n_parameters == DRAFT_SHAPE.n_parameters
    with pytest.raises(ConfigError, match="only such can be inflated"):
        inflate(str(folder), "toy", tmp_path / "again", shape=TARGET_SHAPE)


def test_an_ordinary_model_needs_no_note(tmp_path: Path) -> None:
    assert note_on(None) == note_on(tmp_path) == ""
    (tmp_path / "config.json").write_text("{}")
    assert note_on(tmp_path) == ""


def test_an_unknown_shape_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module.sys, "argv", ["x", "bundled-draft", "llama-9", str(tmp_path / "x")])
    assert main() == 2
    assert "llama-9 is no known shape: give one of llama-3-70b" in capsys.readouterr().out
    assert not (tmp_path / "x").exists()
