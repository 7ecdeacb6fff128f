"""LibraryDesk: the library read and changed on threads; asked once a frame what came of it."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sessions.library import Library
from sessions.library_trash import Deleted, LibraryTrash
from sessions.session_errors import SessionFileError
from ui.background_task import BackgroundTask
from ui.library.library_rows import LibraryRow, row_of

TICKS_PER_LOOK = 90
"""Three seconds: how soon a change in the folder is seen."""

Signature = tuple[tuple[str, int, int, int], ...]
"""Name, size, time of change and number of each file: the same means nothing changed."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All sessions, newest first, or why they cannot be listed."""

    rows: tuple[LibraryRow, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an errand, in a sentence; "" where the list says it."""

    sentence: str = ""
    is_error: bool = False
    deleted: tuple[Deleted, ...] = ()  # what can be brought back


@dataclass(frozen=True, slots=True)
class _Read:
    signature: Signature
    listing: Listing | None  # None: as it was


class LibraryDesk:
    """One reading and one errand at a time, each on a thread; nothing here blocks but ``close``."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self._trash = LibraryTrash(library.folder)
        self._reading: BackgroundTask[_Read] | None = None
        self._signature: Signature | None = None
        self._errands: deque[Callable[[], Outcome]] = deque()
        self._errand: BackgroundTask[Outcome] | None = None
        self._ticks = TICKS_PER_LOOK  # the first tick looks
        self.listing: Listing | None = None
        """What was last read; None before the first time."""

    @property
    def is_busy(self) -> bool:
        """Whether an errand is under way or waits."""
        return self._errand is not None or bool(self._errands)

    # --- what is asked ---------------------------------------------------------------------------

    def look(self) -> None:
        """Read again at the next tick."""
        self._ticks = TICKS_PER_LOOK

    def rename(self, path: Path, name: str) -> None:
        self._order(lambda: self.library.rename(path, name))

    def set_tags(self, path: Path, tags: Sequence[str]) -> None:
        self._order(lambda: self.library.set_tags(path, tags))

    def set_notes(self, path: Path, notes: str) -> None:
        self._order(lambda: self.library.set_notes(path, notes))

    def import_file(self, path: Path) -> None:
        def run() -> Outcome:
            return Outcome(f"Imported {self.library.import_file(path).stem}.")

        self._errands.append(run)

    def delete(self, paths: Sequence[Path]) -> None:
        """Put them aside; ``restore`` brings back what the outcome names."""
        self._errands.append(lambda: self._delete(paths))

    def restore(self, deleted: Sequence[Deleted]) -> None:
        def run() -> Outcome:
            for each in deleted:
                self._trash.restore(each)
            return Outcome()

        self._errands.append(run)

    # --- the clock's -----------------------------------------------------------------------------

    def tick(self, *, is_seen: bool) -> list[Outcome]:
        """Collect what is done and begin what waits; ``listing`` is then the newest."""
        outcomes = self._collect_errand()
        self._collect_reading()
        if self._errands and self._errand is None:
            errand = self._errands.popleft()
            self._errand = BackgroundTask(lambda tell, stop: errand(), name="library-errand")
        self._ticks += is_seen
        if self._ticks >= TICKS_PER_LOOK and is_seen and self._reading is None:
            self._ticks = 0
            known = self._signature
            self._reading = BackgroundTask(lambda tell, stop: self._read(known), name="library")
        return outcomes

    def close(self) -> None:
        """Finish what was asked, and delete for good what was put aside."""
        for task in (self._reading, self._errand):
            if task is not None:
                task.close()
        while self._errands:
            _guarded(self._errands.popleft())
        self._trash.empty()

    # --- inside ----------------------------------------------------------------------------------

    def _order(self, act: Callable[[], None]) -> None:
        def run() -> Outcome:
            act()
            return Outcome()

        self._errands.append(run)

    def _delete(self, paths: Sequence[Path]) -> Outcome:
        """As far as it goes: what was put aside before an error can still be brought back."""
        deleted: list[Deleted] = []
        for path in paths:
            try:
                deleted.append(self._trash.put_aside(path))
            except SessionFileError as error:
                return Outcome(str(error), True, tuple(deleted))
        names = deleted[0].path.stem if len(deleted) == 1 else f"{len(deleted)} sessions"
        return Outcome(f"Deleted {names}.", deleted=tuple(deleted))

    def _collect_errand(self) -> list[Outcome]:
        if self._errand is None or not self._errand.poll().is_over:
            return []
        state = self._errand.close()
        self._errand = None
        self.look()
        if state.result is not None:
            return [state.result]
        return [_outcome_of(state.error)]

    def _collect_reading(self) -> None:
        if self._reading is None or not self._reading.poll().is_over:
            return
        state = self._reading.close()
        self._reading = None
        if state.result is None:
            rows = () if self.listing is None else self.listing.rows
            self.listing, self._signature = Listing(rows, str(state.error)), None
            return
        self._signature = state.result.signature
        if state.result.listing is not None and state.result.listing != self.listing:
            self.listing = state.result.listing

    def _read(self, known: Signature | None) -> _Read:
        signature = _signature(self.library.folder)
        was_recording = self.listing is not None and any(
            row.is_recording for row in self.listing.rows
        )
        if signature == known and not was_recording:
            return _Read(signature, None)
        entries = self.library.entries()
        return _Read(signature, Listing(tuple(row_of(entry) for entry in entries)))


def _signature(folder: Path) -> Signature:
    found = []
    try:
        for path in sorted(folder.iterdir()):
            status = path.lstat()
            found.append((path.name, status.st_size, status.st_mtime_ns, status.st_ino))
    except OSError:  # told by whoever reads the entries
        return ()
    return tuple(found)


def _guarded(errand: Callable[[], Outcome]) -> Outcome:
    try:
        return errand()
    except Exception as error:
        return _outcome_of(error)


def _outcome_of(error: Exception | None) -> Outcome:
    if isinstance(error, SessionFileError):
        return Outcome(str(error), True)
    return Outcome(f"That did not work: {type(error).__name__}: {error}", True)
