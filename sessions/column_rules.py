"""What is true of every folded column, whatever the session: the layout, and the values' bounds."""

import hashlib
from enum import Enum

import numpy as np

from engine.wire.events import (
    SCHEMA_VERSION,
    EndReason,
    EngineState,
    Fate,
    FinishReason,
    Origin,
    Role,
)
from sessions.columns import MISSING_CODE, Array, Kind, Table
from sessions.tables import TABLE_COLUMNS, KvChange, SequenceChange

_ENUMS: dict[str, type[Enum]] = {
    "role": Role,
    "state": EngineState,
    "fate": Fate,
    "origin": Origin,
    "extra_origin": Origin,
    "ends.reason": EndReason,
    "sequences.reason": FinishReason,
    "sequences.change": SequenceChange,
    "kv_changes.change": KvChange,
}
"""A ``CODE`` column's name, with its table's where that matters -> the class its codes are of."""

_FOLD_VERSION = 1
"""Raised when the same events are folded into other values of the same columns."""


def enum_of(table: str, column: str) -> type[Enum]:
    """The class a ``CODE`` column's values are places in."""
    return _ENUMS.get(f"{table}.{column}") or _ENUMS[column]


def check_column(table: str, column: str, values: Array, n_texts: int, last_t_ns: int) -> str:
    """What is wrong with a column's values, in a few words; "" when nothing is."""
    if not len(values):
        return ""
    kind = Table.all_kinds(TABLE_COLUMNS[table])[column]
    if kind in (Kind.CODE, Kind.TEXT):
        n = n_texts if kind is Kind.TEXT else len(enum_of(table, column))
        if values.min() < MISSING_CODE or values.max() >= n:
            return f"a code that is not below {n}"
    elif column in ("ordinal", "t_ns"):
        if values[0] < 0 or np.any(values[1:] < values[:-1]):
            return "not in order"
        if column == "t_ns" and values[-1] > last_t_ns:
            return "later than the newest event"
    return ""


def _layout() -> str:
    """Differs whenever columns of one version would mean something else to another."""
    columns = {
        table: [
            (name, kind.value, *(enum_of(table, name) if kind is Kind.CODE else ()))
            for name, kind in Table.all_kinds(kinds).items()
        ]
        for table, kinds in TABLE_COLUMNS.items()
    }
    said = repr((_FOLD_VERSION, SCHEMA_VERSION, columns))
    return hashlib.sha256(said.encode()).hexdigest()[:32]


LAYOUT = _layout()
"""Of the columns this version folds events into."""
