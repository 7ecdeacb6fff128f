"""Kernels stand under their spans; readings have names of their own."""

from pathlib import Path

import msgspec
import pytest

from sessions.export.nsys_sqlite_activity import short_name
from tests.support.export_streams import (
    gpu_session,
)
from tests.support.written_exports import written_nsys


def test_kernels_are_attributed_to_their_spans(tmp_path: Path) -> None:
    tables = written_nsys(gpu_session(), tmp_path)
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
    tables = written_nsys(gpu_session(1), tmp_path)
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
    tables = written_nsys(events, tmp_path)
    first, second = tables["CUPTI_ACTIVITY_KIND_MEMCPY"]
    assert (first["copyKind"], first["srcKind"], first["dstKind"]) == (1, 1, 2)
    assert (second["copyKind"], second["srcKind"], second["dstKind"]) == (10, 7, 7)
    assert len(tables["CUPTI_ACTIVITY_KIND_MEMSET"]) == 1
    assert len(tables["CUPTI_ACTIVITY_KIND_KERNEL"]) == 4


def test_kernels_outside_all_spans_are_on_a_thread_without_ranges(tmp_path: Path) -> None:
    events = [
        msgspec.structs.replace(event, span_indexes=(-1,) * len(event.names))
        if type(event).__name__ == "KernelsRecorded"
        else event
        for event in gpu_session()
    ]
    tables = written_nsys(events, tmp_path)
    threads = {row["globalTid"] for row in tables["CUPTI_ACTIVITY_KIND_RUNTIME"]}
    assert threads.isdisjoint({row["globalTid"] for row in tables.ranges()})
    assert threads < {row["globalTid"] for row in tables["ThreadNames"]}
    assert "21 kernels were launched outside" in tables.notes()


@pytest.mark.parametrize(
    ("demangled", "short"),
    [
        ("void at::native::elementwise<4, f(int)>(int, float*)", "elementwise"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
        ("(anonymous namespace)::softmax<float>(float*)", "softmax"),
        ("void (anonymous namespace)::k(int)", "k"),
        ("std::enable_if<true, void>::type f<int>(int)", "f"),
        ("<lambda>", "<lambda>"),
    ],
)
def test_short_names(demangled: str, short: str) -> None:
    assert short_name(demangled) == short
