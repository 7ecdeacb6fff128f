"""Which part of a session is meant, and which events belong to it."""

import pytest

from engine.wire.events import (
    DraftProposed,
    ModelLoaded,
    SequenceStarted,
    SessionEnded,
    SessionStarted,
    SpansMeasured,
    StepCommitted,
)
from sessions.export.options import (
    ExportError,
    StepRange,
    TimeRange,
    parse_part,
    reaches_into,
    select,
)
from tests.support.export_streams import plain_session


def test_ranges_are_read() -> None:
    assert parse_part("steps:10-20") == StepRange(10, 20)
    assert parse_part("steps:3-3") == StepRange(3, 3)
    assert parse_part("time:1.5-2.0") == TimeRange(1_500_000_000, 2_000_000_000)
    assert parse_part("time:0-0.000000300") == TimeRange(0, 300)
    assert parse_part("time:1700000.123456789-1700001") == TimeRange(
        1_700_000_123_456_789, 1_700_001_000_000_000
    )


@pytest.mark.parametrize(
    "text",
    ["", "10-20", "steps:", "steps:5-4", "steps:-1-2", "steps:1.5-2", "time:2-1", "time:1-1",
     "time:nan-2", "time:1e3-2e3", "time:0.1234567891-1", "steps:1-2 ", "steps:٣-٤"],
)  # fmt: skip
def test_what_is_no_range_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ExportError, match=r"range.*\."):
        parse_part(text)


def test_steps_are_kept_and_what_describes_the_session() -> None:
    kept = [event for event, is_kept in select(plain_session(5), StepRange(1, 2)) if is_kept]
    for kind in (DraftProposed, StepCommitted, SpansMeasured):
        assert [event.step for event in kept if isinstance(event, kind)] == [1, 2]
    described = (SessionStarted, ModelLoaded, SequenceStarted, SessionEnded)
    assert {type(event) for event in kept} >= set(described)


def test_time_keeps_whole_steps_that_reach_into_it() -> None:
    spans = [event for event in plain_session(5) if isinstance(event, SpansMeasured)]
    middle = spans[2].start_ns[0] + 1
    part = TimeRange(middle, middle + 1)
    kept = [event for event, is_kept in select(plain_session(5), part) if is_kept]
    assert [event.step for event in kept if isinstance(event, SpansMeasured)] == [2]
    assert not [event for event in kept if isinstance(event, StepCommitted)]


def test_nothing_asked_for_is_everything() -> None:
    assert all(is_kept for _, is_kept in select(plain_session(), None))
    assert reaches_into(None, 7, 0, 0)
    assert not reaches_into(StepRange(1, 2), 3, 0, 0)
    assert reaches_into(TimeRange(10, 20), -1, 5, 10)
    assert not reaches_into(TimeRange(10, 20), -1, 20, 30)
