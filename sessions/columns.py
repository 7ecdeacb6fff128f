"""Table: append-only growing numpy columns, ordered by time; a prefix of one is a view, no copy."""

import mmap
import sys
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sessions.spill import Spill, SpilledColumns

Array = NDArray[Any]

MISSING_INT = -(2**63)
"""Stands in an ``INT`` column for a reading that is missing: no clock, size or count is that."""
MISSING_COUNT = -(2**31)
"""The same in a ``COUNT`` column."""
MISSING_CODE = -1
"""Stands in a ``CODE`` or ``TEXT`` column for None. A ``FLOAT`` column holds NaN instead."""

_FIRST_CAPACITY = 64
_LET_GO_ROWS = 2048
"""Rows after which the memory of a spilled table is let go of again."""
_OWN_PAGES_BYTES = 2**18


class Kind(Enum):
    """What a column holds. ``COUNT`` is for ids, positions and small counts, which 32 bits hold
    with room to spare (a larger number is refused, never cut); times and sizes are ``INT``."""

    INT = "int"
    COUNT = "count"
    FLOAT = "float"
    CODE = "code"  # the place of an enum's member in its class
    TEXT = "text"  # the number of the text in the table's ``TextPool``, int32


DTYPES: dict[Kind, np.dtype[Any]] = {
    Kind.INT: np.dtype(np.int64),
    Kind.COUNT: np.dtype(np.int32),
    Kind.FLOAT: np.dtype(np.float64),
    Kind.CODE: np.dtype(np.int8),
    Kind.TEXT: np.dtype(np.int32),
}


class TextPool(dict[str | None, int]):
    """Numbers texts in the order first seen: ``pool[text]`` is the number, ``texts`` the way back.

    It only grows, so a number means the same for ever. None is ``MISSING_CODE``.
    """

    def __init__(self) -> None:
        super().__init__({None: MISSING_CODE})
        self.texts: list[str] = []

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self.texts)
        self.texts.append(text)
        return code

    def adopt(self, texts: list[str]) -> None:
        """Number ``texts`` as they stand, each one once; the pool must be empty."""
        assert not self.texts, "the pool has texts"
        self.texts = texts
        self.update(zip(texts, range(len(texts)), strict=True))

    def find(self, text: str) -> int:
        """The number of ``text``, or ``MISSING_CODE`` where nobody has said it yet."""
        return self.get(text, MISSING_CODE)


