"""Saying how far an export has come, and stopping it between two events."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from engine.wire.events import Event
from sessions.export.event_shape import check_shapes
from sessions.export.options import ExportError

OnProgress = Callable[[int], None]
"""Told how many events have been handled."""

ShouldStop = Callable[[], bool]
"""Asked between events; True ends the export with ``ExportCancelled``."""

EVENTS_PER_REPORT = 256


class ExportCancelled(Exception):
    """Whoever asked for the export wants it no more; nothing was left behind."""


def watched(
    events: Iterable[Event], on_progress: OnProgress | None, should_stop: ShouldStop | None
) -> Iterator[Event]:
    """``events``, with a report and a question every ``EVENTS_PER_REPORT`` and at both ends.

    Raises:
        ExportCancelled: ``should_stop`` said so.
        ExportError: there is no event at all, or one is damaged.
    """
    n_handled = 0
    _ask(should_stop)
    coming = iter(events)
    while batch := list(islice(coming, EVENTS_PER_REPORT)):
        check_shapes(batch)
        yield from batch
        n_handled += len(batch)
        _ask(should_stop)
        if on_progress is not None:
            on_progress(n_handled)
    if n_handled == 0:
        raise ExportError("There is nothing to export: not one event was said.")


def _ask(should_stop: ShouldStop | None) -> None:
    if should_stop is not None and should_stop():
        raise ExportCancelled
