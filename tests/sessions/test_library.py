"""The library lists, finds, names, imports and deletes sessions, broken ones included."""

import os
import re
import sqlite3
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.wire.events import SessionStarted
from sessions.library import Library, library_folder
from sessions.session_errors import (
    DamagedSessionFile,
    NotASessionFile,
    SessionFileError,
    SessionFileExists,
    SessionFileMissing,
    SessionFileUnwritable,
)
from sessions.session_file import SessionFile
from tests.sessions.recorded import lines, record, script, stored
from tests.sessions.test_migrations import write_version_0

MOMENT = datetime(2026, 3, 4, 5, 6, 7)


def record_at(path: Path, started_unix_ns: int) -> Path:
    events = script()
    first = events[0]
    assert isinstance(first, SessionStarted)
    return record(path, [replace(first, started_unix_ns=started_unix_ns), *events[1:]])


def test_it_is_where_the_variable_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    assert library_folder() == tmp_path / "sessions"
    assert Library().folder == tmp_path / "sessions"
    monkeypatch.delenv("SPECSCOPE_DATA_DIR")
    assert library_folder().parts[-2:] == ("specscope", "sessions")


def test_without_a_folder_it_is_empty(tmp_path: Path) -> None:
    assert Library(tmp_path / "not yet").entries() == []
    assert not (tmp_path / "not yet").exists()


def test_sessions_are_listed_newest_first(tmp_path: Path) -> None:
    for name, moment in (("a", 2), ("b", 3), ("c", 1)):
        record_at(tmp_path / f"{name}.specscope", moment)
    (tmp_path / "notes.txt").write_text("not a session")
    entries = Library(tmp_path).entries()
    assert [entry.path.stem for entry in entries] == ["b", "a", "c"]
    assert all(entry.summary is not None and not entry.problem for entry in entries)


def test_broken_files_are_listed_with_their_sentence(tmp_path: Path) -> None:
    record_at(tmp_path / "good.specscope", 1)
    (tmp_path / "text.specscope").write_text("text")
    (tmp_path / "empty.specscope").touch()
    (tmp_path / "folder.specscope").mkdir()
    (tmp_path / "gone.specscope").symlink_to(tmp_path / "nowhere")
    write_version_0(tmp_path / "old.specscope", script())
    short = record_at(tmp_path / "short.specscope", 1)
    os.truncate(short, 5000)
    problems = {entry.path.stem: entry.problem for entry in Library(tmp_path).entries()}
    assert problems.pop("good") == ""
    assert set(problems) == {"text", "empty", "folder", "old", "short"}
    assert all(name in problem for name, problem in problems.items())
    assert "cut short" in problems["short"]


def test_a_name_is_made_from_time_and_models(tmp_path: Path) -> None:
    library = Library(tmp_path / "made")
    path = library.new_path("bundled-target", "bundled-draft", started=MOMENT)
    assert path.name == "2026-03-04_05-06-07_bundled-target+bundled-draft.specscope"
    assert path.parent.is_dir()
    path.touch()
    second = library.new_path("bundled-target", "bundled-draft", started=MOMENT)
    assert second.name == "2026-03-04_05-06-07_bundled-target+bundled-draft-2.specscope"


@pytest.mark.parametrize(
    "target",
    ["../../etc/passwd", "C:\\models\\x", "a/b/", "é漢", "", "con", "x" * 500, "a:b*c?", "."],
)
def test_a_name_stays_in_the_folder_and_is_plain(tmp_path: Path, target: str) -> None:
    path = Library(tmp_path).new_path(target, started=MOMENT)
    assert path.parent == tmp_path
    assert re.fullmatch(r"[A-Za-z0-9._+-]{1,150}\.specscope", path.name)
    path.touch()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SessionFileUnwritable, match="SPECSCOPE_DATA_DIR"):
        Library(tmp_path / "file" / "sessions").new_path("a")
    with pytest.raises(SessionFileUnwritable, match="cannot be read"):
        Library(tmp_path / "file").entries()


def test_a_session_is_found_by_path_file_or_name(tmp_path: Path) -> None:
    library = Library(tmp_path / "library")
    library.folder.mkdir()
    first = record_at(library.folder / "2026-01-01_a.specscope", 1)
    second = record_at(library.folder / "2026-02-01_b.specscope", 2)
    elsewhere = record_at(tmp_path / "else where.specscope", 3)
    library.rename(second, "night run")
    assert library.find(str(elsewhere)) == elsewhere
    assert library.find("2026-01-01_a") == first
    assert library.find("2026-01-01_a.specscope") == first
    assert library.find("night run") == second
    assert library.find("2026-02") == second


