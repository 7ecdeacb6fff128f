"""Copies what is readable of a damaged session file into a new one."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from engine.wire.codec import encode
from engine.wire.events import Event, SessionEnded, SessionStarted
from sessions.session_errors import (
    DamagedSessionFile,
    NotASessionFile,
    SessionFileError,
    SessionFileUnwritable,
)
from sessions.session_file import SessionFile
from sessions.session_pages import PageReader, Place, log_of
from sessions.session_rows import checked_event
from sessions.session_schema import SUFFIX
from sessions.session_summary import FileSummary

BATCH_EVENTS = 2000

_MAX_PLACES = 4
"""Versions of a row that are tried: pages are rewritten while they fill."""


@dataclass(frozen=True)
class RecoveryReport:
    """What became of a damaged file's events."""

    path: Path
    out: Path
    n_events: int  # in the new file
    n_missing: int  # ordinals that are not there, before the newest that is
    has_start: bool  # without it the settings and the models are not known
    has_end: bool
    has_row: bool  # name, notes and tags were readable

    def sentences(self) -> tuple[str, ...]:
        """What a person should know."""
        told = [f"{self.n_events:,} events were recovered from {self.path} into {self.out}."]
        if self.n_missing:
            told.append(f"{self.n_missing:,} events before the last one could not be read.")
        if not self.has_start:
            told.append("The session's first event is lost, and with it its settings.")
        if not self.has_end:
            told.append("Its end is not there: it is shown as crashed.")
        if not self.has_row:
            told.append("Its name, notes and tags could not be read.")
        return tuple(told)


def recover(path: Path, out: Path) -> RecoveryReport:
    """Copy every sound event of ``path`` into the new session file ``out``.

    ``path`` is only read, and so is a write-ahead log beside it.

    Raises:
        SessionFileExists: ``out`` is there already.
        NotASessionFile: ``path`` is something else.
        DamagedSessionFile: not one event can be read; ``out`` is not made.
    """
    summary, problem = _summary(path)
    if summary is not None and summary.is_recording:
        raise SessionFileError(f"{path} is still being recorded: recover it when that is over.")
    log_path = log_of(path)
    try:
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(path.open("rb"))
            log = None if log_path is None else stack.enter_context(log_path.open("rb"))
            events = _sound_events(PageReader(file, log), path)
            first = next(events, None)
            if first is None:
                if isinstance(problem, NotASessionFile):
                    raise problem
                raise DamagedSessionFile(
                    f"{path} is damaged: not one event can be read, so nothing was recovered. "
                    "It was left as it is."
                )
            return _write(path, out, first, events, summary)
    except OSError as error:
        raise SessionFileUnwritable(f"{path} cannot be read: {error.strerror}.") from error


def _summary(path: Path) -> tuple[FileSummary | None, SessionFileError | None]:
    """What the file says of itself, where SQLite can still read that, or what keeps it from it."""
    try:
        with SessionFile.open(path) as file:
            return file.summary(), None
    except DamagedSessionFile as error:
        return None, error
    except NotASessionFile as error:
        # Its first bytes may be what is damaged.
        if path.suffix == SUFFIX and path.is_file():
            return None, error
        raise


def _sound_events(pages: PageReader, path: Path) -> Iterator[Event]:
    """Events in order, each as an engine could have said it, and none earlier than the last."""
    places: dict[int, list[Place]] = {}
    for ordinal, place in pages.rows():
        known = places.setdefault(ordinal, [])
        if len(known) < _MAX_PLACES:
            known.append(place)
    t_ns = 0
    for ordinal in sorted(places):
        event = _first_sound(pages, ordinal, places[ordinal], path)
        if event is not None and event.t_ns >= t_ns:
            t_ns = event.t_ns
            yield event


def _first_sound(pages: PageReader, ordinal: int, places: list[Place], path: Path) -> Event | None:
    for place in places:
        payload = pages.payload(place)
        with contextlib.suppress(SessionFileError):  # then another version of the row, or none
            if payload is not None:
                return checked_event(ordinal, payload, path)
    return None


def _write(
    path: Path, out: Path, first: Event, events: Iterator[Event], summary: FileSummary | None
) -> RecoveryReport:
    environment = None if summary is None else summary.environment
    n_events, last = 0, first
    with SessionFile.create(out, environment=environment) as file:
        batch = [first]
        while batch:
            file.append((event, encode(event)) for event in batch)
            n_events, last = n_events + len(batch), batch[-1]
            batch = list(islice(events, BATCH_EVENTS))
        if summary is not None:
            file.rename(summary.name)
            file.set_notes(summary.notes)
            file.set_tags(summary.tags)
        file.set_end(None if summary is None else summary.figures)
    return RecoveryReport(
        path=path,
        out=out,
        n_events=n_events,
        n_missing=last.ordinal + 1 - n_events,
        has_start=isinstance(first, SessionStarted),
        has_end=isinstance(last, SessionEnded),
        has_row=summary is not None,
    )