class Table:
    """Rows that are appended in batches and never changed.

    Columns ``ordinal`` and ``t_ns`` come first in every table; ``t_ns`` never decreases: a row
    that claims an earlier time than the one before is given that one's.
    """

    def __init__(
        self,
        name: str,
        kinds: Mapping[str, Kind],
        pool: TextPool,
        *,
        spill: Spill | None = None,
    ) -> None:
        """``spill`` makes the room for many rows; None: in memory."""
        self.name = name
        self._spill = spill
        self._spilled: SpilledColumns | None = None
        self._n_let_go = 0
        self.kinds = self.all_kinds(kinds)
        self.pool = pool
        self._n = 0
        self._capacity = 0
        self._last_t_ns = -1
        self._columns: dict[str, Array] = {
            column: np.empty(0, DTYPES[kind]) for column, kind in self.kinds.items()
        }
        # Columns of which every row holds the same take no memory: on a machine without a GPU
        # those are the widest ones. The one row each of them is, or none before the first.
        self._same: dict[str, Array] = {
            column: self._columns[column]
            for column in kinds  # never ``ordinal`` and ``t_ns``
        }

    @staticmethod
    def all_kinds(kinds: Mapping[str, Kind]) -> dict[str, Kind]:
        """The columns of a table of these, with those that every table has."""
        return {"ordinal": Kind.INT, "t_ns": Kind.INT, **kinds}

    def __len__(self) -> int:
        return self._n

    @property
    def last_t_ns(self) -> int:
        """Time of the newest row; -1 while there is none."""
        return self._last_t_ns

    @property
    def n_bytes(self) -> int:
        """Bytes of the rows that are filled."""
        return self._n * sum(DTYPES[kind].itemsize for kind in self.kinds.values())

    def append(self, n_rows: int, **columns: Any) -> None:
        """Append ``n_rows`` rows; each column is given as so many values, or one for all.

        Raises:
            OverflowError: a number is too large for its column; nothing was appended then.
        """
        if not n_rows:
            return
        assert columns.keys() == self._columns.keys(), f"{self.name}: wrong columns"
        end = self._n + n_rows
        if end > self._capacity:
            self._grow(end)
        for column, values in columns.items():
            if column in self._same:
                if self._stays_same(column, values):
                    continue
                self._begin(column)
            self._columns[column][self._n : end] = values
        times = self._columns["t_ns"][self._n : end]
        if times[0] < self._last_t_ns or (n_rows > 1 and np.any(times[1:] < times[:-1])):
            times[:] = np.maximum(np.maximum.accumulate(times), self._last_t_ns)
        self._last_t_ns = int(times[-1])
        self._n = end
        if self._spilled is not None and end - self._n_let_go >= _LET_GO_ROWS:
            self._spilled.let_go(end)
            self._n_let_go = end

    def adopt(self, columns: Mapping[str, Array]) -> None:
        """Take whole columns as the table's rows, not copied; the table must be empty."""
        assert not self._n, f"{self.name} has rows"
        self._columns = {column: columns[column] for column in self.kinds}
        self._same = {}
        self._spilled = None
        self._n = self._capacity = len(self._columns["t_ns"])
        self._last_t_ns = int(self._columns["t_ns"][-1]) if self._n else -1

    def prefix(self, n: int) -> "TablePrefix":
        """The first ``n`` rows, read-only; they stay as they are however the table grows."""
        return TablePrefix(self, min(n, self._n))

    def n_rows_at(self, t_ns: int) -> int:
        """How many rows there were at ``t_ns``, those of that very moment included."""
        if t_ns >= self._last_t_ns:
            return self._n
        return int(self._columns["t_ns"][: self._n].searchsorted(np.int64(t_ns), side="right"))

    def view(self, column: str, n: int) -> Array:
        """The first ``n`` values of a column, read-only, not copied."""
        same = self._same.get(column)
        if same is not None:
            return np.broadcast_to(same, n if len(same) else 0)
        view = self._columns[column][:n]
        view.flags.writeable = False
        return view

    def _grow(self, n_rows: int) -> None:
        """Room for ``n_rows``; earlier views keep the arrays they were cut from."""
        self._capacity = max(n_rows, _FIRST_CAPACITY, self._capacity + self._capacity // 2)
        dtypes = {
            column: DTYPES[kind] for column, kind in self.kinds.items() if column not in self._same
        }
        self._spilled = self._spill.columns(dtypes, self._capacity) if self._spill else None
        for column, dtype in dtypes.items():
            grown = self._spilled.arrays[column] if self._spilled else _room(self._capacity, dtype)
            grown[: self._n] = self._columns[column][: self._n]
            self._columns[column] = grown
            if self._spilled is not None:  # what was copied need not all be in memory at once
                self._spilled.let_go_of(column, self._n)

    def _stays_same(self, column: str, values: Any) -> bool:
        """Whether every row would still hold the same with ``values``, in all bits."""
        dtype = DTYPES[self.kinds[column]]
        given = np.asarray(values, dtype).reshape(-1)
        first = self._same[column] if self._n else given[:1].copy()
        bits = f"i{dtype.itemsize}"
        if (given.view(bits) != first.view(bits)).any():
            return False
        self._same[column] = first
        return True

    def _begin(self, column: str) -> None:
        """Room for a column that is no longer the same in all rows."""
        grown = _room(self._capacity, DTYPES[self.kinds[column]])
        grown[: self._n] = self._same[column] if self._n else 0
        self._columns[column] = grown  # before ``_same`` forgets it: others may be reading
        del self._same[column]


def _room(n: int, dtype: np.dtype[Any]) -> Array:
    """Room for ``n`` values. Large ones are pages of their own: those not filled yet take no
    memory, and all go back to the system when the column has outgrown them."""
    n_bytes = n * dtype.itemsize
    if n_bytes < _OWN_PAGES_BYTES:
        return np.empty(n, dtype)
    if sys.platform == "win32":
        return np.frombuffer(mmap.mmap(-1, n_bytes), dtype)
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    return np.frombuffer(mmap.mmap(-1, n_bytes, flags=private), dtype)


class TablePrefix:
    """The first rows of a table: ``prefix["t_ns"]`` is a column, read-only and not copied."""

    __slots__ = ("_n", "_table")

    def __init__(self, table: Table, n: int) -> None:
        self._table = table
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, column: str) -> Array:
        return self._table.view(column, self._n)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._table.kinds)

    def is_text(self, column: str) -> bool:
        return self._table.kinds[column] is Kind.TEXT

    def code(self, text: str) -> int:
        """The number that stands for ``text`` in this table's text columns."""
        return self._table.pool.find(text)

    def text(self, column: str, row: int) -> str:
        """One text; "" where there is none."""
        code = int(self[column][row])
        return "" if code == MISSING_CODE else self._table.pool.texts[code]

    def texts(self, column: str, rows: slice | Array | None = None) -> list[str]:
        """The texts of ``rows`` (all of them by default); "" where there is none."""
        codes: Iterable[int] = (self[column] if rows is None else self[column][rows]).tolist()
        texts = self._table.pool.texts
        return ["" if code == MISSING_CODE else texts[code] for code in codes]
