"""The rules for Nsight Systems files notice when each is broken."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sessions.export.nsys_sqlite import write_nsys_sqlite
from tests.support.export_streams import gpu_session
from tests.support.nsys_rules import check_nsys

FIRST = "rowid = (SELECT min(rowid) FROM NVTX_EVENTS WHERE eventType = 59)"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DROP TABLE CUPTI_ACTIVITY_KIND_MEMSET", "tables are missing"),
        ("UPDATE META_DATA_EXPORT SET value = '3.25.0' WHERE value = '3.24.14'", "no version"),
        ("UPDATE META_DATA_EXPORT SET value = 'Nsight' WHERE value = 'SpecScope'", "another"),
        ("INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT', 'A=B')", "machine"),
        ("DELETE FROM ProcessStreams", "process's output"),
        ("DELETE FROM ThreadNames", "threads have no names"),
        ("DELETE FROM NVTX_EVENTS WHERE eventType = 75", "no domain"),
        (f"UPDATE NVTX_EVENTS SET text = 'other' WHERE {FIRST}", "same text twice"),
        (f"UPDATE NVTX_EVENTS SET textId = NULL WHERE {FIRST}", "same text twice"),
        (f'UPDATE NVTX_EVENTS SET "end" = start - 1 WHERE {FIRST}', "no end or one before"),
        (f'UPDATE NVTX_EVENTS SET "end" = NULL WHERE {FIRST}', "no end or one before"),
        (f"UPDATE NVTX_EVENTS SET endGlobalTid = 1 WHERE {FIRST}", "another thread"),
        (f"UPDATE NVTX_EVENTS SET globalTid = 7 WHERE {FIRST}", "no process"),
        ("UPDATE NVTX_EVENTS SET start = start - 400 WHERE text = 'verify'", "ranges cross"),
        (f'INSERT INTO NVTX_EVENTS SELECT * FROM NVTX_EVENTS WHERE {FIRST}', "very same times"),
        ("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET correlationId = 9999 WHERE rowid = 1", "nobody"),
        ("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = globalTid + 16777216", "nobody"),
        ("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 0", "before its launch"),
        ('UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = start', "takes no time"),
        ("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET shortName = 12345", "no shortName"),
        ("DELETE FROM TARGET_INFO_CUDA_DEVICE", "no device"),
        ("DELETE FROM TARGET_INFO_GPU_METRICS", "has no name"),
        ("UPDATE GPU_METRICS SET value = 1.5", "no integer"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_told(change: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "out.sqlite"
    write_nsys_sqlite(gpu_session(), path)
    check_nsys(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(change)
    with pytest.raises(AssertionError, match=said):
        check_nsys(path)
