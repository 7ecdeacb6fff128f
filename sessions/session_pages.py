"""Reads rows from the pages of a database that SQLite itself can no longer open.

A row of the table ``events`` is found wherever its page is: in the file, or in the write-ahead log
beside it. Nothing is trusted; what a row holds is for the caller to check.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sessions.session_connection import MAX_ROW_BYTES

DEFAULT_PAGE_BYTES = 4096
_PAGE_SIZES = {512 << shift for shift in range(8)}  # 512 to 65536
_LEAF_OF_TABLE = 0x0D
_HEADER_BYTES = 100  # of the file, before what is on page 1
_LOG_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
_N_COLUMNS = 6  # of the table events


@dataclass(frozen=True)
class Place:
    """Where a row is: the offset of its page in one of the files, and of the row in it."""

    in_log: bool
    page_offset: int
    cell_offset: int


class PageReader:
    """The pages of a file and, where it is given, of its write-ahead log."""

    def __init__(self, file: BinaryIO, log: BinaryIO | None) -> None:
        self._file = file
        self._log = log
        self._n_file_bytes = _size(file)
        self._n_log_bytes = 0 if log is None else _size(log)
        self.page_bytes = self._find_page_size()
        self._pages_in_log = {
            number: offset for offset, number in self._frames()
        }  # the newest frame of a page comes last
        # Rows may share pages they overflow to only in a file made to exhaust its reader.
        self._n_overflow_left = 4 * (self._n_file_bytes + self._n_log_bytes)

    def rows(self) -> Iterator[tuple[int, Place]]:
        """Row number and place of everything that looks like a row, page after page."""
        for offset in range(0, self._n_file_bytes, self.page_bytes):
            yield from self._rows_of(offset, in_log=False)
        for offset, _ in self._frames():
            yield from self._rows_of(offset, in_log=True)

    def payload(self, place: Place) -> bytes | None:
        """The last column of the row at ``place``; None when it is no row of the table events."""
        page = self._read_page(place.page_offset, in_log=place.in_log)
        n_bytes, at = _varint(page, place.cell_offset)
        _, at = _varint(page, at)
        if not 0 < n_bytes <= MAX_ROW_BYTES:
            return None
        record = self._whole_record(page, at, n_bytes, in_log=place.in_log)
        if len(record) < n_bytes:
            return None
        return _last_text(record)

    # --- pages -----------------------------------------------------------------------------------

    def _rows_of(self, offset: int, *, in_log: bool) -> Iterator[tuple[int, Place]]:
        page = self._read_page(offset, in_log=in_log)
        start = _HEADER_BYTES if page.startswith(b"SQLite format 3\0") else 0
        if len(page) < start + 8 or page[start] != _LEAF_OF_TABLE:
            return
        n_cells = int.from_bytes(page[start + 3 : start + 5], "big")
        for index in range(min(n_cells, self.page_bytes // 2)):
            at = start + 8 + 2 * index
            cell = int.from_bytes(page[at : at + 2], "big")
            if cell <= at or cell >= len(page):
                continue
            _, after = _varint(page, cell)
            row_number, _ = _varint(page, after)
            yield row_number, Place(in_log, offset, cell)

    def _whole_record(self, page: bytes, at: int, n_bytes: int, *, in_log: bool) -> bytes:
        """The record at ``at``, with what overflowed to other pages."""
        usable = self.page_bytes
        most = usable - 35
        if n_bytes <= most:
            return page[at : at + n_bytes]
        least = (usable - 12) * 32 // 255 - 23
        here = least + (n_bytes - least) % (usable - 4)
        if here > most:
            here = least
        parts = [page[at : at + here]]
        left = n_bytes - here
        number = int.from_bytes(page[at + here : at + here + 4], "big")
        while left > 0 and number > 0 and self._n_overflow_left > 0:
            self._n_overflow_left -= usable
            overflow = self._page_of_number(number, prefer_log=in_log)
            part = overflow[4 : 4 + min(left, usable - 4)]
            if not part:
                break
            parts.append(part)
            left -= len(part)
            number = int.from_bytes(overflow[:4], "big")
        return b"".join(parts)

    def _page_of_number(self, number: int, *, prefer_log: bool) -> bytes:
        offset = self._pages_in_log.get(number)
        in_file = (number - 1) * self.page_bytes
        if offset is not None and (prefer_log or in_file >= self._n_file_bytes):
            return self._read_page(offset, in_log=True)
        return self._read_page(in_file, in_log=False)

    def _read_page(self, offset: int, *, in_log: bool) -> bytes:
        stream = self._log if in_log else self._file
        assert stream is not None
        stream.seek(offset)
        return stream.read(self.page_bytes)

    def _frames(self) -> Iterator[tuple[int, int]]:
        """Offset and number of every page in the log."""
        if self._log is None:
            return
        step = _FRAME_HEADER_BYTES + self.page_bytes
        for offset in range(_LOG_HEADER_BYTES, self._n_log_bytes, step):
            self._log.seek(offset)
            yield offset + _FRAME_HEADER_BYTES, int.from_bytes(self._log.read(4), "big")

    def _find_page_size(self) -> int:
        self._file.seek(16)
        said = [int.from_bytes(self._file.read(2), "big")]
        if self._log is not None:
            self._log.seek(8)
            said.append(int.from_bytes(self._log.read(4), "big"))
        sizes = [65536 if size == 1 else size for size in said]
        return next((size for size in sizes if size in _PAGE_SIZES), DEFAULT_PAGE_BYTES)


def _last_text(record: bytes) -> bytes | None:
    """The last of the six columns of a record, when it is text."""
    n_header, at = _varint(record, 0)
    if not 0 < n_header <= len(record):
        return None
    kinds: list[int] = []
    while at < n_header and len(kinds) <= _N_COLUMNS:
        kind, at = _varint(record, at)
        kinds.append(kind)
    if len(kinds) != _N_COLUMNS or kinds[-1] < 13 or kinds[-1] % 2 == 0:
        return None
    n_text = (kinds[-1] - 13) // 2
    return record[len(record) - n_text :] if 0 < n_text <= len(record) - n_header else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """SQLite's integer of one to nine bytes, and the offset behind it; zeros behind the end."""
    value = 0
    for index in range(8):
        byte = data[at + index] if at + index < len(data) else 0
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + index + 1
    byte = data[at + 8] if at + 8 < len(data) else 0
    return value << 8 | byte, at + 9


def _size(stream: BinaryIO) -> int:
    return stream.seek(0, 2)


def log_of(path: Path) -> Path | None:
    """The write-ahead log beside ``path``, when there is one."""
    log = path.with_name(path.name + "-wal")
    return log if log.is_file() else None
