"""Rows, strings and identities of an Nsight Systems file."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sessions.export.nsys_sqlite_file import ROWS_PER_BATCH, NsysFile


def test_identities_are_packed_as_readers_unpack_them(tmp_path: Path) -> None:
    with closing(NsysFile(tmp_path / "a.sqlite")) as file:
        file.identify(91186)
        assert file.global_pid == 283004823928832
        assert file.global_tid == 283004824020018
        assert file.global_tid // 0x1000000 % 0x1000000 == 91186
        assert file.global_tid % 0x1000000 == 91186


def test_rows_in_batches_and_the_rest_are_all_there(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with closing(NsysFile(path)) as file:
        statement = file.statement("GPU_METRICS", ("rawTimestamp", "timestamp", "typeId",
                                                   "metricId", "value"))  # fmt: skip
        for i in range(ROWS_PER_BATCH + 5):
            file.add(statement, (i, i, 1, 1, i))
        first = file.string_id("a word")
        assert file.string_id("a word") == first != file.string_id("another")
        file.add_named("PROCESSES", globalPid=1, pid=1, name="x")
        file.finish()
    with closing(sqlite3.connect(path)) as connection:
        count = "SELECT count(*), max(value) FROM GPU_METRICS"
        assert connection.execute(count).fetchone() == (ROWS_PER_BATCH + 5, ROWS_PER_BATCH + 4)
        words = dict(connection.execute("SELECT value, id FROM StringIds"))
        assert words["a word"] == first
        assert words["[Unknown]"] == 0


def test_one_row_of_numbers_can_be_several_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with closing(NsysFile(path)) as file:
        columns = ("pid", "globalPid", "name")
        statement = file.statement_of("PROCESSES", columns, [("?1", 7, "'a'"), ("?2", "?1", "'b'")])
        file.add(statement, (1, 2))
        file.add_all(statement, [(3, 4)])
        file.finish()
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT pid, globalPid, name FROM PROCESSES").fetchall()
    assert rows == [(1, 7, "a"), (2, 1, "b"), (3, 7, "a"), (4, 3, "b")]
