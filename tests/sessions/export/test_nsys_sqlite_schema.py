"""Every table can be made, and columns have the kinds readers expect."""

import sqlite3
from contextlib import closing

from sessions.export.nsys_sqlite_schema import ENUMS, table_definitions


def test_tables_can_be_made() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for definition in table_definitions():
            connection.execute(definition)
        columns = {
            row[1]: (row[2], bool(row[3]), bool(row[5]))
            for row in connection.execute("PRAGMA table_info(NVTX_EVENTS)")
        }
        assert len(columns) == 20
        assert columns["start"] == ("INTEGER", True, False)
        assert columns["end"] == ("INTEGER", False, False)
        assert columns["text"] == ("TEXT", False, False)
        assert columns["floatValue"] == ("REAL", False, False)
        (key, *_) = connection.execute("PRAGMA table_info(StringIds)").fetchall()
        assert key[1:6] == ("id", "INTEGER", 1, None, 1)
        (key, *rest) = connection.execute("PRAGMA table_info(ENUM_CUPTI_SYNC_TYPE)").fetchall()
        assert [row[1] for row in (key, *rest)] == ["id", "name", "label"]
    assert all(len({row[0] for row in rows}) == len(rows) for rows in ENUMS.values())
