"""A moment of a session: its tables, shorter."""

import pytest

from sessions.snapshot import TABLE_NAMES
from tests.sessions.played import model_of
from tests.support.event_script import TICK_NS, EventScript


def test_a_snapshot_is_the_tables_up_to_its_moment() -> None:
    script = EventScript()
    script.sequence("a")
    script.step(drafted=2, accepted=1)
    before = (len(script.events) - 1) * TICK_NS
    script.step(drafted=2, accepted=2)
    model = model_of(script.events)
    early, now = model.snapshot(before), model.snapshot()
    assert (len(early.steps), len(now.steps)) == (1, 2)
    assert early.steps["step"].base is not None  # a view
    assert early.t_ns == before
    assert now.t_ns == model.last_t_ns == (len(script.events) - 1) * TICK_NS
    assert set(now.lengths()) == set(TABLE_NAMES)


def test_before_the_first_event_there_is_nothing() -> None:
    model = model_of(EventScript().events)
    assert set(model.snapshot(-1).lengths().values()) == {0}


def test_a_table_is_found_by_its_name() -> None:
    snapshot = model_of(EventScript().events).snapshot()
    assert len(snapshot.table("models")) == 2
    with pytest.raises(AttributeError):
        snapshot.table("pages")
