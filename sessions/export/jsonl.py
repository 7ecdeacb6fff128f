"""A session as JSON lines, one event a line, and back."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.wire.codec import MAX_LINE_BYTES, CodecError, decode_event, encode
from engine.wire.events import SCHEMA_VERSION, Event, SessionStarted
from sessions.export.atomic import written_beside
from sessions.export.options import WHOLE, ExportError, ExportOptions, select
from sessions.export.progress import OnProgress, ShouldStop, watched


def write_jsonl(
    events: Iterable[Event],
    path: Path,
    *,
    options: ExportOptions = WHOLE,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> None:
    """Write every event as one line of UTF-8 JSON; the file appears when it is whole.

    Raises:
        ExportError: there is nothing to write, or the file cannot be written.
        ExportCancelled: ``should_stop`` said so.
    """
    with written_beside(path) as beside, beside.open("wb", buffering=1 << 20) as file:
        told = watched(events, on_progress, should_stop)
        for event, is_kept in select(told, options.part):
            if is_kept:
                file.write(encode(event) + b"\n")


def read_jsonl(path: Path) -> Iterator[Event]:
    """The events of a file in its order, each line checked as it comes.

    A line may have ``MAX_LINE_BYTES``; no more than one is in memory. The file is open until the
    iterator is exhausted or closed.

    Raises:
        ExportError: the file cannot be read, begins with another event than ``SessionStarted``, is
        of a newer version, or a line is not an event: the message names the line.
    """
    try:
        with path.open("rb") as file:
            yield from _decoded(path, iter(lambda: file.readline(MAX_LINE_BYTES + 2), b""))
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror or error}.") from error


def _decoded(path: Path, lines: Iterator[bytes]) -> Iterator[Event]:
    number = 0
    for number, line in enumerate(lines, start=1):
        text = line.rstrip(b"\r\n")
        if not text:
            raise ExportError(f"{path.name}, line {number}: is empty.")
        if len(text) > MAX_LINE_BYTES:  # the rest of it was not read
            raise ExportError(f"{path.name}, line {number}: is longer than {MAX_LINE_BYTES} bytes.")
        try:
            event = decode_event(text)
        except CodecError as error:
            raise ExportError(f"{path.name}, line {number}: {error}.") from error
        if number == 1:
            _check_first(path, event)
        yield event
    if number == 0:
        raise ExportError(f"{path.name} is empty.")


def _check_first(path: Path, event: Event) -> None:
    if not isinstance(event, SessionStarted):
        kind = type(event).__name__
        raise ExportError(f"{path.name}, line 1: is {kind}, but a session begins SessionStarted.")
    if event.schema_version > SCHEMA_VERSION:
        raise ExportError(
            f"{path.name} was written by SpecScope {event.specscope_version}, which is newer: its "
            f"events have version {event.schema_version}, this program reads {SCHEMA_VERSION}."
        )
