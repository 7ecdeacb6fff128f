"""Pieces of a session's columns, as bytes: what processes that fold hand to the one that shows."""

import msgspec
import numpy as np

from sessions.columns import DTYPES, Array, Table
from sessions.model import ColumnPiece, FoldedColumns, SessionModel
from sessions.session_file import SessionFile
from sessions.tables import TABLE_COLUMNS


class _Column(msgspec.Struct, frozen=True, array_like=True):
    n_rows: int
    values: bytes  # one value where all rows hold the same


class _Piece(msgspec.Struct, frozen=True, array_like=True):
    first_ordinal: int  # -1 where there is no event
    first_t_ns: int
    n_events: int
    last_ordinal: int
    last_t_ns: int
    texts: list[str]
    tables: dict[str, list[_Column]]  # name -> columns in the table's order


_decoder = msgspec.msgpack.Decoder(_Piece)


def fold_piece(file: SessionFile, after: int, until: int) -> bytes:
    """The columns of the events behind the ordinal ``after``, up to ``until``; ``read_piece`` makes
    a ``ColumnPiece`` of it. That ordinals are missing before the first one is not in it.

    Raises:
        SessionFileError: the file is damaged or busy.
    """
    model, first_ordinal, first_t_ns = SessionModel(), -1, 0
    for events in file.batches(after=after, until=until, at_once=until - after):
        if first_ordinal < 0:
            first_ordinal, first_t_ns = events[0].ordinal, events[0].t_ns
            model = SessionModel(after=first_ordinal - 1)
        model.consume(events)
    piece = _Piece(
        first_ordinal,
        first_t_ns,
        model.n_events,
        model.last_ordinal,
        model.last_t_ns,
        model.tables["starts"].pool.texts,
        {name: _columns_of(table) for name, table in model.tables.items() if len(table)},
    )
    return msgspec.msgpack.encode(piece)


def read_piece(packed: bytes) -> ColumnPiece | None:
    """What ``fold_piece`` packed; None where there was no event."""
    piece = _decoder.decode(packed)
    if piece.first_ordinal < 0:
        return None
    columns = FoldedColumns(
        piece.n_events,
        piece.last_ordinal,
        piece.last_t_ns,
        piece.texts,
        {name: _columns_from(name, told) for name, told in piece.tables.items()},
    )
    return ColumnPiece(piece.first_ordinal, piece.first_t_ns, columns)


def _columns_of(table: Table) -> list[_Column]:
    n = len(table)
    views = [table.view(name, n) for name in table.kinds]
    # A column that takes no room in its table is one value, repeated with a stride of 0.
    return [_Column(n, (v[:1] if v.strides == (0,) else v).tobytes()) for v in views]


def _columns_from(table: str, columns: list[_Column]) -> dict[str, Array]:
    kinds = Table.all_kinds(TABLE_COLUMNS[table])
    return {
        name: np.broadcast_to(np.frombuffer(column.values, DTYPES[kind]), column.n_rows)
        for (name, kind), column in zip(kinds.items(), columns, strict=True)
    }
