"""The bundled pair: small enough, complete, one tokenizer, licences on record."""

import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from resources.train.sources import all_sources

RESOURCES = Path(__file__).parents[2] / "resources"
FILES = {
    "config.json",
    "generation_config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
}
NAMES = ("target", "draft")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(RESOURCES / "models" / "target" / "tokenizer.json"))


def test_folders_hold_the_files_of_a_checkpoint_and_no_more() -> None:
    for name in NAMES:
        assert {path.name for path in (RESOURCES / "models" / name).iterdir()} == FILES


def test_pair_is_at_most_thirty_megabytes() -> None:
    sizes = [p.stat().st_size for name in NAMES for p in (RESOURCES / "models" / name).iterdir()]
    assert sum(sizes) <= 30_000_000


def test_configurations_agree_on_what_a_pair_shares() -> None:
    target, draft = (
        json.loads((RESOURCES / "models" / name / "config.json").read_text()) for name in NAMES
    )
    for key in ("vocab_size", "max_position_embeddings", "model_type", "dtype", "eos_token_id"):
        assert target[key] == draft[key]
    assert target["model_type"] == "llama"
    assert target["max_position_embeddings"] == 1024
    assert draft["num_hidden_layers"] < target["num_hidden_layers"]


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_both_folders_hold_the_same_tokenizer(name: str) -> None:
    target, draft = ((RESOURCES / "models" / folder / name).read_bytes() for folder in NAMES)
    assert target == draft


@pytest.mark.parametrize(
    "text",
    [
        "def quicksort(items):\n    if len(items) <= 1:\n        return items\n\n\treturn  x  \n",
        "\r\n \r\n\t\t x = 10_000 - 3.14e-5  # no  blank\n\n\n    ",
        "Grüße, naïve café; 日本語のテキスト 🙂👩‍👩‍👧 \u200b\u00a0\u2028 end",
        "\x00\x01\x7f\ufeff\U0010ffff",
        "",
    ],
)
def test_tokenizer_round_trips_utf8(tokenizer: Tokenizer, text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == text


def test_tokenizer_has_whole_tokens_for_indentation(tokenizer: Tokenizer) -> None:
    assert len(tokenizer.encode("\n        ").ids) == 1


def test_vocabulary_is_that_of_the_models(tokenizer: Tokenizer) -> None:
    config = json.loads((RESOURCES / "models" / "target" / "config.json").read_text())
    assert tokenizer.get_vocab_size() == config["vocab_size"]
    assert tokenizer.token_to_id("<|endoftext|>") == config["eos_token_id"]


def test_every_source_has_a_licence_on_record() -> None:
    record = (RESOURCES / "models" / "LICENCES.md").read_text()
    sources = all_sources()
    assert len({source.name for source in sources}) == len(sources)
    for source in sources:
        row = f"| {source.name} | {source.version} | {source.kind} | {source.licence} |"
        assert row in record
        assert source.licence.strip()


def test_manifest_names_known_sources_with_their_licence() -> None:
    known = {source.name: source for source in all_sources()}
    manifest = json.loads((RESOURCES / "models" / "corpus.json").read_text())
    assert manifest
    for name, entry in manifest.items():
        assert entry["licence"] == known[name].licence
        assert entry["version"] == known[name].version
