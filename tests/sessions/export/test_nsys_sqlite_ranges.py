"""NVTX rows: ranges, marks, and what does not nest."""

from collections import defaultdict
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.wire.events import (
    DraftVerified,
    Fate,
)
from sessions.export.nsys_sqlite import write_nsys_sqlite
from sessions.export.nsys_sqlite_ranges import RangeRows
from tests.support.event_script import EventScript
from tests.support.export_streams import (
    cancelled_inside_verify,
    clear_spans,
    long_session,
    two_sequences,
)
from tests.support.nsys_rules import check_nsys
from tests.support.written_exports import measured, nsys_ranges, written_nsys


def test_marks_say_where_tokens_were_rejected(tmp_path: Path) -> None:
    events = two_sequences()
    tables = written_nsys(events, tmp_path)
    verdicts = [e for e in events if isinstance(e, DraftVerified) and Fate.REJECTED in e.fates]
    expected = sorted((e.t_ns, e.position + e.n_accepted) for e in verdicts)
    marks: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in tables["NVTX_EVENTS"]:
        if row["eventType"] == 34:
            marks[row["text"]].append((row["start"], row["int64Value"]))
    assert sorted(marks["rejected"]) == sorted(marks["recovered"]) == expected


def test_an_interrupted_step_is_marked(tmp_path: Path) -> None:
    tables = written_nsys(cancelled_inside_verify(), tmp_path)
    incomplete = [row for row in tables.ranges() if row["jsonText"]]
    assert [row["text"] for row in incomplete] == ["step", "verify"]
    assert {row["jsonText"] for row in incomplete} == {'{"incomplete": true}'}
    assert len({row["end"] for row in incomplete}) == 1
    # Both begin and end together: as push/pop they would hide each other.
    assert sorted(row["eventType"] for row in incomplete) == [59, 60]
    assert "2 ranges were never finished" in tables.notes()


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 9)), min_size=1, max_size=12))
def test_whatever_the_spans_the_structure_holds(
    tmp_path: Path, pairs: list[tuple[int, int]]
) -> None:
    template = clear_spans(0, 0, n_forwards=1)
    n, nothing = len(pairs), (None,) * len(pairs)
    spans = msgspec.structs.replace(
        template,
        names=tuple(template.names[i % len(template.names)] for i in range(n)),
        roles=tuple(template.roles[i % len(template.roles)] for i in range(n)),
        start_ns=tuple(start for start, _ in pairs),
        host_ns=tuple(length for _, length in pairs),
        gpu_ns=nothing,
        n_flops=nothing,
        n_bytes=nothing,
        t_ns=100,
    )
    path = tmp_path / "any.sqlite"
    write_nsys_sqlite([EventScript().events[0], spans], path)
    assert nsys_ranges(check_nsys(path)) == measured([spans])


def test_steps_written_at_once_are_those_written_range_by_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows(name: str) -> list[str]:
        (tmp_path / name).mkdir()
        tables = written_nsys(list(long_session(50)), tmp_path / name)
        return sorted(repr(row) for row in tables["NVTX_EVENTS"])

    at_once = rows("at_once")
    monkeypatch.setattr(RangeRows, "add_step", lambda *_: False)
    assert rows("one_by_one") == at_once
    assert len(at_once) > 300


def test_names_that_are_not_ours_are_no_sql(tmp_path: Path) -> None:
    spans = clear_spans(0, 0)
    names = ("it's", *spans.names[1:])
    tables = written_nsys([msgspec.structs.replace(spans, names=names, ordinal=0)], tmp_path)
    assert "it's" in {row["text"] for row in tables.ranges()}
