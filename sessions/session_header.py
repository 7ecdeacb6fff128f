"""The first hundred bytes of a session file: what it is, before SQLite is let at it."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from sessions.session_errors import (
    NewerSessionFile,
    NotASessionFile,
    OlderSessionFile,
    SessionFileMissing,
    SessionFileUnwritable,
    damaged,
)
from sessions.session_schema import APPLICATION_ID, SCHEMA_VERSION, SUFFIX

_HEADER_BYTES = 100
_MAGIC = b"SQLite format 3\0"


@dataclass(frozen=True)
class Header:
    """What the file says of itself."""

    page_bytes: int
    n_pages: int
    has_log: bool  # kept with a write-ahead log
    schema_version: int


def read_header(path: Path, *, any_version: bool = False) -> Header:
    """The header of a session file of this version, or of any.

    Raises:
        SessionFileError: not there, not a session file, of another version, or cut short.
    """
    raw, n_bytes = _read(path)
    if not raw.startswith(_MAGIC) or len(raw) < _HEADER_BYTES:
        if raw.strip(b"\0") == b"" and path.suffix == SUFFIX:
            raise damaged(path, "its first page is overwritten with zeros")
        raise NotASessionFile(
            f"{path} is not a session file: give one that SpecScope recorded (*{SUFFIX})."
        )
    if _number(raw, 68) != APPLICATION_ID:
        raise NotASessionFile(
            f"{path} is a SQLite database of another program, not a session file."
        )
    page_bytes = int.from_bytes(raw[16:18], "big")
    header = Header(
        page_bytes=65536 if page_bytes == 1 else page_bytes,
        n_pages=_number(raw, 28),
        has_log=raw[18] == 2 or raw[19] == 2,
        schema_version=_number(raw, 60),
    )
    if not any_version:
        _check_version(header.schema_version, path)
    if _number(raw, 56) not in (0, 1):
        raise damaged(path, "its text is not UTF-8")
    is_shared = _has_content(path, "-wal") or _has_content(path, "-journal")
    if n_bytes < header.page_bytes * header.n_pages and not is_shared:
        raise damaged(
            path,
            f"it was cut short: {n_bytes} of {header.page_bytes * header.n_pages} bytes are there",
        )
    return header


def _check_version(version: int, path: Path) -> None:
    if version > SCHEMA_VERSION:
        raise NewerSessionFile(
            f"{path} was written by a later version of SpecScope (its format is {version}, this "
            f"one reads up to {SCHEMA_VERSION}): update SpecScope to open it."
        )
    if version < SCHEMA_VERSION:
        raise OlderSessionFile(
            f"{path} was written by an earlier version of SpecScope (its format is {version}): "
            "it has to be brought up to date first; a copy of the old file is kept."
        )


def _read(path: Path) -> tuple[bytes, int]:
    """The first bytes of a regular file, and its size."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise NotASessionFile(f"{path} is a folder: give a session file in it.")
        if not stat.S_ISREG(status.st_mode):
            raise NotASessionFile(f"{path} is not a file on a disk: give a session file.")
        if status.st_size == 0:
            raise NotASessionFile(
                f"{path} is empty: nothing was recorded in it, and it can be deleted."
            )
        with path.open("rb") as stream:
            return stream.read(_HEADER_BYTES), status.st_size
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SessionFileMissing(f"There is no session file {path}: check the path.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SessionFileUnwritable(f"{path} cannot be read: {reason}.") from error


def _number(raw: bytes, offset: int) -> int:
    return int.from_bytes(raw[offset : offset + 4], "big")


def _has_content(path: Path, suffix: str) -> bool:
    beside = path.with_name(path.name + suffix)
    try:
        return os.path.getsize(beside) > 0
    except OSError:  # it is not there, or not for us
        return False
