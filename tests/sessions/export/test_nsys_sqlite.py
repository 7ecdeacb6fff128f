"""The Nsight Systems file: its structure, and its exact times."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sessions.export.nsys_sqlite import write_nsys_sqlite
from tests.support.event_script import EventScript
from tests.support.export_streams import (
    gpu_session,
    plain_session,
    two_sequences,
)
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel
from tests.support.written_exports import measured, nsys_ranges, without_prefill, written_nsys


def test_a_session_of_a_cpu_has_its_ranges_to_the_nanosecond(tmp_path: Path) -> None:
    events = two_sequences()
    tables = written_nsys(events, tmp_path)
    told = without_prefill(nsys_ranges(tables))
    assert told == measured(events)
    assert tables["CUPTI_ACTIVITY_KIND_KERNEL"] == []
    assert "No kernels were recorded" in tables.notes()
    (start,) = tables["TARGET_INFO_SESSION_START_TIME"]
    assert start["utcEpochNs"] == 1_700_000_000_000_000_000
    assert start["utcTime"] == "2023-11-14T22:13:20Z"


def test_a_run_of_the_engine(tmp_path: Path) -> None:
    running = RunningEngine(
        ToyModel(24, seed=1), ToyModel(24, seed=2), gamma=3, max_new_tokens=12, batch=2
    )
    events = running.run([3, 1, 4], [1, 5, 9, 2])
    tables = written_nsys(events, tmp_path)
    assert nsys_ranges(tables) == measured(events)
    assert all(row["eventType"] == 59 for row in tables.ranges())


def test_a_session_of_no_steps_is_a_valid_file(tmp_path: Path) -> None:
    script = EventScript()
    script.finish()
    tables = written_nsys(script.events, tmp_path)
    assert tables.ranges() == []
    assert {row["eventType"] for row in tables["NVTX_EVENTS"]} == {33, 75}


def test_per_step_only(tmp_path: Path) -> None:
    tables = written_nsys(gpu_session(), tmp_path, per_step=True)
    assert {row["text"] for row in tables.ranges()} == {
        "step", "draft", "verify", "sample", "commit", "prefill",
    }  # fmt: skip
    assert tables["CUPTI_ACTIVITY_KIND_KERNEL"] == []
    assert "No kernels were recorded" not in tables.notes()
    assert not [row for row in tables["NVTX_EVENTS"] if row["eventType"] == 34]


def test_the_same_session_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    write_nsys_sqlite(gpu_session(), first)
    write_nsys_sqlite(gpu_session(), second)
    assert first.read_bytes() == second.read_bytes()


def test_a_reader_finds_the_file_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out.sqlite"

    def failing() -> object:
        yield from plain_session()
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError):
        write_nsys_sqlite(failing(), path)
    assert list(tmp_path.iterdir()) == []
    write_nsys_sqlite(plain_session(), path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
