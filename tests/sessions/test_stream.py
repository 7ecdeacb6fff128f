"""A list is a source."""

from sessions.stream import ListSource
from tests.support.event_script import EventScript


def test_a_list_is_given_in_order_and_in_portions() -> None:
    events = EventScript().events
    source = ListSource(events)
    assert source.poll(2) == events[:2]
    assert not source.exhausted
    assert source.poll(1000) == events[2:]
    assert source.exhausted
    assert source.poll(10) == []


def test_a_closed_source_gives_nothing_more() -> None:
    source = ListSource(EventScript().events)
    source.close()
    assert source.exhausted
    assert source.poll(1) == []
