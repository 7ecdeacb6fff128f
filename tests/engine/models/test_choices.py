"""A choice is made once; whatever happened to its file, there is one."""

import json
import os
import sys

import pytest

from engine.models.choices import Choices, choices_folder

FACTS = {"layout of": "3 layers 8 to 8", "processor": "a"}
OPTIONS = ("plain", "turned")


def choose(folder, answer, *, facts=FACTS, options=OPTIONS):
    choices = Choices(folder)
    return choices.choose(facts, options, lambda: answer), choices.note


def only_file(folder):
    (path,) = folder.iterdir()
    return path


def test_the_first_answer_holds(tmp_path):
    folder = tmp_path / "new" / "choices"
    assert choose(folder, "turned") == ("turned", "measured now and remembered")
    assert choose(folder, "plain") == ("turned", "as measured before")
    kept = json.loads(only_file(folder).read_text(encoding="utf-8"))
    assert kept == {"facts": FACTS | {"among": "plain turned"}, "choice": "turned"}


def test_other_facts_or_options_are_another_choice(tmp_path):
    choose(tmp_path, "turned")
    assert choose(tmp_path, "plain", facts=FACTS | {"processor": "b"})[0] == "plain"
    assert choose(tmp_path, "plain", options=(*OPTIONS, "packed"))[0] == "plain"
    assert len(list(tmp_path.iterdir())) == 3


def test_nothing_is_kept_without_a_folder():
    assert choose(None, "turned") == ("turned", "measured now")
    assert choose(None, "plain") == ("plain", "measured now")
    assert Choices().note == ""


BROKEN = [
    b"",
    b"{",
    b"\xff\xfe",
    b"[" * 5000,
    b" " * 100_000,
    b"null",
    json.dumps({"facts": FACTS, "choice": "turned"}).encode(),
    json.dumps({"facts": FACTS | {"among": "plain turned"}, "choice": "no layout"}).encode(),
    json.dumps({"facts": FACTS | {"among": "plain turned"}, "choice": 1}).encode(),
    json.dumps({"facts": FACTS | {"among": "plain turned"}, "choice": "plain", "x": 1}).encode(),
]


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_file_is_measured_anew_and_replaced(tmp_path, content):
    choose(tmp_path, "plain")
    only_file(tmp_path).write_bytes(content)
    assert choose(tmp_path, "turned") == ("turned", "measured now and remembered")
    assert choose(tmp_path, "plain") == ("turned", "as measured before")
    only_file(tmp_path)  # and nothing else


def test_a_folder_that_cannot_be_written_does_no_harm(tmp_path):
    folder = tmp_path / "file"
    folder.write_bytes(b"")
    answer, note = choose(folder, "turned")
    assert answer == "turned"
    assert note == "measured now and not remembered: its folder cannot be written"


def test_a_folder_in_the_place_of_the_file_does_no_harm(tmp_path):
    choose(tmp_path, "plain")
    path = only_file(tmp_path)
    path.unlink()
    path.mkdir()
    answer, note = choose(tmp_path, "turned")
    assert answer == "turned"
    assert "not remembered" in note
    only_file(tmp_path)


def test_whoever_is_first_is_right(tmp_path):
    def measure():
        assert choose(tmp_path, "turned")[0] == "turned"  # another process, meanwhile
        return "plain"

    assert Choices(tmp_path).choose(FACTS, OPTIONS, measure) == "turned"


def test_a_file_system_without_links(tmp_path, monkeypatch):
    def refuse(*_arguments):
        raise OSError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    assert choose(tmp_path, "turned")[1] == "measured now and remembered"
    assert choose(tmp_path, "plain")[0] == "turned"
    only_file(tmp_path)


def test_kept_in_the_cache_folder_or_where_told(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    assert choices_folder() == tmp_path / "choices"
    monkeypatch.delenv("SPECSCOPE_DATA_DIR")
    assert choices_folder().name == "choices"
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert choices_folder() == tmp_path / "specscope" / "choices"