@pytest.mark.parametrize(
    "text", ["nothing", "", "../x", "a\0b", "*", "x" * 5000, "~nobody-of-that-name/x"]
)
def test_what_is_not_there_is_said(tmp_path: Path, text: str) -> None:
    record_at(tmp_path / "a.specscope", 1)
    with pytest.raises(SessionFileMissing, match="There is no session"):
        Library(tmp_path).find(text)


def test_what_may_mean_two_is_not_guessed(tmp_path: Path) -> None:
    for name in ("2026-a", "2026-b"):
        record_at(tmp_path / f"{name}.specscope", 1)
    with pytest.raises(SessionFileError, match="may mean 2 sessions"):
        Library(tmp_path).find("2026")


def test_names_notes_and_tags_are_saved(tmp_path: Path) -> None:
    path = record_at(tmp_path / "a.specscope", 1)
    library = Library(tmp_path)
    library.rename(path, "n")
    library.set_notes(path, "o")
    library.set_tags(path, ["t"])
    (entry,) = library.entries()
    assert entry.summary is not None
    assert (entry.summary.name, entry.summary.notes, entry.summary.tags) == ("n", "o", ("t",))


def test_a_session_is_deleted_with_its_log(tmp_path: Path) -> None:
    path = record_at(tmp_path / "a.specscope", 1)
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").touch()
    Library(tmp_path).delete(path)
    assert os.listdir(tmp_path) == []
    with pytest.raises(SessionFileMissing):
        Library(tmp_path).delete(path)


def test_a_broken_session_can_be_deleted(tmp_path: Path) -> None:
    (tmp_path / "a.specscope").write_text("broken")
    Library(tmp_path).delete(tmp_path / "a.specscope")
    assert os.listdir(tmp_path) == []


def test_nothing_else_is_deleted(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    (tmp_path / "folder.specscope").mkdir()
    for name in ("mine.txt", "folder.specscope"):
        with pytest.raises(SessionFileError, match="is not deleted"):
            Library(tmp_path).delete(tmp_path / name)
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(script(end=False)))
        with pytest.raises(SessionFileError, match="being recorded"):
            Library(tmp_path).delete(tmp_path / "x.specscope")


# --- importing -----------------------------------------------------------------------------------


def test_an_import_is_the_session_and_nothing_else(tmp_path: Path) -> None:
    source = record(tmp_path / "from mail.specscope", script(), figures={"alpha": 0.5})
    database = sqlite3.connect(source)
    database.execute("UPDATE session SET name = 'kept', tags_json = '[\"t\"]'")
    database.execute("CREATE TRIGGER trap AFTER UPDATE ON session BEGIN SELECT 1; END")
    database.execute("CREATE TABLE luggage (x)")
    database.commit()
    database.close()
    before = source.read_bytes()
    library = Library(tmp_path / "library")
    path = library.import_file(source)
    assert path.name == "from-mail.specscope"
    assert stored(path) == script()
    with SessionFile.open(path, writable=True) as file:
        summary = file.summary()
    assert (summary.name, summary.tags, summary.figures) == ("kept", ("t",), {"alpha": 0.5})
    assert b"luggage" not in path.read_bytes()
    assert source.read_bytes() == before
    assert library.import_file(source).name == "from-mail-2.specscope"


def test_an_old_session_is_brought_up_to_date_on_the_way(tmp_path: Path) -> None:
    source = tmp_path / "old.specscope"
    write_version_0(source, script())
    before = source.read_bytes()
    path = Library(tmp_path / "library").import_file(source)
    assert stored(path) == script()
    assert source.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["library", "old.specscope"]
    assert os.listdir(tmp_path / "library") == ["old.specscope"]


def test_a_bad_file_is_not_imported(tmp_path: Path) -> None:
    library = Library(tmp_path / "library")
    text = tmp_path / "a.specscope"
    text.write_text("text")
    with pytest.raises(NotASessionFile):
        library.import_file(text)
    bad = record(tmp_path / "b.specscope", script())
    database = sqlite3.connect(bad)
    database.execute("UPDATE events SET payload = 'no' WHERE ordinal = 100")
    database.commit()
    database.close()
    with pytest.raises(DamagedSessionFile):
        library.import_file(bad)
    assert os.listdir(library.folder) == []


def test_an_import_does_not_use_what_is_in_its_way(tmp_path: Path) -> None:
    source = record(tmp_path / "a.specscope", script())
    library = Library(tmp_path / "library")
    library.folder.mkdir()
    (library.folder / "a.specscope.part").write_text("somebody's")
    with pytest.raises(SessionFileExists):
        library.import_file(source)
