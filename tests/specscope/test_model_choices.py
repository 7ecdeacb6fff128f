"""Which models are offered: compatible ones, and why others are not."""

import json
from pathlib import Path

import pytest
from huggingface_hub import constants

from specscope.model_choices import (
    context_length,
    model_folders,
    model_refusal,
    offered_drafts,
    offered_targets,
    vocabulary_of,
)


def folder_of(path: Path, vocabulary: dict[str, int], *, vocab_size: int | None = None) -> Path:
    path.mkdir()
    tokenizer = {
        "model": {"vocab": vocabulary},
        "added_tokens": [{"id": len(vocabulary), "content": "<end>", "special": True}],
    }
    (path / "tokenizer.json").write_text(json.dumps(tokenizer))
    (path / "config.json").write_text(json.dumps({"vocab_size": vocab_size or 8}))
    (path / "model.safetensors").write_bytes(b"")
    return path


def test_the_bundled_pair_is_offered_first() -> None:
    assert offered_targets()[0].name == "bundled-target"
    drafts = {draft.name: draft.refusal for draft in offered_drafts("bundled-target")}
    assert list(drafts)[:2] == ["bundled-draft", "ngram"]
    assert drafts["bundled-draft"] == drafts["ngram"] == drafts["none"] == ""


def test_a_draft_of_another_vocabulary_is_refused_by_its_first_difference(tmp_path: Path) -> None:
    target = folder_of(tmp_path / "target", {"a": 0, "b": 1})
    drafts = {draft.name: draft.refusal for draft in offered_drafts(str(target))}
    assert "id 0" in drafts["bundled-draft"]
    assert drafts["ngram"] == ""


def test_models_that_are_not_here_say_so() -> None:
    drafts = {draft.name: draft.refusal for draft in offered_drafts("bundled-target")}
    assert "Not on this machine" in drafts["llama-3.2-1b"]


def test_a_vocabulary_is_read_from_its_file(tmp_path: Path) -> None:
    vocabulary = vocabulary_of(folder_of(tmp_path / "m", {"a": 0, "b": 1}, vocab_size=5))
    assert vocabulary is not None
    assert dict(vocabulary.tokens) == {0: "a", 1: "b", 2: "<end>"}
    assert vocabulary.special_ids == {2}
    assert vocabulary.n_logits == 5


@pytest.mark.parametrize("text", ["", "{", "[]", '{"model": 3}', '{"model": {"vocab": [1]}}'])
def test_a_damaged_tokenizer_is_none(tmp_path: Path, text: str) -> None:
    folder = folder_of(tmp_path / "m", {"a": 0})
    (folder / "tokenizer.json").write_text(text)
    assert vocabulary_of(folder) is None


def test_models_that_are_here_have_a_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    (tmp_path / "models" / "mine").mkdir(parents=True)
    assert set(model_folders()) == {"bundled-target", "bundled-draft"}
    (tmp_path / "models" / "mine" / "config.json").write_text("{}")
    assert model_folders()["mine"] == tmp_path / "models" / "mine"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"max_position_embeddings": "many"}'])
def test_a_context_is_known_where_the_configuration_says_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    assert context_length(tmp_path) is None
    assert context_length(tmp_path / "no-such") is None
    assert context_length(None) is None
    assert offered_targets()[0].context_length == 1024


def test_a_model_that_cannot_be_is_refused_before_an_engine_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "hub" / "models--far--model").mkdir(parents=True)
    (tmp_path / "models").mkdir()
    folder_of(tmp_path / "models" / "mine", {"a": 0})
    for name in (
        "bundled-target",
        "mine",
        "~/models/mine",
        str(tmp_path / "models" / "mine"),
        "far/model",
    ):
        assert model_refusal(name) == ""
    assert "hub cannot be reached" in model_refusal("nonsense/model")
    assert "hub cannot be reached" in model_refusal("qwen2.5-7b")
    assert "specscope models add" in model_refusal("smollm2-135m")
    assert "There is no model at" in model_refusal(str(tmp_path / "nosuch"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("https_proxy", "http://localhost:1")
    assert model_refusal("nonsense/model") == ""  # the hub may have it
