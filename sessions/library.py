"""The library: the folder sessions are kept in, and what is done with them there."""

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path

import platformdirs

from engine.wire.catalog import data_folder
from sessions.column_cache import ColumnCache
from sessions.migrations import bring_up_to_date
from sessions.session_connection import sidecar
from sessions.session_copy import copy_session
from sessions.session_errors import (
    OlderSessionFile,
    SessionFileError,
    SessionFileMissing,
    SessionFileUnwritable,
)
from sessions.session_file import SessionFile
from sessions.session_schema import SUFFIX
from sessions.session_summary import FileSummary

_MAX_MODEL_CHARACTERS = 40
_SIDECARS = ("-wal", "-shm", "-journal")


@dataclass(frozen=True)
class LibraryEntry:
    """One file of the library; either its summary or what is wrong with it."""

    path: Path
    summary: FileSummary | None
    problem: str  # a sentence; empty when the file can be opened
    changed_ns: int  # of the file, since 1970

    @property
    def started_unix_ns(self) -> int:
        """When the session began, or when the file was last changed where that is not known."""
        known = 0 if self.summary is None else self.summary.started_unix_ns
        return known or self.changed_ns


def library_folder() -> Path:
    """Where sessions are kept: under $SPECSCOPE_DATA_DIR, or else the user's own data folder."""
    return data_folder(platformdirs.user_data_dir("specscope", appauthor=False)) / "sessions"


class Library:
    """The session files of one folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = library_folder() if folder is None else folder

    # --- looking ---------------------------------------------------------------------------------

    def entries(self) -> list[LibraryEntry]:
        """Every session file, newest first. One that cannot be opened is listed with its problem.

        Raises:
            SessionFileError: the folder itself cannot be read.
        """
        entries = [_entry(path) for path in self._paths()]
        known = [entry for entry in entries if entry is not None]
        return sorted(known, key=lambda entry: (-entry.started_unix_ns, entry.path.name))

    def find(self, text: str) -> Path:
        """The session file a person means: a path, a file's name, a session's name, or the
        beginning of a file's name.

        Raises:
            SessionFileError: there is none, or more than one.
        """
        path = _as_path(text)
        if path is not None:
            return path
        entries = self.entries()
        matches = (
            [e for e in entries if text in (e.path.name, e.path.stem)],
            [e for e in entries if text and e.summary is not None and e.summary.name == text],
            [e for e in entries if text and e.path.name.startswith(text)],
        )
        for found in matches:
            if len(found) == 1:
                return found[0].path
            if found:
                names = ", ".join(entry.path.stem for entry in found[:5])
                raise SessionFileError(
                    f"{text!r} may mean {len(found)} sessions ({names}): give one of their names."
                )
        raise SessionFileMissing(
            f"There is no session {text!r}: give a path, or a name from `specscope list`."
        )

    def open(self, path: Path) -> SessionFile:
        """Open a session file for reading; one of an earlier version is brought up to date first,
        and a copy of it kept.

        Raises:
            SessionFileError: it cannot be opened; it is left as it is.
        """
        try:
            return SessionFile.open(path)
        except OlderSessionFile:
            bring_up_to_date(path)
            return SessionFile.open(path)

    # --- adding ----------------------------------------------------------------------------------

    def new_path(self, target: str, draft: str = "", *, started: datetime | None = None) -> Path:
        """A path that is free, from the time and the models; the folder is made.

        Raises:
            SessionFileUnwritable: the folder cannot be made.
        """
        moment = (started or datetime.now()).strftime("%Y-%m-%d_%H-%M-%S")
        models = "+".join(filter(None, (_plain(target), _plain(draft))))
        return self._free(f"{moment}_{models}" if models else moment)

    def import_file(self, source: Path) -> Path:
        """Read a session file from elsewhere and write its events and its row anew in here, so
        that nothing else in it comes along.

        Raises:
            SessionFileError: it cannot be read to its end, or not be written; nothing is added.
        """
        target = self._free(_plain(source.stem) or "imported")
        unfinished = target.with_name(target.name + ".part")
        try:
            copy_session(source, unfinished)
            unfinished.rename(target)
        except OSError as error:
            raise SessionFileUnwritable(f"{target} cannot be written: {error.strerror}.") from error
        finally:
            _remove(unfinished)
        return target

    # --- changing --------------------------------------------------------------------------------

    def rename(self, path: Path, name: str) -> None:
        """Give a session another name; saved when this returns, as are the next two."""
        with self._edited(path) as file:
            file.rename(name)

    def set_notes(self, path: Path, notes: str) -> None:
        with self._edited(path) as file:
            file.set_notes(notes)

    def set_tags(self, path: Path, tags: Iterable[str]) -> None:
        with self._edited(path) as file:
            file.set_tags(tags)

    def delete(self, path: Path) -> None:
        """Delete a session's file for good; the caller has asked. A broken one may be deleted too.

        Raises:
            SessionFileError: it is no session file's name, is being recorded, or will not go.
        """
        if path.suffix != SUFFIX or path.is_dir():
            raise SessionFileError(f"{path} is not a session file: it is not deleted.")
        entry = _entry(path)
        if entry is None:
            raise SessionFileMissing(f"There is no session file {path}: check the path.")
        if entry.summary is not None and entry.summary.is_recording:
            raise SessionFileError(f"{path} is being recorded: stop that first.")
        _remove(path)

    # --- inside ----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _edited(self, path: Path) -> Iterator[SessionFile]:
        with ColumnCache.of_user().following(path), SessionFile.open(path, writable=True) as file:
            yield file

    def _paths(self) -> list[Path]:
        try:
            return sorted(path for path in self.folder.iterdir() if path.suffix == SUFFIX)
        except FileNotFoundError:  # nothing was recorded yet
            return []
        except OSError as error:
            raise SessionFileUnwritable(
                f"The library {self.folder} cannot be read: {error.strerror}."
            ) from error

    def _free(self, stem: str) -> Path:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SessionFileUnwritable(
                f"The library {self.folder} cannot be made: {error.strerror}. "
                "Set SPECSCOPE_DATA_DIR to a folder that may be written."
            ) from error
        names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
        paths = (self.folder / f"{name}{SUFFIX}" for name in names)
        return next(path for path in paths if not path.exists() and not path.is_symlink())


def _as_path(text: str) -> Path | None:
    """The file at the path ``text``; None when there is none, or it is no path at all."""
    try:
        path = Path(text).expanduser()
        return path if path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        return None


def _entry(path: Path) -> LibraryEntry | None:
    """None when the file has just gone."""
    try:
        changed_ns = path.stat().st_mtime_ns
    except FileNotFoundError:
        return None
    except OSError as error:
        return LibraryEntry(path, None, f"{path} cannot be read: {error.strerror}.", 0)
    try:
        with SessionFile.open(path) as file:
            return LibraryEntry(path, file.summary(), "", changed_ns)
    except SessionFileError as error:
        return LibraryEntry(path, None, str(error), changed_ns)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
        for suffix in _SIDECARS:
            sidecar(path, suffix).unlink(missing_ok=True)
    except OSError as error:
        raise SessionFileUnwritable(f"{path} cannot be deleted: {error.strerror}.") from error


def _plain(text: str) -> str:
    """What any system takes of a name: letters, digits, dots and dashes."""
    last = re.split(r"[/\\]", text.rstrip("/\\"))[-1]
    plain = re.sub(r"[^A-Za-z0-9._+-]+", "-", last)[:_MAX_MODEL_CHARACTERS]
    return plain.strip(".-")
