"""A file of folded columns: written once, mapped into memory as it is, checked before it is used.

A head of fixed size, then the columns one behind the other, then a description of them as JSON.
Columns that hold one value in every row are kept as that value.
"""

import hashlib
import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec
import numpy as np

from sessions.column_rules import LAYOUT, check_column
from sessions.columns import DTYPES, Array, Table
from sessions.lines_digest import EventsIdentity
from sessions.model import FoldedColumns, SessionModel
from sessions.tables import TABLE_COLUMNS

_MAGIC = b"SPSCCOL1"
_HEAD = struct.Struct("<8s5q32s2q")
"""The magic, the session file's stamp, SHA-256 of the description, its offset and its bytes."""
_STAMP_OFFSET = 8
_ALIGNED_TO = 64
_MAX_DESCRIPTION_BYTES = 2**20
_N_THREADS = 2


class FileStamp(NamedTuple):
    """What changes whenever somebody writes a file or puts another in its place."""

    device: int
    inode: int
    n_bytes: int
    modified_ns: int
    changed_ns: int


class ColumnFileError(Exception):
    """It is no file of columns, of another layout, or not as it was written."""


class StoredColumns(NamedTuple):
    """What a file of columns holds."""

    stamp: FileStamp  # of the session file when the columns were folded
    identity: EventsIdentity  # of the events they were folded from
    columns: FoldedColumns


class _Column(msgspec.Struct, frozen=True):
    table: str
    name: str
    n_rows: int
    offset: int
    is_same: bool  # one value stands for all rows
    crc: int


class _Description(msgspec.Struct, frozen=True):
    layout: str
    n_events: int
    last_ordinal: int
    sha256: str
    last_t_ns: int
    texts_offset: int
    texts_bytes: int
    texts_crc: int
    columns: tuple[_Column, ...]


