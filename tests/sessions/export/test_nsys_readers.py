"""Two independent readers open the Nsight Systems file and find what the session holds."""

from collections import Counter
from pathlib import Path

import pytest

from engine.wire.events import Event
from sessions.export.nsys_sqlite import write_nsys_sqlite
from sessions.export.ranges import RangeReader
from tests.support.export_streams import gpu_session, two_sequences
from tests.support.nsys_readers import READERS, read_with, run_command
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel


def toy_run() -> list[Event]:
    running = RunningEngine(
        ToyModel(24, seed=1), ToyModel(24, seed=2), gamma=3, max_new_tokens=20, batch=2
    )
    return running.run([3, 1, 4], [1, 5, 9, 2])


SESSIONS = {"toy": toy_run, "two": two_sequences, "gpu": gpu_session}


def held(events: list[Event]) -> list[list[object]]:
    """The ranges of a session, as both readers give them."""
    reader = RangeReader()
    told = [one for event in events for one in reader.read(event)] + reader.close()
    return sorted([one.start_ns, one.end_ns, one.name] for one in told)


@pytest.mark.parametrize("session", SESSIONS)
@pytest.mark.parametrize("reader", READERS)
def test_ranges_counts_and_times_are_those_of_the_session(
    reader: str, session: str, tmp_path: Path
) -> None:
    events = SESSIONS[session]()
    path = tmp_path / "out.sqlite"
    write_nsys_sqlite(events, path)
    found = read_with(reader, path, tmp_path)
    expected = held(events)
    assert expected
    assert found["ranges"] == expected
    assert found["n_kernels"] == (21 if session == "gpu" else 0)
    if reader == "nsys_ai":
        counts = Counter(name for _, _, name in expected)
        times: Counter[str] = Counter()
        for start, end, name in expected:
            times[name] += end - start
        assert found["totals"] == {name: [counts[name], times[name]] for name in counts}


@pytest.mark.parametrize("reader", READERS)
def test_kernels_stand_under_their_spans(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "out.sqlite"
    write_nsys_sqlite(gpu_session(), path)
    found = read_with(reader, path, tmp_path)
    assert len(found["kernels"]) == 21
    around = {"step": "step", "draft_forward": "step > draft > draft_forward"}
    for name, start, end, ranges in found["kernels"]:
        span = name.removesuffix("_kernel")
        assert ranges == around.get(span, f"step > {span}")
        assert end - start == 20


@pytest.mark.parametrize("reader", READERS)
def test_their_commands_open_it(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "out.sqlite"
    write_nsys_sqlite(gpu_session(), path)
    told = run_command(reader, "info", path, tmp_path)
    assert "Kernels: 21" in told
    assert "GPU 0: script" in told


@pytest.mark.parametrize("reader", READERS)
def test_a_file_without_kernels_opens(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "out.sqlite"
    write_nsys_sqlite(two_sequences(), path)
    assert "Kernels: 0" in run_command(reader, "info", path, tmp_path)


def test_the_schema_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "out.sqlite"
    write_nsys_sqlite(gpu_session(), path)
    told = run_command("nsys_ai", "doctor", path, tmp_path)
    assert "export schema 3.24.14" in told
    assert "0 failed" in told
