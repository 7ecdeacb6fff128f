"""Opens the SQLite database of a session file, which may be hostile, damaged or somebody else's."""

import os
import sqlite3
import sys
import threading
from collections import Counter
from pathlib import Path

from sqlite_utils import Database

from engine.wire.codec import MAX_LINE_BYTES
from sessions.session_errors import (
    DamagedSessionFile,
    SessionFileExists,
    SessionFileUnwritable,
    sqlite_errors,
)
from sessions.session_header import Header, read_header

MAX_ROW_BYTES = MAX_LINE_BYTES + 64 * 1024
"""SQLite refuses to hand out a longer row, or any value in it."""

_SUPER_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")

_READABLE = {"session", "events", "sqlite_master", "sqlite_schema"}
_FUNCTIONS = {"count", "max", "group_concat"}
_ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_PRAGMA}

_open_files_lock = threading.Lock()
_open_files: Counter[tuple[int, int]] = Counter()
"""Device and inode of the files this process has open through SQLite. On POSIX, closing *any* other
handle on such a file would drop SQLite's locks on it, so its header is not looked at again."""


class Connection:
    """An open database and the file it is in; ``close`` may be called again."""

    def __init__(self, database: Database, path: Path) -> None:
        self.database = database
        self.path = path
        self._identity = _identity(path)
        with _open_files_lock:
            _open_files[self._identity] += 1
        self._is_open = True

    def close(self) -> None:
        """Raises SessionFileError when SQLite cannot close the file."""
        if self._is_open:
            self._is_open = False
            try:
                with sqlite_errors(self.path):
                    self.database.close()
            finally:
                with _open_files_lock:
                    _open_files[self._identity] -= 1


def connect_for_reading(path: Path, *, timeout_s: float) -> Connection:
    """Open an existing session file so that nothing in it can be changed or run.

    Raises:
        SessionFileError: it is not there, not a session file, newer, damaged or busy.
    """
    header = _look_at(path)
    with sqlite_errors(path):
        mode = "mode=ro&immutable=1" if _has_no_log(header, path) else "mode=ro"
        connection = Connection(_connect(path, mode, timeout_s=timeout_s), path)
        try:
            _wake(connection.database, path)
            _guard(connection.database)
        except BaseException:
            connection.close()
            raise
    return connection


def connect_for_writing(path: Path, *, timeout_s: float, any_version: bool = False) -> Connection:
    """Open an existing session file to change it; it is not created.

    Raises:
        SessionFileError: as for reading, or it may not be written.
    """
    _look_at(path, any_version=any_version)
    if not os.access(path, os.W_OK):
        raise SessionFileUnwritable(f"{path} may not be written: check its permissions.")
    with sqlite_errors(path):
        _refuse_foreign_journal(path)
        connection = Connection(_connect(path, "mode=rw", timeout_s=timeout_s), path)
        try:
            _harden(connection.database)
            connection.database.conn.set_authorizer(_refuse_triggers)
            connection.database.execute("PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
    return connection


def connect_new(path: Path) -> Connection:
    """Make the database ``path``, which must not be there, to become a session file.

    Raises:
        SessionFileError: it cannot be made.
    """
    with sqlite_errors(path):
        path.open("xb").close()
        connection = Connection(_connect(path, "mode=rw", timeout_s=0.0), path)
        _harden(connection.database)
    return connection


def reserve(path: Path) -> None:
    """Make the empty file ``path``.

    Raises:
        SessionFileExists: something is there already.
        SessionFileUnwritable: it cannot be made.
    """
    try:
        path.open("xb").close()
    except FileExistsError as error:
        raise SessionFileExists(f"{path} exists already: it is not overwritten.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SessionFileUnwritable(f"{path} cannot be written: {reason}.") from error


def sidecar(path: Path, suffix: str) -> Path:
    """The file SQLite keeps beside ``path``: "-wal", "-shm" or "-journal"."""
    return path.with_name(path.name + suffix)


def _connect(path: Path, mode: str, *, timeout_s: float) -> Database:
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}",
        uri=True,
        timeout=timeout_s,
        isolation_level=None,  # every transaction in here is begun by name
        check_same_thread=False,
    )
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_ROW_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    return Database(connection, recursive_triggers=False, execute_plugins=False)


def _wake(database: Database, path: Path) -> None:
    """Read the schema once. A file whose writer died in the middle of a change is first brought
    back to before that change, as SQLite does for every database."""
    try:
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname != "SQLITE_READONLY_ROLLBACK":
            raise
        connect_for_writing(path, timeout_s=1.0, any_version=True).close()
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()


def _guard(database: Database) -> None:
    """Let this connection do nothing but read the tables themselves."""
    _harden(database)
    database.execute("PRAGMA query_only = ON")
    database.conn.set_authorizer(_authorize)


def _harden(database: Database) -> None:
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.execute("PRAGMA mmap_size = 0")
    if sys.version_info >= (3, 12):
        connection = database.conn
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_TRIGGER, False)
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_VIEW, False)


def _authorize(
    action: int, first: str | None, second: str | None, _: str | None, inside: str | None
) -> int:
    """SQLite asks before it compiles anything; ``inside`` names a view or trigger it came from."""
    if inside is not None:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_READ:
        return sqlite3.SQLITE_OK if first in _READABLE else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if second in _FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _refuse_triggers(
    action: int, first: str | None, second: str | None, database: str | None, inside: str | None
) -> int:
    return sqlite3.SQLITE_OK if inside is None else sqlite3.SQLITE_DENY


def _has_no_log(header: Header | None, path: Path) -> bool:
    """Whether a file that was kept with a write-ahead log has come without one: then there is
    nobody to share it with, and SQLite need not put a new log beside it."""
    if header is None or not header.has_log:
        return False
    log = sidecar(path, "-wal")
    return not log.exists() or log.stat().st_size == 0


def _refuse_foreign_journal(path: Path) -> None:
    """A journal may name another file that SQLite would then open and delete; ours never does."""
    journal = sidecar(path, "-journal")
    if not journal.is_file():
        return
    with journal.open("rb") as stream:
        stream.seek(0, os.SEEK_END)
        stream.seek(max(stream.tell() - len(_SUPER_JOURNAL_MAGIC), 0))
        ending = stream.read()
    if ending == _SUPER_JOURNAL_MAGIC:
        raise DamagedSessionFile(
            f"{journal} names other files and was not written by SpecScope: remove it, or copy "
            "what is readable into a new file with `specscope session recover PATH OUT`."
        )


def _look_at(path: Path, *, any_version: bool = False) -> Header | None:
    """The file's header, checked; None when this process has the file open, and has looked before.

    A connection is counted before SQLite takes its first lock, so no look can cross one.
    """
    with _open_files_lock:
        try:
            is_open_here = _open_files[_identity(path)] > 0
        except (OSError, ValueError):  # it is not there, which ``read_header`` says
            is_open_here = False
        return None if is_open_here else read_header(path, any_version=any_version)


def _identity(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
