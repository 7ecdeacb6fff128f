"""LibraryTrash: deleted sessions, kept aside until the program ends so that they can come back."""

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

import psutil

from sessions.session_connection import sidecar
from sessions.session_errors import (
    SessionFileError,
    SessionFileMissing,
    SessionFileUnwritable,
)
from sessions.session_file import SessionFile
from sessions.session_schema import SUFFIX

_SIDECARS = ("-wal", "-shm", "-journal")
_FOLDER = re.compile(r"[.]deleted-(?P<host>[A-Za-z0-9_-]+)-(?P<pid>[0-9]+)")


@dataclass(frozen=True, slots=True)
class Deleted:
    """A session that was put aside."""

    path: Path  # where it was
    kept: Path  # where it is now


class LibraryTrash:
    """Beside the sessions of ``folder``, in a hidden folder of this process's own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._trash = folder / f".deleted-{_host()}-{os.getpid()}"

    def put_aside(self, path: Path) -> Deleted:
        """Take a session, broken or not, out of the library.

        Raises:
            SessionFileError: it is no session file's name, is being recorded, or will not go.
        """
        _check(path)
        try:
            self._trash.mkdir(parents=True, exist_ok=True)
            kept = _free(self._trash / path.name)
            _move(path, kept)
        except FileNotFoundError as error:
            raise SessionFileMissing(f"{path} is not there any more.") from error
        except OSError as error:
            raise SessionFileUnwritable(f"{path} cannot be deleted: {error.strerror}.") from error
        return Deleted(path, kept)

    def restore(self, deleted: Deleted) -> Path:
        """Put it back; under another name when its own has been taken meanwhile.

        Raises:
            SessionFileError: it is not there any more, or will not come.
        """
        path = _free(deleted.path)
        try:
            _move(deleted.kept, path)
        except OSError as error:
            raise SessionFileUnwritable(
                f"{deleted.path.name} cannot be brought back: {error.strerror}."
            ) from error
        return path

    def empty(self) -> None:
        """Delete for good what was put aside by this process, and by those of this machine that
        have ended without doing so. What will not go is left for the next time."""
        try:
            folders = [path for path in self._folder.iterdir() if self._is_over(path)]
        except OSError:  # no library yet, or none that can be read
            return
        for folder in folders:
            _delete(folder)

    def _is_over(self, path: Path) -> bool:
        match = _FOLDER.fullmatch(path.name)
        if match is None or match["host"] != _host() or path.is_symlink():
            return False
        process_id = int(match["pid"])
        return process_id == os.getpid() or not psutil.pid_exists(process_id)


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", platform.node()) or "here"


def _check(path: Path) -> None:
    if path.suffix != SUFFIX or path.is_dir():
        raise SessionFileError(f"{path} is not a session file: it is not deleted.")
    try:
        with SessionFile.open(path) as file:
            is_recording = file.summary().is_recording
    except SessionFileError:  # broken ones may go
        is_recording = False
    if is_recording:
        raise SessionFileError(f"{path} is being recorded: stop that first.")


def _free(path: Path) -> Path:
    number = 1
    found = path
    while found.exists() or found.is_symlink():
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found


def _move(path: Path, to: Path) -> None:
    """The file last: with its log it is whole wherever it is found."""
    moved = []
    try:
        for suffix in _SIDECARS:
            beside = sidecar(path, suffix)
            if beside.exists():
                beside.rename(sidecar(to, suffix))
                moved.append(suffix)
        path.rename(to)
    except OSError:
        for suffix in moved:
            sidecar(to, suffix).rename(sidecar(path, suffix))
        raise


def _delete(folder: Path) -> None:
    try:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    except OSError:
        return
