"""Numbers and lanes of a Chrome trace."""

import json
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.export.trace_file import Lanes, TraceFile, microseconds


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0, "0.000"), (300, "0.300"), (1, "0.001"), (1_000, "1.000"), (1_234_567, "1234.567"),
     (-1, "-0.001"), (-2_500, "-2.500"), (10**16 + 1, "10000000000000.001")],
)  # fmt: skip
def test_nanoseconds_are_decimals_of_microseconds(ns: int, text: str) -> None:
    assert microseconds(ns) == text


@given(st.integers(0, 2**53))
def test_a_double_reads_the_same_nanosecond(ns: int) -> None:
    told = json.loads(microseconds(ns))
    assert isinstance(told, float)  # a factor of 1000 would show as an integer
    assert Decimal(microseconds(ns)) * 1000 == ns
    assert round(told * 1000) == ns or ns > 2**52


def test_ranges_that_cross_get_a_lane_more(tmp_path: Path) -> None:
    with closing(TraceFile(tmp_path / "t.json", is_gzipped=False)) as file:
        lanes = Lanes(file)
        first = lanes.tid("draft")
        assert lanes.place("draft", 0, 100) == first
        assert lanes.place("draft", 0, 50) == first
        assert lanes.place("draft", 20, 60) != first
        assert lanes.place("draft", 60, 100) == first
        assert lanes.place("target", 0, 1) not in (first, lanes.place("draft", 25, 70))
        file.finish({})
    names = [event["args"].get("name") for event in json.loads((tmp_path / "t.json").read_text())[
        "traceEvents"] if event["name"] == "thread_name"]  # fmt: skip
    assert names == ["draft", "draft (2)", "target", "draft (3)"]


def test_a_step_takes_all_its_lanes_or_none(tmp_path: Path) -> None:
    with closing(TraceFile(tmp_path / "a", is_gzipped=False)) as file:
        lanes = Lanes(file)
        places = {"engine": [0, 2], "draft": [1]}
        assert not lanes.place_all(places, (0, 1, 9), (20, 5, 12))  # no such lane yet
        tids = [lanes.tid("engine"), lanes.tid("draft")]
        assert lanes.place_all(places, (0, 1, 9), (20, 5, 12))
        assert not lanes.place_all(places, (21, 22, 30), (40, 25, 41))  # the third would cross
        assert lanes.place("draft", 22, 25) == tids[1]
        assert lanes.place("engine", 21, 40) == tids[0]
        assert lanes.place("engine", 30, 41) not in tids
