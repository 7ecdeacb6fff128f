"""Columns made from many events at once."""

import numpy as np
import pytest

from engine.wire.events import LogEmitted
from sessions.columns import MISSING_COUNT, MISSING_INT
from sessions.event_columns import (
    flat,
    flat_codes,
    flat_or_missing,
    indexes_within,
    ints,
    or_missing_count,
    or_nan,
    repeated,
    stamps,
)


def test_places_begin_anew_with_each_event() -> None:
    assert indexes_within(ints([2, 0, 3])).tolist() == [0, 1, 0, 1, 2]
    assert indexes_within(ints([])).tolist() == []


def test_an_events_value_stands_by_each_of_its_tokens() -> None:
    columns = repeated({"step": np.array([7, 8, 9])}, ints([2, 0, 1]))
    assert columns["step"].tolist() == [7, 7, 9]


def test_tokens_of_all_events_are_one_array() -> None:
    assert flat([(1, 2), (), (3,)], np.int32, 3).tolist() == [1, 2, 3]
    assert flat_codes([("a", "b"), ("a",)], {"a": 4, "b": 5}.__getitem__, 3).tolist() == [4, 5, 4]
    assert flat_or_missing([(1, None)], 2).tolist() == [1, MISSING_INT]
    with pytest.raises(ValueError, match="too short"):
        flat([(1,)], np.int32, 2)


def test_times_are_exact_and_nothing_is_missing() -> None:
    event = LogEmitted(ordinal=2**53 + 1, t_ns=2**62 + 1, level="info", message="")
    assert {name: column.tolist() for name, column in stamps([event]).items()} == {
        "ordinal": [2**53 + 1],
        "t_ns": [2**62 + 1],
    }
    assert or_missing_count(None) == MISSING_COUNT
    assert np.isnan(or_nan(None))
    assert or_nan(0.5) == 0.5
