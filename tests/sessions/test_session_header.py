"""Whatever is not a session file is told apart with a sentence, and left as it is."""

import os
import sqlite3
import struct
import sys
from pathlib import Path

import pytest

from sessions.session_errors import (
    DamagedSessionFile,
    NewerSessionFile,
    NotASessionFile,
    SessionFileError,
    SessionFileMissing,
)
from sessions.session_file import SessionFile
from sessions.session_header import read_header
from tests.sessions.recorded import lines, record, script, stored


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(offset)
        stream.write(data)


def refused(path: Path, kind: type[SessionFileError], match: str) -> None:
    """Opening says so, for reading and for writing, and changes nothing in the folder."""
    before = {found: found.read_bytes() for found in path.parent.iterdir() if found.is_file()}
    for writable in (False, True):
        with pytest.raises(kind, match=match):
            SessionFile.open(path, writable=writable)
    after = {found: found.read_bytes() for found in path.parent.iterdir() if found.is_file()}
    assert after == before


def test_a_header_says_what_it_is(tmp_path: Path) -> None:
    header = read_header(record(tmp_path / "x.specscope", script()))
    assert header.page_bytes * header.n_pages == (tmp_path / "x.specscope").stat().st_size
    assert not header.has_log
    assert header.schema_version == 1


@pytest.mark.parametrize(
    "content",
    [b"some text, not a database", b"{}", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), b"SQLite"],
)
def test_another_kind_of_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.specscope"
    path.write_bytes(content)
    refused(path, NotASessionFile, "is not a session file")


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    path.touch()
    refused(path, NotASessionFile, "is empty")


def test_a_folder(tmp_path: Path) -> None:
    refused(tmp_path, NotASessionFile, "is a folder")


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in the file system")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    os.mkfifo(path)
    with pytest.raises(NotASessionFile, match="is not a file on a disk"):
        SessionFile.open(path)


def test_nothing(tmp_path: Path) -> None:
    for path in (tmp_path / "x.specscope", tmp_path / "x\0y"):
        with pytest.raises((SessionFileMissing, SessionFileError)):
            SessionFile.open(path)
    record(tmp_path / "x.specscope", script())
    with pytest.raises(SessionFileMissing):
        SessionFile.open(tmp_path / "x.specscope" / "below")


def test_a_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE notes (text)")
    database.commit()
    database.close()
    refused(path, NotASessionFile, "another program")


def test_a_later_version(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    overwrite(path, 60, struct.pack(">I", 2))
    refused(path, NewerSessionFile, "later version of SpecScope")


def test_the_first_page_overwritten_with_zeros(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    overwrite(path, 0, bytes(4096))
    refused(path, DamagedSessionFile, "overwritten with zeros.*session recover")


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_file_cut_short(tmp_path: Path, share: float) -> None:
    path = record(tmp_path / "x.specscope", script(200))
    os.truncate(path, int(path.stat().st_size * share))
    refused(path, DamagedSessionFile, "cut short")


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    overwrite(path, 56, struct.pack(">I", 2))
    refused(path, DamagedSessionFile, "UTF-8")


def test_a_page_in_the_middle_overwritten(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script(200))
    overwrite(path, path.stat().st_size // 2 // 4096 * 4096, bytes(4096))
    before = path.read_bytes()
    with SessionFile.open(path) as file:
        assert file.summary().counts.n_events == len(script(200))
        with pytest.raises(DamagedSessionFile, match="session recover"):
            list(file.events())
    assert path.read_bytes() == before


def test_the_log_of_a_copy_was_left_behind(tmp_path: Path) -> None:
    """What is in the file alone is a whole, older state of it."""
    events = script(100)
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(events[:300]))
        file._database.execute("PRAGMA wal_checkpoint(PASSIVE)")
        file.append(lines(events[300:]))
        copy = tmp_path / "copy"
        copy.mkdir()
        (copy / "x.specscope").write_bytes((tmp_path / "x.specscope").read_bytes())
    assert stored(copy / "x.specscope") == events[:300]
    assert os.listdir(copy) == ["x.specscope"]
    with SessionFile.open(copy / "x.specscope") as file:
        assert file.summary().end_reason == "crashed"
