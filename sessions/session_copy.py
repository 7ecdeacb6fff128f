"""Writes a session file from elsewhere anew: its events and its row, and nothing else."""

import shutil
import tempfile
from itertools import islice
from pathlib import Path

from engine.wire.codec import encode
from sessions.migrations import bring_up_to_date
from sessions.session_errors import OlderSessionFile, SessionFileError
from sessions.session_file import SessionFile

BATCH_EVENTS = 5000


def copy_session(source: Path, to: Path) -> None:
    """Read ``source`` to its end, each event checked, into the new file ``to``. A source of an
    earlier version is brought up to date on the way; it is not changed itself.

    Raises:
        SessionFileError: it cannot be read or written; what was written of ``to`` is left.
        OSError: no room for a copy of a file of an earlier version.
    """
    try:
        with SessionFile.open(source) as file:
            _copy(file, to)
    except OlderSessionFile:
        with tempfile.TemporaryDirectory() as folder:
            old = Path(folder) / source.name
            shutil.copyfile(source, old)
            bring_up_to_date(old)
            with SessionFile.open(old) as file:
                _copy(file, to)


def _copy(file: SessionFile, to: Path) -> None:
    summary = file.summary()
    if summary.is_recording:
        raise SessionFileError(f"{file.path} is still being recorded: import it when that is over.")
    with SessionFile.create(to, environment=summary.environment) as copy:
        events = file.events()
        while batch := list(islice(events, BATCH_EVENTS)):
            copy.append((event, encode(event)) for event in batch)
        copy.rename(summary.name)
        copy.set_notes(summary.notes)
        copy.set_tags(summary.tags)
        copy.set_end(summary.figures)