def write_columns(
    path: Path,
    model: SessionModel,
    identity: EventsIdentity,
    stamp: FileStamp,
    *,
    should_stop: Callable[[], bool] = lambda: False,
) -> bool:
    """Write what ``model`` folded of the events ``identity`` speaks of; rows of a later event, a
    farewell that is not in the file, are left out. The file appears when it is whole.

    Returns:
        Whether it was written; False when ``should_stop`` said so.

    Raises:
        OSError: it cannot be written.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as file:
            file.write(bytes(_HEAD.size))
            columns = []
            for table, name, values in _columns_of(model, identity.last_ordinal):
                if should_stop():
                    return False
                columns.append(_write(file, table, name, values))
            texts = msgspec.json.encode(model.tables["starts"].pool.texts)
            described = _Description(
                LAYOUT, *identity, model.last_t_ns, _align(file), len(texts), zlib.crc32(texts),
                tuple(columns),
            )  # fmt: skip
            file.write(texts)
            description = msgspec.json.encode(described)
            head = (hashlib.sha256(description).digest(), _align(file), len(description))
            file.write(description)
            file.seek(0)
            file.write(_HEAD.pack(_MAGIC, *stamp, *head))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return True


def stamp_again(path: Path, stamp: FileStamp) -> None:
    """Say that the columns are of the session file with this stamp. Raises OSError."""
    with path.open("rb+") as file:
        file.seek(_STAMP_OFFSET)
        file.write(struct.pack("<5q", *stamp))


def read_stamp(path: Path) -> FileStamp:
    """Raises ColumnFileError or OSError."""
    with path.open("rb") as file:
        head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or not head.startswith(_MAGIC):
        raise ColumnFileError("it is no file of columns")
    return FileStamp(*_HEAD.unpack(head)[1:6])


def read_columns(path: Path) -> StoredColumns:
    """Map the columns; every value that something else is looked up by is checked.

    Raises:
        ColumnFileError: the file is not to be used.
        OSError: it is not there or cannot be read.
    """
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size < _HEAD.size:
            raise ColumnFileError("it is cut off")
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    magic, *numbers = _HEAD.unpack_from(content)
    stamp, (sha256, offset, n_bytes) = FileStamp(*numbers[:5]), numbers[5:]
    if magic != _MAGIC or not 0 <= n_bytes <= _MAX_DESCRIPTION_BYTES:
        raise ColumnFileError("it is no file of columns")
    description = bytes(_part(content, offset, n_bytes))
    if hashlib.sha256(description).digest() != sha256:
        raise ColumnFileError("its description is damaged")
    try:
        described = msgspec.json.decode(description, type=_Description)
        if described.layout != LAYOUT:
            raise ColumnFileError("it is of another version")
        texts = _texts(content, described)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ColumnFileError(f"it cannot be read: {error}") from error
    identity = EventsIdentity(described.n_events, described.last_ordinal, described.sha256)
    columns = FoldedColumns(
        described.n_events,
        described.last_ordinal,
        described.last_t_ns,
        texts,
        _tables(content, described, len(texts)),
    )
    return StoredColumns(stamp, identity, columns)


def _columns_of(model: SessionModel, last_ordinal: int) -> Iterator[tuple[str, str, Array]]:
    for table, held in model.tables.items():
        rows = held.prefix(len(held))
        n = int(rows["ordinal"].searchsorted(last_ordinal, side="right"))
        for name in held.kinds:
            yield table, name, held.view(name, n)


def _write(file: BinaryIO, table: str, name: str, values: Array) -> _Column:
    n_rows = len(values)
    # As integers, so that NaN is NaN; most columns differ early, which a look at the ends tells.
    bits = values.view(f"i{values.itemsize}")
    is_same = n_rows > 0 and bool(bits[0] == bits[-1]) and bool((bits == bits[0]).all())
    kept = np.ascontiguousarray(values[:1] if is_same else values).data
    crc = zlib.crc32(kept)
    offset = _align(file)
    file.write(kept)
    return _Column(table, name, n_rows, offset, is_same, crc)


def _align(file: BinaryIO) -> int:
    """Fill up to where a column may begin."""
    file.write(bytes(-file.tell() % _ALIGNED_TO))
    return file.tell()


def _tables(
    content: mmap.mmap, described: _Description, n_texts: int
) -> dict[str, dict[str, Array]]:
    kinds = {name: Table.all_kinds(kinds) for name, kinds in TABLE_COLUMNS.items()}
    if [(c.table, c.name) for c in described.columns] != [
        (table, name) for table, columns in kinds.items() for name in columns
    ]:
        raise ColumnFileError("its columns are others")
    n_rows = {column.table: column.n_rows for column in described.columns}

    def load(column: _Column) -> Array:
        kind = kinds[column.table][column.name]
        if column.n_rows != n_rows[column.table] or column.n_rows < 0:
            raise ColumnFileError(f"{column.table} has columns of different lengths")
        values = _column(content, column, DTYPES[kind])
        problem = check_column(column.table, column.name, values, n_texts, described.last_t_ns)
        if problem:
            raise ColumnFileError(f"{column.table}.{column.name}: {problem}")
        return values

    tables: dict[str, dict[str, Array]] = {name: {} for name in kinds}
    with ThreadPoolExecutor(_N_THREADS, "column-check") as threads:  # both let other threads run
        for column, values in zip(
            described.columns, threads.map(load, described.columns), strict=True
        ):
            tables[column.table][column.name] = values
    return tables


def _column(content: mmap.mmap, column: _Column, dtype: np.dtype[Any]) -> Array:
    n_kept = 1 if column.is_same else column.n_rows
    kept = _part(content, column.offset, n_kept * dtype.itemsize)
    if zlib.crc32(kept) != column.crc:
        raise ColumnFileError(f"{column.table}.{column.name} is damaged")
    values = np.frombuffer(kept, dtype)
    return np.broadcast_to(values, column.n_rows) if column.is_same else values


def _texts(content: mmap.mmap, described: _Description) -> list[str]:
    line = _part(content, described.texts_offset, described.texts_bytes)
    if zlib.crc32(line) != described.texts_crc:
        raise ColumnFileError("its texts are damaged")
    texts = msgspec.json.decode(line, type=list[str])
    if len(set(texts)) != len(texts):
        raise ColumnFileError("a text has two numbers")
    return texts


def _part(content: mmap.mmap, offset: int, n_bytes: int) -> memoryview:
    if offset < _HEAD.size or n_bytes < 0 or offset + n_bytes > len(content):
        raise ColumnFileError("it is cut off")
    return memoryview(content)[offset : offset + n_bytes]
