"""``list``, ``show`` and ``session`` on recorded sessions."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sessions.library import Library
from specscope.cli import main
from tests.specscope.stored import record

pytestmark = pytest.mark.usefixtures("data_folder")


def invoke(*arguments: str, text: str | None = None, columns: int = 140) -> Result:
    return CliRunner(env={"COLUMNS": str(columns)}).invoke(main, list(arguments), input=text)


def test_an_empty_library_says_how_to_fill_it() -> None:
    assert "specscope run --record" in invoke("list").output
    assert json.loads(invoke("list", "--json").stdout) == {"sessions": []}


def test_sessions_are_listed_and_broken_ones_with_their_sentence(data_folder: Path) -> None:
    record(name="one")
    (data_folder / "sessions" / "bad.specscope").write_bytes(b"no database")
    output = invoke("list").output
    assert "one" in output
    assert "finished" in output
    assert "broken" in output
    entries = json.loads(invoke("list", "--json").stdout)["sessions"]
    assert [bool(entry["problem"]) for entry in entries].count(True) == 1


@pytest.mark.parametrize("draft", ["ngram", "none", "composite", "small"])
def test_a_draft_is_named_as_it_is(draft: str) -> None:
    record(name="one", draft=draft)
    heading, line = invoke("list").output.splitlines()[:2]
    named = "scripted-draft" if draft == "small" else draft
    assert heading.split()[:4] == ["session", "date", "draft", "gamma"]
    assert line.startswith("one ")
    assert re.search(rf"-\d\d.* {named} +{0 if draft == 'none' else 2} ", line)


def test_a_narrow_list_has_one_line_per_session_with_its_name_whole() -> None:
    short, _ = record(name="one")
    lines = invoke("list", columns=80).output.splitlines()
    assert lines[0].split() == [
        "session", "date", "draft", "gamma", "tokens", "tokens/s", "acceptance", "ended",
    ]  # fmt: skip
    assert lines[1].startswith("one ")
    assert lines[2].startswith("in ")
    assert "target" in invoke("list").output.splitlines()[0]
    name = "[b]" + "n" * 60
    invoke("session", "rename", str(short), name)
    for columns in (80, 40):
        lines = invoke("list", columns=columns).output.splitlines()
        assert lines[1].split()[0] == name
        assert lines[2].startswith("in ")


def test_show_tells_settings_text_figures_and_what_another_gamma_would_do() -> None:
    record(name="one")
    output = invoke("show", "one").output
    assert "scripted-target" in output
    assert "abxy!xy!" in output
    assert "acceptance rate" in output
    result = json.loads(invoke("show", "one", "--json").stdout)
    assert result["n_accepted"] == 4
    assert "gamma_what_if" in result
    assert "findings" in result


def test_show_tells_missing_events() -> None:
    path, _ = record(name="mine")
    assert "missing" not in invoke("show", "mine").output
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM events WHERE ordinal = 9")
    assert json.loads(invoke("show", "mine", "--json").stdout)["n_missing_events"] == 1
    sentence = "1 event is missing from this session: its figures are incomplete."
    for command in (("show",), ("replay", "--speed", "1000")):
        assert sentence in invoke(*command, "mine").output


def test_rename_tag_and_note_are_kept() -> None:
    path, _ = record(name="one")
    assert invoke("session", "rename", "one", "two").exit_code == 0
    assert invoke("session", "tag", "two", "x", "y").exit_code == 0
    assert invoke("session", "note", "two", "a note").exit_code == 0
    with Library().open(path) as file:
        summary = file.summary()
    assert (summary.name, summary.tags, summary.notes) == ("two", ("x", "y"), "a note")


def test_delete_asks_first() -> None:
    path, _ = record(name="one")
    assert invoke("session", "delete", "one", text="n\n").exit_code == 1
    assert path.exists()
    assert invoke("session", "delete", "one", text="y\n").exit_code == 0
    assert not path.exists()


def test_import_and_recover_copy(tmp_path: Path) -> None:
    path, events = record()
    elsewhere = tmp_path / "elsewhere.specscope"
    path.rename(elsewhere)
    imported = invoke("session", "import", str(elsewhere))
    assert imported.exit_code == 0, imported.output
    assert Path(imported.stdout.strip()).exists()
    recovered = invoke("session", "recover", str(elsewhere), str(tmp_path / "new.specscope"))
    assert f"{len(events)} events were recovered" in recovered.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "nothing"),
        ("session", "rename", "nothing", "x"),
        ("session", "delete", "nothing", "--yes"),
        ("session", "import", "/nowhere/a.specscope"),
    ],
)
def test_what_is_not_there_is_a_sentence(arguments: tuple[str, ...]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert "Error: " in result.output
    assert "Traceback" not in result.output
