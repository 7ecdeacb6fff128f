"""The parts of the corpus that need no download."""

import json
from pathlib import Path

import pytest

from resources.train.corpus import HELD_OUT_ONE_IN, is_held_out
from resources.train.json_records import SCHEMAS, json_document
from resources.train.readers import clean_code, prose_paragraphs

PROMPTS = Path(__file__).parents[2] / "resources" / "prompts"


def _records(text: str) -> list[object]:
    try:
        return [json.loads(text)]
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def test_json_documents_are_valid() -> None:
    for index in range(150):
        assert _records(json_document(index))


def test_json_documents_depend_on_index_and_seed_alone() -> None:
    first = [json_document(index) for index in range(20)]
    assert first == [json_document(index) for index in range(20)]
    assert len(set(first)) == 20
    assert json_document(0, seed=8) != first[0]


def test_every_schema_turns_up() -> None:
    text = "".join(json_document(index) for index in range(200))
    assert all(f'"{name}"' in text for name in SCHEMAS)


def test_split_is_by_document_and_stable() -> None:
    held = [path for path in map(str, range(5000)) if is_held_out("some-package", path)]
    assert 5000 / HELD_OUT_ONE_IN / 2 < len(held) < 5000 / HELD_OUT_ONE_IN * 2
    assert held == [path for path in map(str, range(5000)) if is_held_out("some-package", path)]


def test_code_loses_its_licence_header_and_must_parse() -> None:
    body = "def one():\n    return 1\n" * 40
    assert clean_code("# Copyright someone\n\n" + body) == body
    assert clean_code(body + "def broken(:\n") is None
    assert clean_code("x = 1\n") is None


def test_prose_keeps_sentences_and_drops_markup() -> None:
    page = (
        "Title\n=====\n\n.. note:: nothing\n\n    code = 1\n\n"
        "The :class:`~text.Reader` class reads a text and returns\n"
        "every sentence that it finds in there.\n"
    )
    assert prose_paragraphs(page) == (
        "The text.Reader class reads a text and returns every sentence that it finds in there.\n"
    )


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("code", 30, 30), ("json", 20, 20), ("prose", 20, 20), ("copy_heavy", 5, 6)],
)
def test_prompt_files_are_well_formed(name: str, least: int, most: int) -> None:
    lines = (PROMPTS / f"{name}.jsonl").read_text().splitlines()
    assert least <= len(lines) <= most
    prompts = set()
    for line in lines:
        entry = json.loads(line)
        assert set(entry) == {"prompt", "source"}
        assert entry["prompt"].strip()
        assert entry["source"].strip()
        prompts.add(entry["prompt"])
    assert len(prompts) == len(lines)


@pytest.mark.parametrize("name", ["code", "json", "prose"])
def test_prompts_come_from_held_out_documents(name: str) -> None:
    for line in (PROMPTS / f"{name}.jsonl").read_text().splitlines():
        package, path, _licence = json.loads(line)["source"].split(", ", 2)
        assert is_held_out(package.split(" ")[0], path)
