"""A session as NVTXT, the text form of NVTX that Nsight's own importer turns into a report.

Written from the format's documentation; not yet tried in Nsight itself.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from engine.wire.events import DraftVerified, Event, Fate
from sessions.export.atomic import written_beside
from sessions.export.facts import ExportFacts
from sessions.export.options import WHOLE, ExportOptions, reaches_into, select
from sessions.export.progress import OnProgress, ShouldStop, watched
from sessions.export.ranges import HostRange, RangeReader, cut

# A template names a record's fields; the lines below it hold for every record of its kind.
_NO_NAME = re.compile(r"[^\w .-]")  # quotes and line breaks would end the record
_HEADER = """\
SetFileDisplayName, SpecScope
@RangeStartEnd, Start, End, ThreadId, Message
ProcessId = {process_id}
CategoryId = 1
Color = Blue
TimeBase = Manual
@Marker, Time, ThreadId, Message
ProcessId = {process_id}
CategoryId = 2
Color = Red
TimeBase = Manual
"""


def write_nvtxt(
    events: Iterable[Event],
    path: Path,
    *,
    options: ExportOptions = WHOLE,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> None:
    """Write one line a range (ns since the session's start) and one a rejection; the file appears
    when it is whole.

    Raises:
        ExportError: there is nothing to write, or the file cannot be written.
        ExportCancelled: ``should_stop`` said so.
    """
    with written_beside(path) as beside, beside.open("wb", buffering=1 << 20) as file:
        _write(file, watched(events, on_progress, should_stop), options)


def _write(file: BinaryIO, events: Iterable[Event], options: ExportOptions) -> None:
    facts, ranges = ExportFacts(), RangeReader()
    process_id = 1
    for event, is_kept in select(events, options.part):
        facts.note(event)
        if facts.n_events == 1:
            process_id = facts.process_id
            file.write(_HEADER.format(process_id=process_id).encode())
        told = ranges.read(event)
        if not is_kept:
            continue
        for one in cut(told, per_step=options.per_step):
            file.write(_range_line(one, process_id))
        is_rejection = isinstance(event, DraftVerified) and Fate.REJECTED in event.fates
        if is_rejection and not options.per_step:
            file.write(f'Marker, {event.t_ns}, {process_id}, "rejected"\n'.encode())
    for one in ranges.close():
        if reaches_into(options.part, one.step, one.start_ns, one.end_ns):
            file.write(_range_line(one, process_id))


def _range_line(told: HostRange, thread_id: int) -> bytes:
    name = _NO_NAME.sub("_", told.name)
    message = f"{name} {told.role}" if name == "prefill" else name
    if told.is_incomplete:
        message += " (incomplete)"
    return f'RangeStartEnd, {told.start_ns}, {told.end_ns}, {thread_id}, "{message}"\n'.encode()
