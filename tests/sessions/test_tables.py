"""The tables' names and codes."""

from engine.wire.events import Fate, Role
from sessions.columns import MISSING_CODE
from sessions.snapshot import TABLE_NAMES
from sessions.tables import ACCEPTED, DISCARDED, REJECTED, TABLE_COLUMNS, TARGET, codes_of


def test_a_snapshot_has_every_table() -> None:
    assert set(TABLE_NAMES) == set(TABLE_COLUMNS)


def test_codes_are_places_in_the_class() -> None:
    assert codes_of(Fate) == {None: MISSING_CODE, **{fate: i for i, fate in enumerate(Fate)}}
    assert [list(Fate)[code] for code in (ACCEPTED, REJECTED, DISCARDED)] == list(Fate)
    assert list(Role)[TARGET] is Role.TARGET
