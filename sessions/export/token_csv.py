"""Draft tokens as CSV (RFC 4180, UTF-8): one row a token, a header first."""

import csv
from collections.abc import Iterable
from pathlib import Path

from engine.wire.events import Event
from sessions.export.atomic import written_beside
from sessions.export.options import WHOLE, ExportOptions
from sessions.export.progress import OnProgress, ShouldStop, watched
from sessions.export.token_rows import TokenRow, token_rows


def write_token_csv(
    events: Iterable[Event],
    path: Path,
    *,
    options: ExportOptions = WHOLE,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> None:
    """Write the draft tokens; the file appears when it is whole. What is missing is an empty field;
    numbers read back as the same floats.

    Raises:
        ExportError: there is nothing to write, or the file cannot be written.
        ExportCancelled: ``should_stop`` said so.
    """
    with (
        written_beside(path) as beside,
        beside.open("w", encoding="utf-8", newline="", buffering=1 << 20) as file,
    ):
        writer = csv.writer(file)
        writer.writerow(TokenRow._fields)
        writer.writerows(token_rows(watched(events, on_progress, should_stop), options))
