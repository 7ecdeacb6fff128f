"""The Nsight Systems file: its structure, its exact times, and what it says of itself."""

import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.wire.events import (
    DraftVerified,
    Event,
    EventsDropped,
    Fate,
    LogEmitted,
    ModelLoaded,
    SpansMeasured,
)
from sessions.export.nsys_sqlite import write_nsys_sqlite
from sessions.export.options import ExportOptions, StepRange
from tests.support.event_script import EventScript
from tests.support.export_streams import (
    cancelled_inside_verify,
    clear_spans,
    gpu_session,
    plain_session,
    two_sequences,
)
from tests.support.nsys_rules import NsysTables, check_nsys
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel


def written(events: list[Event], tmp_path: Path, **options: object) -> NsysTables:
    path = tmp_path / "out.sqlite"
    write_nsys_sqlite(events, path, options=ExportOptions(**options))
    return check_nsys(path)


def measured(events: list[Event]) -> list[tuple[int, int, str]]:
    """Every span that was measured, as (start, end, name)."""
    return sorted(
        (start, start + host, name)
        for event in events
        if isinstance(event, SpansMeasured)
        for name, start, host in zip(event.names, event.start_ns, event.host_ns, strict=True)
    )


def ranges(tables: NsysTables) -> list[tuple[int, int, str]]:
    return sorted((row["start"], row["end"], row["text"]) for row in tables.ranges())


def test_a_session_of_a_cpu_has_its_ranges_to_the_nanosecond(tmp_path: Path) -> None:
    events = two_sequences()
    tables = written(events, tmp_path)
    told = [one for one in ranges(tables) if one[2] != "prefill"]
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
    tables = written(events, tmp_path)
    assert ranges(tables) == measured(events)
    assert all(row["eventType"] == 59 for row in tables.ranges())


def test_marks_say_where_tokens_were_rejected(tmp_path: Path) -> None:
    events = two_sequences()
    tables = written(events, tmp_path)
    verdicts = [e for e in events if isinstance(e, DraftVerified) and Fate.REJECTED in e.fates]
    expected = sorted((e.t_ns, e.position + e.n_accepted) for e in verdicts)
    marks: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in tables["NVTX_EVENTS"]:
        if row["eventType"] == 34:
            marks[row["text"]].append((row["start"], row["int64Value"]))
    assert sorted(marks["rejected"]) == sorted(marks["recovered"]) == expected


def test_kernels_are_attributed_to_their_spans(tmp_path: Path) -> None:
    tables = written(gpu_session(), tmp_path)
    kernels = tables["CUPTI_ACTIVITY_KIND_KERNEL"]
    assert len(kernels) == 3 * 7
    launches = {row["correlationId"]: row for row in tables["CUPTI_ACTIVITY_KIND_RUNTIME"]}
    for kernel in kernels:
        launch = launches[kernel["correlationId"]]
        around = [
            row
            for row in tables.ranges()
            if row["globalTid"] == launch["globalTid"]
            and row["start"] <= launch["start"]
            and launch["end"] <= row["end"]
        ]
        innermost = min(around, key=lambda row: row["end"] - row["start"])
        assert tables.strings[kernel["shortName"]] == f"{innermost['text']}_kernel"
        assert tables.strings[kernel["demangledName"]].startswith("void ours::")
    (gpu,) = tables["TARGET_INFO_GPU"]
    assert (gpu["name"], gpu["uuid"], gpu["totalMemory"]) == ("script", "GPU-1", 80 << 30)


def test_readings_have_names_of_their_own(tmp_path: Path) -> None:
    tables = written(gpu_session(1), tmp_path)
    names = {r["metricId"]: r["metricName"] for r in tables["TARGET_INFO_GPU_METRICS"]}
    told = {names[row["metricId"]]: row["value"] for row in tables["GPU_METRICS"]}
    assert told == {
        "NVML GPU Utilization [%]": 62,
        "NVML Memory Used [bytes]": 3 << 30,
        "NVML Temperature [C]": 40,
        "NVML SM Clock [MHz]": 1755,
        "SMs Active [Throughput %]": 12,
    }


