"""What a list says of a session, and how it is sorted and searched."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.wire.events import SettingsChanged
from sessions.library import Library
from tests.sessions.recorded import record, script
from tests.sessions.scripted import with_settings
from ui.library.library_rows import Column, LibraryRow, row_of


def rows_of(folder: Path) -> dict[str, LibraryRow]:
    return {entry.path.stem: row_of(entry) for entry in Library(folder).entries()}


def test_a_session_in_words(tmp_path: Path) -> None:
    events = with_settings(script(), draft="small", gamma=4, temperature=0.6)
    record(
        tmp_path / "a.specscope",
        events,
        figures={"tokens_per_second": 1234.56, "acceptance_rate": None},
    )
    row = rows_of(tmp_path)["a"]
    assert row.words[Column.NAME] == "a"
    assert row.words[Column.TARGET] == "scripted-target"
    assert row.words[Column.DRAFT] == "scripted-draft"
    assert row.words[Column.GAMMA] == "4"
    assert row.words[Column.TOKENS] == "60"  # 20 steps of two accepted and one recovered
    assert row.words[Column.SPEED] == "1,234.6"
    assert row.words[Column.ACCEPTANCE] == "n/a"
    assert row.words[Column.ENDED] == "finished"
    assert "gamma 4" in row.facts
    assert "temperature 0.6" in row.facts
    assert not row.is_broken


def test_settings_that_were_changed_are_told(tmp_path: Path) -> None:
    events = with_settings(script(), draft="small", gamma=4, temperature=0.0)
    later = SettingsChanged(
        gamma="7", temperature=0.8, top_k=0, top_p=1.0, t_ns=events[-2].t_ns, ordinal=0
    )
    told = [*events[:-1], later, events[-1]]
    told = [replace(event, ordinal=index) for index, event in enumerate(told)]
    record(tmp_path / "a.specscope", told)
    row = rows_of(tmp_path)["a"]
    assert row.words[Column.GAMMA] == "4, later 7"
    assert "gamma 4, later 7" in row.facts
    assert "temperature 0.0, later 0.8" in row.facts


def test_a_broken_file_is_its_problem(tmp_path: Path) -> None:
    (tmp_path / "b.specscope").write_text("text")
    row = rows_of(tmp_path)["b"]
    assert row.is_broken
    assert "not a session file" in row.problem
    assert row.words[Column.SPEED] == ""
    assert row.words[Column.ENDED] == "broken"


@pytest.mark.parametrize(
    ("told", "shown"),
    [("auto", "auto"), (0, "0"), (10**400, "n/a"), (-1, "n/a"), ([4], "n/a"), ("x" * 99, "n/a")],
)
def test_a_gamma_is_one_that_a_run_can_have(tmp_path: Path, told: object, shown: str) -> None:
    record(tmp_path / "a.specscope", with_settings(script(3), draft="small", gamma=told))
    assert rows_of(tmp_path)["a"].words[Column.GAMMA] == shown


def test_what_is_missing_sorts_before_numbers(tmp_path: Path) -> None:
    for name, speed in (("a", None), ("b", 9.0), ("c", 10.0)):
        figures = {} if speed is None else {"tokens_per_second": speed}
        record(tmp_path / f"{name}.specscope", script(3), figures=figures)
    (tmp_path / "d.specscope").write_text("text")
    rows = rows_of(tmp_path)
    order = sorted("cabd", key=lambda name: rows[name].keys[Column.SPEED])
    assert order == ["a", "d", "b", "c"]


def test_a_search_wants_all_its_words_anywhere(tmp_path: Path) -> None:
    path = record(tmp_path / "a.specscope", script(3))
    library = Library(tmp_path)
    library.set_tags(path, ["Night"])
    library.set_notes(path, "long prompts")
    row = rows_of(tmp_path)["a"]
    assert row.matches("")
    assert row.matches("night PROMPTS")
    assert row.matches("scripted-target")
    assert not row.matches("night day")
