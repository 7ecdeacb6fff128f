"""Numbers and lanes of a Chrome trace."""

import json
import os
from contextlib import ExitStack, closing
from decimal import Decimal
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.export.trace_file import Lanes, TraceFile, all_microseconds, microseconds


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


_STEPS = st.lists(
    st.tuples(
        st.integers(0, 60),
        st.lists(st.tuples(st.integers(1, 9), st.integers(0, 20), st.booleans()), min_size=1),
        st.booleans(),
    )
)


@given(_STEPS)
def test_a_step_that_follows_all_others_is_placed_as_any(
    steps: list[tuple[int, list[tuple[int, int, bool]], bool]],
) -> None:
    """Beside lanes that take no step for one that follows all others."""
    with ExitStack() as files:
        both = [
            Lanes(files.enter_context(closing(TraceFile(Path(os.devnull), is_gzipped=False))))
            for _ in range(2)
        ]
        for lanes in both:
            assert (lanes.tid("a"), lanes.tid("b")) == (1, 2)
        both[1]._last_end_ns = 2**60
        for first_ns, rows, is_at_once in steps:
            starts = list(accumulate((gap for gap, _, _ in rows), initial=first_ns))[1:]
            ends = [start + length for start, (_, length, _) in zip(starts, rows, strict=True)]
            names = ["a" if is_first else "b" for *_, is_first in rows]
            places = {n: [i for i, name in enumerate(names) if name == n] for n in set(names)}
            if is_at_once:
                done, expected = (lanes.place_all(places, starts, ends) for lanes in both)
                assert done == expected
            else:
                tids, expected_tids = (
                    [lanes.place(*each) for each in zip(names, starts, ends, strict=True)]
                    for lanes in both
                )
                assert tids == expected_tids


def test_a_template_writes_what_single_events_are(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    with closing(TraceFile(paths[0], is_gzipped=False)) as file:
        file.complete("100%s", "host", 1, 300, 1500, "{}")
        file.complete("verify", "host", 2, 2_000_000, 2_000_001, '{"step":1}')
        file.flow("50%", 7, (1, 300), (2, 2_000_000))
        file.finish({})
    with closing(TraceFile(paths[1], is_gzipped=False)) as file:
        template = file.step_template(
            [("100%s", "host", 1), ("verify", "host", 2)], [("50%", 1, 2)]
        )
        starts, lengths = all_microseconds([300, 2_000_000]), all_microseconds([1200, 1])
        ranges = (starts[0], lengths[0], "{", starts[1], lengths[1], '{"step":1')
        file.add(template % (*ranges, 7, starts[0], 7, starts[1]))
        file.finish({})
    assert paths[0].read_text() == paths[1].read_text()


@given(st.lists(st.integers(0, 2**53)))
def test_many_times_are_told_as_one_is(all_ns: list[int]) -> None:
    assert all_microseconds(all_ns) == [microseconds(ns) for ns in all_ns]
