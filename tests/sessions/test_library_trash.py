"""What was deleted comes back on request, and is gone when the program is."""

import os
from pathlib import Path

import pytest

from sessions.library import Library
from sessions.library_trash import LibraryTrash, _host
from sessions.session_errors import SessionFileError, SessionFileMissing, SessionFileUnwritable
from sessions.session_file import SessionFile
from tests.sessions.recorded import lines, record, script, stored

NO_PROCESS = 2**22 + 1
"""Above what Linux gives to a process by default."""


def test_it_is_out_of_the_library_and_comes_back_whole(tmp_path: Path) -> None:
    path = record(tmp_path / "a.specscope", script())
    before = path.read_bytes()
    trash = LibraryTrash(tmp_path)
    deleted = trash.put_aside(path)
    assert Library(tmp_path).entries() == []
    assert not path.exists()
    assert trash.restore(deleted) == path
    assert path.read_bytes() == before


def test_its_log_goes_and_comes_with_it(tmp_path: Path) -> None:
    path, log = tmp_path / "a.specscope", tmp_path / "a.specscope-wal"
    path.write_text("broken, so that nobody opens it")
    log.write_bytes(b"log")
    trash = LibraryTrash(tmp_path)
    deleted = trash.put_aside(path)
    assert not log.exists()
    trash.restore(deleted)
    assert log.read_bytes() == b"log"


def test_it_comes_back_beside_one_that_took_its_name(tmp_path: Path) -> None:
    path = record(tmp_path / "a.specscope", script())
    trash = LibraryTrash(tmp_path)
    first = trash.put_aside(path)
    record(path, script(3))
    second = trash.put_aside(path)
    assert first.kept != second.kept
    record(path, script(5))
    assert trash.restore(first) == tmp_path / "a-2.specscope"
    assert stored(tmp_path / "a-2.specscope") == script()
    assert stored(path) == script(5)


def test_emptied_it_is_gone_for_good(tmp_path: Path) -> None:
    trash = LibraryTrash(tmp_path)
    deleted = trash.put_aside(record(tmp_path / "a.specscope", script()))
    trash.empty()
    assert os.listdir(tmp_path) == []
    with pytest.raises(SessionFileUnwritable, match="brought back"):
        trash.restore(deleted)


def test_what_programs_that_ended_left_is_emptied_and_nothing_else(tmp_path: Path) -> None:
    kept = [
        f".deleted-{_host()}-{os.getppid()}",  # of a program that runs
        f".deleted-another.machine-{NO_PROCESS}",
        f".deleted-{_host()}",
        "a.specscope",
    ]
    for name in (*kept, f".deleted-{_host()}-{NO_PROCESS}"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "b.specscope").touch()
    LibraryTrash(tmp_path).empty()
    assert sorted(os.listdir(tmp_path)) == sorted(kept)
    LibraryTrash(tmp_path / "not there").empty()


def test_a_broken_session_can_go(tmp_path: Path) -> None:
    (tmp_path / "a.specscope").write_text("broken")
    LibraryTrash(tmp_path).put_aside(tmp_path / "a.specscope")
    assert not (tmp_path / "a.specscope").exists()


def test_nothing_else_can(tmp_path: Path) -> None:
    trash = LibraryTrash(tmp_path)
    (tmp_path / "mine.txt").touch()
    (tmp_path / "folder.specscope").mkdir()
    for name in ("mine.txt", "folder.specscope"):
        with pytest.raises(SessionFileError, match="is not deleted"):
            trash.put_aside(tmp_path / name)
    with pytest.raises(SessionFileMissing):
        trash.put_aside(tmp_path / "gone.specscope")
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(script(end=False)))
        with pytest.raises(SessionFileError, match="being recorded"):
            trash.put_aside(tmp_path / "x.specscope")
