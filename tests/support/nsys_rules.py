"""What readers of Nsight Systems SQLite exports rely on, as one function over a file."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

Row = dict[str, Any]

PROCESS_BITS = ~((1 << 24) - 1)
RANGES = (59, 60)
CUDA_TABLES = tuple(
    f"CUPTI_ACTIVITY_KIND_{name}"
    for name in ("KERNEL", "MEMCPY", "MEMSET", "SYNCHRONIZATION", "RUNTIME", "GRAPH_TRACE")
)
ON_DEVICE = CUDA_TABLES[:3]
FORBIDDEN = ("ENVIRONMENT", "Environment", "HOST", "USER", "Hostname")
ENUMS = (
    "ENUM_NSYS_EVENT_TYPE",
    "ENUM_NSYS_EVENT_CLASS",
    "ENUM_CUDA_MEMCPY_OPER",
    "ENUM_CUDA_MEM_KIND",
    "ENUM_CUPTI_SYNC_TYPE",
    "ENUM_CUDA_KERNEL_LAUNCH_TYPE",
    "ENUM_CUPTI_STREAM_TYPE",
    "ENUM_DIAGNOSTIC_SEVERITY_LEVEL",
)
NEEDED = {*CUDA_TABLES, *ENUMS, "GPU_METRICS", "NVTX_EVENTS", "CUDA_GRAPH_NODE_EVENTS"}


class NsysTables:
    """All rows of a small file."""

    def __init__(self, path: Path) -> None:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            self._rows = {
                name: [dict(row) for row in connection.execute(f"SELECT * FROM {name}")]
                for (name,) in names.fetchall()
            }
        self.strings = {row["id"]: row["value"] for row in self["StringIds"]}

    def __getitem__(self, name: str) -> list[Row]:
        return self._rows[name]

    def names(self) -> set[str]:
        return set(self._rows)

    def ranges(self) -> list[Row]:
        return [row for row in self["NVTX_EVENTS"] if row["eventType"] in RANGES]

    def notes(self) -> str:
        return "\n".join(row["text"] for row in self["DIAGNOSTIC_EVENT"])


def check_nsys(path: Path) -> NsysTables:
    """Check a file.

    Raises:
        AssertionError: with every rule that is broken.
    """
    tables = NsysTables(path)
    missing = NEEDED - tables.names()
    assert not missing, f"tables are missing: {missing}"
    broken = [*_identity(tables), *_events(tables), *_nesting(tables), *_kernels(tables)]
    assert not broken, "\n".join(broken)
    return tables


def _identity(tables: NsysTables) -> Iterator[str]:
    export = {row["name"]: row["value"] for row in tables["META_DATA_EXPORT"]}
    if export.get("EXPORT_SCHEMA_VERSION") != "3.24.14":
        yield "the schema has no version"
    for part, value in zip(("MAJOR", "MINOR", "MICRO"), ("3", "24", "14"), strict=True):
        if export.get(f"EXPORT_SCHEMA_VERSION_{part}") != value:
            yield f"the schema's {part} is not {value}"
    if export.get("EXPORT_PRODUCT_NAME") != "SpecScope":
        yield "the file claims to be another program's"
    told = [row["name"] for row in tables["META_DATA_EXPORT"] + tables["META_DATA_CAPTURE"]]
    told += [row["name"] for row in tables["TARGET_INFO_SYSTEM_ENV"]]
    yield from (
        f"{name} tells of the machine" for name in told if any(f in name for f in FORBIDDEN)
    )
    for table in ("PROCESSES", "ANALYSIS_DETAILS", "TARGET_INFO_SESSION_START_TIME"):
        if len(tables[table]) != 1:
            yield f"{table} has {len(tables[table])} rows"
    files = [tables.strings.get(row["filenameId"], "") for row in tables["ProcessStreams"]]
    if not any("stderr" in name for name in files) or not any("stdout" in name for name in files):
        yield "no rows for the process's output"
    tids = [row["globalTid"] for row in tables["ThreadNames"]]
    if len(tids) != len(set(tids)) or not tids:
        yield "threads have no names, or two"


def _events(tables: NsysTables) -> Iterator[str]:
    pids = {row["globalPid"] for row in tables["PROCESSES"]}
    domains = {
        (row["domainId"], row["globalTid"] & PROCESS_BITS)
        for row in tables["NVTX_EVENTS"]
        if row["eventType"] == 75
    }
    categories = {r["category"] for r in tables["NVTX_EVENTS"] if r["eventType"] == 33}
    for row in tables["NVTX_EVENTS"]:
        what = f"event {row['text']} at {row['start']}"
        if row["globalTid"] is None or row["globalTid"] & PROCESS_BITS not in pids:
            yield f"{what} is of no process"
        if row["text"] is None or tables.strings.get(row["textId"]) != row["text"]:
            yield f"{what} has not the same text twice"
        if (row["domainId"], row["globalTid"] & PROCESS_BITS) not in domains:
            yield f"{what} is of no domain"
        if row["category"] is not None and row["category"] not in categories:
            yield f"{what} is of no category"
        if row["endGlobalTid"] is not None:
            yield f"{what} ends on another thread"
        if row["start"] < 0:
            yield f"{what} begins before the session"
        if row["eventType"] in RANGES and (row["end"] is None or row["end"] < row["start"]):
            yield f"{what} has no end or one before its start"
        if row["eventType"] not in RANGES and row["end"] is not None:
            yield f"{what} has an end"
        if (row["eventType"] == 60) != (row["rangeId"] is not None):
            yield f"{what} has a number it should not have, or none"


def _nesting(tables: NsysTables) -> Iterator[str]:
    rows = tables["NVTX_EVENTS"]
    pushed = [row for row in rows if row["eventType"] == 59 and row["end"] is not None]
    for tid in {row["globalTid"] for row in pushed}:
        bounds = [(r["start"], r["end"]) for r in pushed if r["globalTid"] == tid]
        twins = [bound for bound, n in Counter(bounds).items() if n > 1]
        if twins:
            yield f"ranges have the very same times: {twins}"
        open_ends: list[int] = []
        for start, end in sorted(bounds, key=lambda bound: (bound[0], -bound[1])):
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and open_ends[-1] < end:
                yield f"ranges cross at {start}"
            open_ends.append(end)


def _kernels(tables: NsysTables) -> Iterator[str]:
    launches: dict[tuple[int, int], Row] = {}
    for row in tables["CUPTI_ACTIVITY_KIND_RUNTIME"]:
        key = (row["correlationId"], row["globalTid"] & PROCESS_BITS)
        if key in launches:
            yield f"two calls have the number {key}"
        if row["nameId"] not in tables.strings or row["end"] < row["start"]:
            yield f"call {key} has no name, or ends before it starts"
        launches[key] = row
    devices = {row["cudaId"] for row in tables["TARGET_INFO_CUDA_DEVICE"]}
    gpus = {row["id"] for row in tables["TARGET_INFO_GPU"]}
    streams = {row["streamId"] for row in tables["TARGET_INFO_CUDA_STREAM"]}
    for table in ON_DEVICE:
        for row in tables[table]:
            launch = launches.pop((row["correlationId"], row["globalPid"]), None)
            what = f"{table} {row['correlationId']}"
            if launch is None:
                yield f"{what} was launched by nobody, or twice"
            elif row["start"] < launch["start"]:
                yield f"{what} begins before its launch"
            if row["end"] <= row["start"]:
                yield f"{what} takes no time"
            if not {row["deviceId"]} <= devices & gpus or row["streamId"] not in streams:
                yield f"{what} is of no device, or of no stream"
            for column in ("demangledName", "shortName"):
                if column in row and row[column] not in tables.strings:
                    yield f"{what} has no {column}"
    if launches:
        yield f"calls launched nothing: {sorted(launches)}"
    described = {(row["typeId"], row["metricId"]) for row in tables["TARGET_INFO_GPU_METRICS"]}
    for row in tables["GPU_METRICS"]:
        if (row["typeId"], row["metricId"]) not in described:
            yield f"a reading at {row['timestamp']} has no name"
        if row["value"] is None or not isinstance(row["value"], int):
            yield f"a reading at {row['timestamp']} is no integer"
