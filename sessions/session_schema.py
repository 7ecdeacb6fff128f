"""The tables of a session file: how they are made, and how they are known again."""

from pathlib import Path

from sqlite_utils import Database

from sessions.session_errors import NotASessionFile, damaged
from sessions.session_views import create_views

SUFFIX = ".specscope"

APPLICATION_ID = 0x53505343
"""Bytes 68 to 71 of the file: "SPSC"."""

SCHEMA_VERSION = 1
"""Raised with every change of the tables, and with every new ``SCHEMA_VERSION`` of the events;
``sessions.migrations`` then has one more step."""

SESSION_COLUMNS: dict[str, type] = {
    "id": int,
    "schema_version": int,
    "started_unix_ns": int,
    "config_json": str,
    "environment_json": str,
    "name": str,
    "notes": str,
    "tags_json": str,
    "counts_json": str,
    "summary_json": str,
    "end_reason": str,
    "ended": int,
    "recorder_json": str,
}

EVENT_COLUMNS: dict[str, type] = {
    "ordinal": int,
    "t_ns": int,
    "kind": str,
    "sequence_id": int,
    "step": int,
    "payload": str,
}

Tables = dict[str, tuple[str, dict[str, type]]]
"""Name of a table -> its key and the types of its columns."""

TABLES: Tables = {"session": ("id", SESSION_COLUMNS), "events": ("ordinal", EVENT_COLUMNS)}
_SQL_TYPES = {int: "INTEGER", str: "TEXT"}


def create_schema(database: Database) -> None:
    """Make both tables, the views and the session's row, inside the caller's transaction."""
    create_tables(database)
    create_views(database)
    database.execute(
        "INSERT INTO session (id, schema_version, started_unix_ns, config_json, environment_json,"
        " name, notes, tags_json, counts_json, ended, recorder_json)"
        " VALUES (1, ?, 0, '{}', '{}', '', '', '[]', '{}', 0, '{}')",
        [SCHEMA_VERSION],
    )
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def create_tables(database: Database) -> None:
    """Make the two tables, empty."""
    database.create_table(
        "session",
        SESSION_COLUMNS,
        pk="id",
        not_null={"schema_version", "started_unix_ns", "config_json", "environment_json", "ended"},
    )
    database.create_table(
        "events", EVENT_COLUMNS, pk="ordinal", not_null={"t_ns", "kind", "payload"}
    )


def check_tables(
    database: Database, path: Path, *, for_writing: bool, tables: Tables = TABLES
) -> None:
    """See that the tables are the ones this program makes, so that reading them runs nothing that
    came with the file.

    Raises:
        NotASessionFile: there is something else under their names, or, for writing, a trigger.
        DamagedSessionFile: a table is missing or has other columns.
    """
    for table, (key, columns) in tables.items():
        found = database.execute(
            "SELECT type, sql FROM sqlite_master WHERE name = ? COLLATE NOCASE", [table]
        ).fetchall()
        if not found:
            raise damaged(path, f"its table {table} is missing")
        is_plain = len(found) == 1 and found[0][0] == "table"
        if not is_plain or not str(found[0][1]).upper().startswith("CREATE TABLE"):
            raise NotASessionFile(
                f"{path} has something else where a session file has its table {table}: "
                "it was not written by SpecScope and is not opened."
            )
        described = {
            str(name): (sql_type, is_key, hidden)
            for _, name, sql_type, _, _, is_key, hidden in database.execute(
                f"PRAGMA table_xinfo({table})"
            ).fetchall()
        }
        expected = {name: (_SQL_TYPES[kind], int(name == key), 0) for name, kind in columns.items()}
        if described != expected:
            raise damaged(
                path,
                f"its table {table} has other columns than its format says: another program "
                "changed it, or a change of its format was cut off",
            )
    if for_writing:
        _refuse_triggers(database, path)


def _refuse_triggers(database: Database, path: Path) -> None:
    (n_triggers,) = database.execute(
        "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"
    ).fetchone()
    if n_triggers:
        raise NotASessionFile(
            f"{path} holds triggers, which would run when it is changed: it is opened for reading "
            "only. Importing it makes a copy without them."
        )