def test_copies_go_to_their_own_tables(tmp_path: Path) -> None:
    events = gpu_session(1)
    index = next(i for i, e in enumerate(events) if type(e).__name__ == "KernelsRecorded")
    names = ["Memcpy HtoD (Pinned -> Device)", "Memset (Device)", "Memcpy PtoP"]
    names += list(events[index].names[3:])
    events[index] = msgspec.structs.replace(events[index], names=tuple(names))
    tables = written(events, tmp_path)
    first, second = tables["CUPTI_ACTIVITY_KIND_MEMCPY"]
    assert (first["copyKind"], first["srcKind"], first["dstKind"]) == (1, 1, 2)
    assert (second["copyKind"], second["srcKind"], second["dstKind"]) == (10, 7, 7)
    assert len(tables["CUPTI_ACTIVITY_KIND_MEMSET"]) == 1
    assert len(tables["CUPTI_ACTIVITY_KIND_KERNEL"]) == 4


def test_a_device_clock_that_is_early_is_put_right_and_noted(tmp_path: Path) -> None:
    tables = written(gpu_session(lateness_ns=-400), tmp_path)
    assert "moved later by up to 401 ns" in tables.notes()


def test_kernels_outside_all_spans_are_on_a_thread_without_ranges(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, span_indexes=(-1,) * len(event.names))
        if type(event).__name__ == "KernelsRecorded"
        else event
        for event in gpu_session()
    ]
    tables = written(events, tmp_path)
    threads = {row["globalTid"] for row in tables["CUPTI_ACTIVITY_KIND_RUNTIME"]}
    assert threads.isdisjoint({row["globalTid"] for row in tables.ranges()})
    assert threads < {row["globalTid"] for row in tables["ThreadNames"]}
    assert "21 kernels were launched outside" in tables.notes()


def test_operators_of_a_cpu_are_no_kernels(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, device="cpu") if isinstance(event, ModelLoaded) else event
        for event in gpu_session()
    ]
    tables = written(events, tmp_path)
    assert tables["CUPTI_ACTIVITY_KIND_KERNEL"] == []
    assert "21 CPU operators" in tables.notes()


def test_an_interrupted_step_is_marked(tmp_path: Path) -> None:
    tables = written(cancelled_inside_verify(), tmp_path)
    incomplete = [row for row in tables.ranges() if row["jsonText"]]
    assert [row["text"] for row in incomplete] == ["step", "verify"]
    assert {row["jsonText"] for row in incomplete} == {'{"incomplete": true}'}
    assert len({row["end"] for row in incomplete}) == 1
    # Both begin and end together: as push/pop they would hide each other.
    assert sorted(row["eventType"] for row in incomplete) == [59, 60]
    assert "2 ranges were never finished" in tables.notes()


def test_a_session_of_no_steps_is_a_valid_file(tmp_path: Path) -> None:
    script = EventScript()
    script.finish()
    tables = written(script.events, tmp_path)
    assert tables.ranges() == []
    assert {row["eventType"] for row in tables["NVTX_EVENTS"]} == {33, 75}


def test_a_part(tmp_path: Path) -> None:
    events = plain_session(6)
    tables = written(events, tmp_path, part=StepRange(2, 3))
    steps = {row["int64Value"] for row in tables.ranges() if row["text"] != "prefill"}
    assert steps == {2, 3}
    assert "steps 2 to 3" in tables.notes()


def test_per_step_only(tmp_path: Path) -> None:
    tables = written(gpu_session(), tmp_path, per_step=True)
    assert {row["text"] for row in tables.ranges()} == {
        "step", "draft", "verify", "sample", "commit", "prefill",
    }  # fmt: skip
    assert tables["CUPTI_ACTIVITY_KIND_KERNEL"] == []
    assert not [row for row in tables["NVTX_EVENTS"] if row["eventType"] == 34]


def test_what_was_lost_and_logged_is_said(tmp_path: Path) -> None:
    script = EventScript()
    script.say(EventsDropped(n_events=7, kinds=("SpansMeasured",)))
    script.say(LogEmitted(level="error", message="No such sequence."))
    script.say(LogEmitted(level="info", message="All is well."))
    script.finish()
    tables = written(script.events, tmp_path)
    assert "7 measurements were lost (SpansMeasured)" in tables.notes()
    assert "No such sequence." in tables.notes()
    assert "All is well." not in tables.notes()
    assert [r["severity"] for r in tables["DIAGNOSTIC_EVENT"] if "lost" in r["text"]] == [2]


def test_the_same_session_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.sqlite", tmp_path / "b.sqlite"
    write_nsys_sqlite(gpu_session(), first)
    write_nsys_sqlite(gpu_session(), second)
    assert first.read_bytes() == second.read_bytes()


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
    assert ranges(check_nsys(path)) == measured([spans])


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
