"""ColumnCache: folded columns of long sessions, so that opening one again need not fold it.

They are kept in the user's own cache folder and not in the session files: a file from elsewhere
cannot bring any, a file that may not be written is opened as fast as others, and a file that is
sent carries only its events. All of it can be deleted at any time and is made again.
"""

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.wire.catalog import data_folder
from engine.wire.codec import encode
from sessions.column_file import (
    ColumnFileError,
    FileStamp,
    StoredColumns,
    read_columns,
    read_stamp,
    stamp_again,
    write_columns,
)
from sessions.lines_digest import EventsIdentity
from sessions.model import SessionModel
from sessions.session_connection import sidecar
from sessions.session_file import SessionFile

_SUFFIX = ".columns"


def cache_folder() -> Path:
    """Where columns are kept: under $SPECSCOPE_DATA_DIR, or else the user's own cache folder."""
    return data_folder(platformdirs.user_cache_dir("specscope", appauthor=False)) / "columns"


@dataclass(frozen=True)
class ColumnCache:
    """Columns found by the session file they were folded from.

    Those of a file are used at once while it has not been touched since. Where it has (renamed,
    copied, moved), every event's line is compared first, by digest.
    """

    folder: Path
    min_events: int = 20_000
    """Shorter sessions are folded in a moment, and are not kept."""

    max_bytes: int = 4 * 2**30
    """Of all columns together; those not used for longest go."""

    @classmethod
    def of_user(cls) -> "ColumnCache":
        return cls(cache_folder())

    def find(
        self, file: SessionFile, *, on_event: Callable[[int], None] | None = None
    ) -> StoredColumns | None:
        """The columns of all events in ``file``; None where there are none to be trusted.

        Args:
            on_event: told now and then how many events were compared; may raise to end that.

        Raises:
            SessionFileError: the session file cannot be read.
        """
        entry = self._entry(file)
        if entry is None or not entry.is_file() or not _is_own(self.folder):
            return None
        stamp = stamp_of(file.path)
        try:
            found = read_columns(entry)
        except (ColumnFileError, OSError):  # of an earlier version, or damaged: it is made again
            return None
        is_known = stamp is not None and stamp == found.stamp
        if not is_known and file.identity(on_event=on_event) != found.identity:
            return None
        with contextlib.suppress(OSError):  # a folder that may not be written serves as it is
            if stamp is not None and not is_known:
                stamp_again(entry, stamp)
            os.utime(entry)
        return found

    def keep(
        self,
        path: Path,
        model: SessionModel,
        identity: EventsIdentity,
        *,
        stamp: FileStamp | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Keep what ``model`` folded of the events in the session file ``path``.

        Args:
            stamp: the file's before its events were read; where it has another by now, or was
                not alone, nothing is kept. None: nobody else can have written it.
            should_stop: asked now and then; True ends it, and nothing is kept.

        Returns:
            Whether they were kept. Nothing depends on it, so no trouble with the cache is raised.

        Raises:
            SessionFileError: the session file cannot be read.
        """
        ends = model.tables["ends"]
        after = ends.view("ordinal", len(ends)) > identity.last_ordinal  # a farewell not in it
        now = stamp_of(path)
        if (
            identity.n_events < self.min_events
            or model.n_events != identity.n_events + int(after.sum())
            or now is None
            or stamp not in (None, now)
        ):
            return False
        with SessionFile.open(path) as file:
            entry = self._entry(file)
        if entry is None:
            return False
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            n_bytes = sum(table.n_bytes for table in model.tables.values())
            if not _is_own(self.folder) or not self._make_room(n_bytes):
                return False
            return write_columns(entry, model, identity, now, should_stop=should_stop)
        except OSError:  # no room, or no right to: then it is folded again next time
            return False

    @contextlib.contextmanager
    def following(self, path: Path) -> Iterator[None]:
        """While the block changes the session file ``path`` and none of its events: its columns
        are as known afterwards as before."""
        entry, before = None, stamp_of(path)
        if self.folder.is_dir():
            with SessionFile.open(path) as file:
                entry = self._entry(file)
        yield
        after = stamp_of(path)
        if entry is None or None in (before, after) or not entry.is_file():
            return
        with contextlib.suppress(ColumnFileError, OSError):  # then they are compared when opened
            if read_stamp(entry) == before and after is not None:
                stamp_again(entry, after)

    def _entry(self, file: SessionFile) -> Path | None:
        """Where the columns of a session are, by its start and its newest event; None for one
        without events."""
        last = file.last_event()
        if last is None:
            return None
        told = b"%d\n%b" % (file.summary().started_unix_ns, encode(last))
        return self.folder / f"{hashlib.sha256(told).hexdigest()[:32]}{_SUFFIX}"

    def _make_room(self, n_bytes: int) -> bool:
        """Remove what was not used for longest, until ``n_bytes`` more are allowed."""
        entries = []
        for path in self.folder.glob(f"*{_SUFFIX}"):
            with contextlib.suppress(OSError):  # another process removed it just now
                status = path.stat()
                entries.append((status.st_mtime_ns, status.st_size, path))
        n_held = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if n_held + n_bytes <= self.max_bytes:
                break
            with contextlib.suppress(OSError):  # somebody else's, or in use: it stays
                path.unlink()
                n_held -= size
        return n_held + n_bytes <= self.max_bytes


def stamp_of(path: Path) -> FileStamp | None:
    """None where a log or a journal beside the file says more than the file does, or where it
    cannot be looked at."""
    try:
        if any(sidecar(path, suffix).exists() for suffix in ("-wal", "-journal")):
            return None
        status = path.stat()
    except OSError:
        return None
    return FileStamp(
        status.st_dev % 2**63,
        status.st_ino % 2**63,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _is_own(folder: Path) -> bool:
    """Whether nobody but the user can have put anything there."""
    if sys.platform == "win32":
        return True  # it lies in the user's profile
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022
