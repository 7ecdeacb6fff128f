"""What can be wrong with a session file, as sentences that say what to do."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SessionFileError(Exception):
    """Something is wrong with a session file; the message names the file and says what to do."""


class SessionFileMissing(SessionFileError):
    """Nothing is there."""


class SessionFileExists(SessionFileError):
    """Something is there already, and is not overwritten."""


class NotASessionFile(SessionFileError):
    """A folder, a text, a database of another program, or nothing at all."""


class NewerSessionFile(SessionFileError):
    """Written by a later version of SpecScope."""


class OlderSessionFile(SessionFileError):
    """Written by an earlier version of SpecScope; ``sessions.migrations`` brings it up to date."""


class DamagedSessionFile(SessionFileError):
    """A session file whose bytes or events are not what was written;
    ``sessions.recovery`` saves what is readable."""


class SessionFileBusy(SessionFileError):
    """Another program holds the file; later it may be free."""


class SessionFileUnwritable(SessionFileError):
    """The disk is full, or the file or its folder may not be written."""


_BUSY = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"}
_UNWRITABLE = {
    "SQLITE_FULL": "the disk is full: make room and try again.",
    "SQLITE_READONLY": "it may not be written: check the permissions of the file and its folder.",
    "SQLITE_PERM": "access was refused: check the permissions of the file and its folder.",
    "SQLITE_CANTOPEN": "it could not be opened: check the permissions of the file and its folder.",
    "SQLITE_IOERR": "the disk reported an error: check the disk and the connection to it.",
    "SQLITE_NOLFS": "the disk cannot hold a file this large.",
}


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite or the system raises inside the block into a ``SessionFileError``."""
    try:
        yield
    except sqlite3.Error as error:
        raise describe(error, path) from error
    except UnicodeError as error:  # SQLite quotes names out of the file in what it says
        raise damaged(path, "its text is not UTF-8") from error
    except FileNotFoundError as error:  # it went while it was being looked at
        raise SessionFileMissing(f"{path} is not there any more.") from error
    except OSError as error:
        raise SessionFileUnwritable(f"{path}: {error.strerror or error}.") from error


def describe(error: sqlite3.Error, path: Path) -> SessionFileError:
    """The ``SessionFileError`` that says what SQLite's ``error`` means for ``path``."""
    name = str(getattr(error, "sqlite_errorname", "") or "")
    family = "_".join(name.split("_")[:2])
    if family in _BUSY:
        return SessionFileBusy(f"{path} is busy: another program holds it. Try again in a moment.")
    if family in _UNWRITABLE:
        return SessionFileUnwritable(f"{path}: {_UNWRITABLE[family]} (SQLite says: {error})")
    if family == "SQLITE_CONSTRAINT":
        return SessionFileError(f"{path} has an event of that number already: nothing was added.")
    return damaged(path, f"SQLite says: {error}")


def damaged(path: Path, what: str) -> DamagedSessionFile:
    """The error for a session file that is not as it was written."""
    return DamagedSessionFile(
        f"{path} is damaged ({what}). It was left as it is; "
        "`specscope session recover PATH OUT` copies what is readable into a new file."
    )
