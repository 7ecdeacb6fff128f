"""Paths as somebody types them."""

from pathlib import Path

import pytest

from ui.typed_path import PathError, model_problem, path_problem, typed_path


def test_a_path_need_not_be_there(tmp_path: Path) -> None:
    assert typed_path(str(tmp_path / "no" / "such")) == tmp_path / "no" / "such"
    assert typed_path("~") == Path.home()
    assert path_problem("organisation/model") == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [("~nosuchuser/x", "home folder"), ("n" * 300, "too long"), ("a\0b", "cannot be")],
)
def test_what_can_be_no_path_is_said(text: str, words: str) -> None:
    with pytest.raises(PathError, match=words):
        typed_path(text)
    assert len(path_problem(text)) < 120


def test_what_can_be_no_model_is_said(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "a.gguf").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    for text in ("", "a-name", "hub/id", str(tmp_path), str(tmp_path / "a.gguf")):
        assert model_problem(text) == ""
    for text in ("./nosuch", "~/nosuch", "/nosuch/model", "nosuch.gguf"):
        assert model_problem(text) == f"There is no model at {text}: check the path."
    assert "holds no config.json" in model_problem(str(tmp_path / "empty"))
    assert "is no .gguf file" in model_problem(str(tmp_path / "config.json"))
    assert "home folder" in model_problem("~nosuchuser/model")
