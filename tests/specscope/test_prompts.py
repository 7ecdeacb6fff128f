"""Prompt files: what is read, and the sentence for what cannot be."""

from pathlib import Path

import click
import pytest

from specscope.prompts import Prompt, read_prompts


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_line_is_a_prompt_and_empty_lines_are_none(tmp_path: Path) -> None:
    path = write(tmp_path, "prompts.txt", "def f():\n\n  indented é\n")
    assert read_prompts(path) == [Prompt("def f():"), Prompt("  indented é")]


def test_json_lines_carry_newlines_labels_budgets_and_seeds(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "prompts.jsonl",
        '{"prompt": "a\\nb", "kind": "code", "max_new_tokens": 5, "seed": 3}\n{"prompt": "c"}\n',
    )
    assert read_prompts(path) == [Prompt("a\nb", "code", 5, 3), Prompt("c")]


def test_json_lines_are_known_by_their_first_line(tmp_path: Path) -> None:
    path = write(tmp_path, "prompts.txt", '{"prompt": "x"}\n')
    assert read_prompts(path) == [Prompt("x")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "holds no prompt"),
        ("\n \n", "holds no prompt"),
        (b"\xff\xfe", "not UTF-8"),
        ('{"prompt": "x"}\n{"prompt": 3}\n', "line 2"),
        ('{"prompt": "x"}\nnot json\n', "line 2 is not JSON"),
        ('{"prompt": " "}\n', 'empty "prompt"'),
        ('{"prompt": "x", "seed": "1"}\n', '"seed" must be a whole number'),
        ('{"prompt": "x", "max_new_tokens": true}\n', '"max_new_tokens" must be a whole number'),
    ],
)
def test_a_bad_file_is_refused_in_words(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(click.BadParameter, match=sentence):
        read_prompts(write(tmp_path, "prompts", text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(click.BadParameter, match=r"nowhere\.txt cannot be read"):
        read_prompts(tmp_path / "nowhere.txt")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ('{"prompt": "\\ud800"}', "no Unicode text"),
        ('{"prompt": "x", "seed": 9223372036854775808}', "64 bits"),
    ],
)
def test_what_the_engine_could_not_be_told_is_refused(
    tmp_path: Path, line: str, sentence: str
) -> None:
    with pytest.raises(click.BadParameter, match=sentence):
        read_prompts(write(tmp_path, "p.jsonl", line))


def test_a_prompt_of_megabytes_is_refused() -> None:
    with pytest.raises(click.BadParameter, match="longer than 4 MiB"):
        Prompt("x" * (5 * 1024 * 1024))
