"""Reading a long session file in a process beside the one that works on its events."""

from collections.abc import Collection, Generator
from contextlib import suppress
from pathlib import Path

from engine.wire.events import Event, EventBase
from sessions.read_program import unpack_events
from sessions.session_errors import SessionFileError
from sessions.session_file import SessionFile
from sessions.side_program import read_packet, start_program

MIN_EVENTS_AHEAD = 100_000
"""Fewer events are read here before another process has begun."""

_PROGRAM = "sessions.read_program"


def batches_ahead(
    file: SessionFile, *, after: int, after_ns: int, without: Collection[type[EventBase]]
) -> Generator[list[Event]]:
    """``SessionFile.batches``; where there are many, each is read while the one before is worked
    on. The process that does it is gone when the iterator is closed."""
    last = None
    with suppress(SessionFileError):  # reading will meet it again
        last = file.last_event()
    if last is not None and last.ordinal - after >= MIN_EVENTS_AHEAD:
        for events in _batches_beside(file.path, last.ordinal, after, after_ns, without):
            after, after_ns = events[-1].ordinal, events[-1].t_ns
            yield events
    yield from file.batches(after=after, after_ns=after_ns, without=without)


def _batches_beside(
    path: Path, last: int, after: int, after_ns: int, without: Collection[type[EventBase]]
) -> Generator[list[Event]]:
    """Batches up to the ordinal ``last``. Nothing that goes wrong is raised: they end early, and
    whoever reads on from there meets the trouble itself."""
    kinds = [kind.__name__ for kind in without]
    numbers = (str(after), str(after_ns), str(last))
    try:
        process = start_program(_PROGRAM, str(path.absolute()), *numbers, *kinds)
    except OSError:  # no more processes are to be had
        return
    assert process.stdout is not None
    try:
        # The pipe holds a few batches at most: the process is never further ahead.
        while packet := read_packet(process.stdout):
            yield unpack_events(packet)
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
