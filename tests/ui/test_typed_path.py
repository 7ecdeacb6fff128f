"""Paths as somebody types them."""

from pathlib import Path

import pytest

from ui.typed_path import PathError, path_problem, typed_path


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
