"""An export says how far it is, and stops when asked."""

import pytest

from engine.wire.events import Event
from sessions.export.options import ExportError
from sessions.export.progress import EVENTS_PER_REPORT, ExportCancelled, watched
from tests.support.export_streams import plain_session


def test_it_reports_on_the_way_and_at_the_end() -> None:
    events = plain_session(100)
    told: list[int] = []
    assert list(watched(events, told.append, None)) == events
    assert told[-1] == len(events)
    assert told == sorted(told)
    assert told[0] == EVENTS_PER_REPORT


def test_it_stops_soon_after_it_was_asked() -> None:
    taken: list[Event] = []
    events = watched(plain_session(200), None, lambda: len(taken) > 300)
    with pytest.raises(ExportCancelled):
        taken.extend(events)
    assert 300 < len(taken) <= 300 + EVENTS_PER_REPORT


def test_nothing_at_all_is_no_session() -> None:
    with pytest.raises(ExportError, match="nothing to export"):
        list(watched([], None, None))
