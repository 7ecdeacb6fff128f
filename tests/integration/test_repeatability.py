"""The same seed, device and settings give the same tokens in every process, whatever the clock
says there."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from engine.models.catalog import resolve

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import json
import sys

from engine.models import packed

model, draft, favourite = sys.argv[1:4]
settings = json.loads(sys.argv[4])
packed._pass_ns = lambda layers, rows: 1 if type(layers[0]).__name__ == favourite else 2

from engine.models.loading import load_pair
from engine.wire.config import RunConfig
from tests.support.running_engine import RunningEngine

config = RunConfig(target=model, draft=draft, **settings)
pair = load_pair(config, progress=lambda detail: None)
engine = RunningEngine(
    pair.target, pair.draft, tokenizer=pair.tokenizer, n_tokens=pair.n_tokens,
    temperature=0.7, seed=7, max_new_tokens=64,
)
engine.run("def quicksort(items):", "import os")
print(json.dumps({"ids": [engine.output(0), engine.output(1)], "notes": pair.target.notes}))
"""


def decode(
    data: Path, *, model: str, draft: str = "bundled-draft", favourite: str, **settings: Any
) -> tuple[list[list[int]], str]:
    """Output ids and the target's notes, of a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPECSCOPE_DATA_DIR": str(data)}
    command = [sys.executable, "-c", PROGRAM, model, draft, favourite, json.dumps(settings)]
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    return said["ids"], "; ".join(said["notes"])


@pytest.fixture(scope="module")
def fine_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights that half precision does not hold, so that the layout is measured; tokens are
    those of the bundled pair."""
    folder = tmp_path_factory.mktemp("fine")
    tokenizer = AutoTokenizer.from_pretrained(resolve("bundled-target").location)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=512,
        initializer_range=0.2,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def test_the_bundled_pair_repeats_itself(tmp_path: Path) -> None:
    first, notes = decode(tmp_path / "one", model="bundled-target", favourite="TurnedLinear")
    for folder, favourite in (("one", "PlainLinear"), ("one", "PackedLinear")):
        again = decode(tmp_path / folder, model="bundled-target", favourite=favourite)
        assert again == (first, notes.replace("measured now and remembered", "as measured before"))


def test_a_layout_that_was_measured_is_kept(tmp_path: Path, fine_model: Path) -> None:
    first, notes = decode(tmp_path / "one", model=str(fine_model), favourite="TurnedLinear")
    assert "turned, measured now and remembered" in notes
    again, notes = decode(tmp_path / "one", model=str(fine_model), favourite="PlainLinear")
    assert again == first
    assert "turned, as measured before" in notes
    _, notes = decode(tmp_path / "other", model=str(fine_model), favourite="PlainLinear")
    assert "linear layers: none packed, measured now and remembered" in notes


def test_without_packing_nothing_is_measured(tmp_path: Path, fine_model: Path) -> None:
    outputs = [
        decode(tmp_path / favourite, model=str(fine_model), favourite=favourite, packed=False)
        for favourite in ("TurnedLinear", "PlainLinear")
    ]
    assert outputs[0] == outputs[1]
    assert not list(tmp_path.rglob("*.json"))
