"""An open Nsight Systems SQLite file: tables, strings, packed identities, rows in batches."""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sessions.export.nsys_sqlite_schema import ENUMS, table_definitions

ROWS_PER_BATCH = 10_000

VM_ID = 1 << 48
"""Hardware 0, virtual machine 1: what a capture on one's own machine has."""

PROCESS_SHIFT = 24
THREAD_MASK = (1 << 24) - 1


class NsysFile:
    """Rows go in with ``add``; ``finish`` writes the rest and commits.

    Durability is left to the caller, who renames a finished file: there is no journal.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._run = self._connection.execute
        self._run("PRAGMA journal_mode = OFF")
        self._run("PRAGMA synchronous = OFF")
        self._run("BEGIN")
        for definition in table_definitions():
            self._run(definition)
        self._strings: dict[str, int] = {}
        self._batches: dict[str, list[Sequence[Any]]] = {}
        self.string_id("[Unknown]")
        for name, rows in ENUMS.items():
            statement = self.statement(name, ("id", "name", "label"))
            for row in rows:
                self.add(statement, row)
        self.identify(1)

    def identify(self, process_id: int) -> None:
        """Whose rows follow: ``process_id`` (below 2^24) is also its decoding thread's number."""
        self.process_id = process_id
        self.global_pid = VM_ID | process_id << PROCESS_SHIFT
        self.global_tid = self.global_pid | process_id

    def string_id(self, text: str) -> int:
        """The id of ``text`` in ``StringIds``. For texts that come again and again."""
        known = self._strings.get(text)
        if known is None:
            known = self._strings[text] = len(self._strings)
        return known

    def statement(self, table: str, columns: Sequence[str]) -> str:
        """What ``add`` wants to know of rows that fill ``columns`` of ``table``."""
        return self.statement_of(table, columns, ["?" * len(columns)])

    def statement_of(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]
    ) -> str:
        """``statement`` of several rows at once: their terms are SQL, and ``?1``, ``?2`` ... stand
        for what is given to ``add`` as one row. Several times as quick where much is the same."""
        names = ", ".join(f'"{column}"' for column in columns)
        values = ", ".join(f"({', '.join(map(str, terms))})" for terms in rows)
        statement = f"INSERT INTO {table} ({names}) VALUES {values}"
        self._batches.setdefault(statement, [])
        return statement

    def add(self, statement: str, row: Sequence[Any]) -> None:
        batch = self._batches[statement]
        batch.append(row)
        if len(batch) >= ROWS_PER_BATCH:
            self._flush(statement, batch)

    def add_all(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        batch = self._batches[statement]
        batch.extend(rows)
        if len(batch) >= ROWS_PER_BATCH:
            self._flush(statement, batch)

    def add_named(self, table: str, **values: Any) -> None:
        """One row of a table that has few."""
        self.add(self.statement(table, tuple(values)), tuple(values.values()))

    def finish(self) -> None:
        strings = self.statement("StringIds", ("id", "value"))
        for text, known in self._strings.items():
            self.add(strings, (known, text))
        for statement, batch in self._batches.items():
            self._flush(statement, batch)
        self._run("COMMIT")

    def _flush(self, statement: str, batch: list[Sequence[Any]]) -> None:
        self._connection.executemany(statement, batch)
        batch.clear()

    def close(self) -> None:
        self._connection.close()
