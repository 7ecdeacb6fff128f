"""The tables are made so that any SQLite tool can read them."""

import sqlite3
from pathlib import Path

from sqlite_utils import Database

from sessions.session_schema import EVENT_COLUMNS, SCHEMA_VERSION, SESSION_COLUMNS, check_tables
from sessions.session_views import VIEWS
from tests.sessions.recorded import record, script


def test_any_tool_can_read_it(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    database = Database(path)
    assert set(database.table_names()) == {"session", "events"}
    assert set(database.view_names()) == set(VIEWS)
    assert database.table("session").columns_dict == SESSION_COLUMNS
    assert database.table("events").columns_dict == EVENT_COLUMNS
    assert database.table("events").pks == ["ordinal"]
    (row,) = database.table("session").rows
    assert (row["id"], row["schema_version"], row["ended"]) == (1, SCHEMA_VERSION, 1)
    check_tables(database, path, for_writing=True)
    database.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
