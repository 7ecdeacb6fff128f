"""What SQLite and the system say becomes a sentence about the file."""

import sqlite3
from pathlib import Path

import pytest

from sessions.session_errors import (
    DamagedSessionFile,
    SessionFileBusy,
    SessionFileError,
    SessionFileMissing,
    SessionFileUnwritable,
    sqlite_errors,
)

PATH = Path("folder/x.specscope")


def error(kind: type[sqlite3.Error], message: str, name: str) -> sqlite3.Error:
    made = kind(message)
    made.sqlite_errorname = name
    return made


@pytest.mark.parametrize(
    ("raised", "kind", "says"),
    [
        (error(sqlite3.OperationalError, "locked", "SQLITE_BUSY"), SessionFileBusy, "busy"),
        (error(sqlite3.OperationalError, "s", "SQLITE_BUSY_SNAPSHOT"), SessionFileBusy, "busy"),
        (
            error(sqlite3.OperationalError, "full", "SQLITE_FULL"),
            SessionFileUnwritable,
            "make room",
        ),
        (
            error(sqlite3.OperationalError, "ro", "SQLITE_READONLY_DBMOVED"),
            SessionFileUnwritable,
            "permissions",
        ),
        (
            error(sqlite3.OperationalError, "io", "SQLITE_IOERR_WRITE"),
            SessionFileUnwritable,
            "disk",
        ),
        (
            error(sqlite3.DatabaseError, "bad", "SQLITE_CORRUPT"),
            DamagedSessionFile,
            "specscope session recover",
        ),
        (
            error(sqlite3.DatabaseError, "not", "SQLITE_NOTADB"),
            DamagedSessionFile,
            "SQLite says: not",
        ),
        (sqlite3.OperationalError("no name"), DamagedSessionFile, "no name"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), DamagedSessionFile, "UTF-8"),
        (FileNotFoundError(2, "gone"), SessionFileMissing, "not there any more"),
        (PermissionError(13, "Permission denied"), SessionFileUnwritable, "Permission denied"),
    ],
)
def test_an_error_says_what_to_do(
    raised: Exception, kind: type[SessionFileError], says: str
) -> None:
    with pytest.raises(kind) as caught, sqlite_errors(PATH):
        raise raised
    assert says in str(caught.value)
    assert str(PATH) in str(caught.value)
    assert caught.value.__cause__ is raised


def test_other_errors_pass() -> None:
    with pytest.raises(ZeroDivisionError), sqlite_errors(PATH):
        raise ZeroDivisionError
