"""TokenLayout: the text of many tokens broken into lines of cells; it only grows at its end.

Pure arrays, no painting. A line breaks behind a newline, or where it is full: behind the last space
or tab that fits, or inside a word that alone is too long. A space may hang over the edge.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ui.text.cells import HELD_NEWLINE, NEWLINE, SPACE, TAB, widths_of

FEWEST_COLUMNS = 8


class Growing:
    """An array that is appended to and cut at its end."""

    def __init__(self, dtype: type[np.generic]) -> None:
        self._values = np.empty(64, dtype)
        self.n = 0

    @property
    def values(self) -> NDArray:
        return self._values[: self.n]

    def append(self, values: NDArray | Sequence[int]) -> None:
        end = self.n + len(values)
        if end > len(self._values):
            grown = np.empty(max(end, len(self._values) * 3 // 2), self._values.dtype)
            grown[: self.n] = self.values
            self._values = grown
        self._values[self.n : end] = values
        self.n = end


class TokenLayout:
    """Items (tokens) of characters, on rows of ``columns`` cells."""

    def __init__(self, columns: int = 80) -> None:
        self._columns = max(columns, FEWEST_COLUMNS)
        self._codes = Growing(np.uint32)
        self._widths = Growing(np.uint8)
        self._ends = Growing(np.int32)  # of the items, in characters
        self._rows = Growing(np.int32)  # first character of each; the first row is always there
        self._rows.append([0])

    @property
    def columns(self) -> int:
        return self._columns

    @property
    def n_items(self) -> int:
        return self._ends.n

    @property
    def n_chars(self) -> int:
        return self._codes.n

    @property
    def n_rows(self) -> int:
        return self._rows.n

    # --- changing --------------------------------------------------------------------------------

    def append(self, texts: Sequence[str], breaks: NDArray[np.bool_]) -> None:
        """Add items. Those whose ``breaks`` is False hold their newlines back."""
        encoded = "".join(texts).encode("utf-32-le", "surrogatepass")
        codes = np.frombuffer(encoded, np.uint32).copy()
        lengths = np.fromiter(map(len, texts), np.int32, len(texts))
        is_held = np.repeat(~breaks, lengths) & (codes == NEWLINE)
        codes[is_held] = HELD_NEWLINE
        first = self._codes.n
        self._ends.append(np.cumsum(lengths, dtype=np.int32) + np.int32(first))
        self._codes.append(codes)
        self._widths.append(widths_of(codes))
        self._wrap()

    def truncate(self, n_items: int) -> None:
        """Keep the first items only."""
        if n_items >= self._ends.n:
            return
        n_chars = int(self._ends.values[n_items - 1]) if n_items else 0
        self._ends.n = n_items
        self._codes.n = self._widths.n = n_chars
        # The row that ends at the cut may have been broken for what stood behind it.
        self._rows.n = max(1, int(self._rows.values.searchsorted(np.int32(n_chars))) - 1)
        self._wrap()

    def set_columns(self, columns: int) -> bool:
        """Break lines anew; whether anything changed."""
        columns = max(columns, FEWEST_COLUMNS)
        if columns == self._columns:
            return False
        self._columns = columns
        self._rows.n = 1
        self._wrap()
        return True

    # --- asking ----------------------------------------------------------------------------------

    def row_range(self, row: int) -> tuple[int, int]:
        """The characters of a row: the first, and the one behind the last."""
        rows = self._rows.values
        last = int(rows[row + 1]) if row + 1 < len(rows) else self._codes.n
        return int(rows[row]), last

    def row_of(self, char: int) -> int:
        """The row that a character is on."""
        return int(self._rows.values.searchsorted(np.int32(char), "right")) - 1

    def cells(self, first: int, last: int) -> NDArray[np.int64]:
        """Where the characters of (a part of) a row begin, in cells from ``first``, and where the
        last one ends: [last - first + 1]."""
        edges = np.zeros(last - first + 1, np.int64)
        np.cumsum(self._widths.values[first:last], out=edges[1:])
        return edges

    def codes(self, first: int, last: int) -> list[int]:
        return self._codes.values[first:last].tolist()

    def char_at(self, row: int, cell: float) -> int:
        """The character that covers a cell of a row, at most the one behind its last."""
        first, last = self.row_range(row)
        edges = self.cells(first, last)
        return first + min(int(edges.searchsorted(cell, "right")) - 1, last - first)

    def item_at(self, char: int) -> int:
        """The item that a character belongs to; ``n_items`` behind the last one."""
        return int(self._ends.values.searchsorted(np.int32(char), "right"))

    def item_range(self, item: int) -> tuple[int, int]:
        """The characters of an item."""
        ends = self._ends.values
        return (int(ends[item - 1]) if item else 0), int(ends[item])

    def item_ends(self, first: int, last: int) -> list[int]:
        """Where the items ``first`` to ``last``, that one not included, end."""
        return self._ends.values[first:last].tolist()

    def text(self, first: int, last: int) -> str:
        """The characters as they came."""
        codes = self._codes.values[first:last].copy()
        codes[codes == HELD_NEWLINE] = NEWLINE
        return codes.tobytes().decode("utf-32-le", "surrogatepass")

    # --- inside ----------------------------------------------------------------------------------

    def _wrap(self) -> None:
        """Find the rows behind the last one there is; that one begins where it did."""
        begin = int(self._rows.values[-1])
        codes, widths = self._codes.values[begin:], self._widths.values[begin:]
        if not len(codes):
            return
        line_ends = np.flatnonzero(codes == NEWLINE) + 1  # behind the newline
        starts = np.concatenate(([0], line_ends))
        edges = np.zeros(len(codes) + 1, np.int64)
        np.cumsum(widths, out=edges[1:])
        ends = np.concatenate((line_ends - 1, [len(codes)]))  # the newline itself needs no room
        too_long = np.flatnonzero(edges[ends] - edges[starts] > self._columns)
        found = [starts[1:]]
        if len(too_long):
            is_gap = (codes == SPACE) | (codes == TAB)
            gaps = np.where(is_gap, np.arange(len(codes), dtype=np.int32), np.int32(-1))
            np.maximum.accumulate(gaps, out=gaps)
            last_gaps = memoryview(gaps.data)
            for line in too_long.tolist():
                broken = self._break(int(starts[line]), int(ends[line]), edges, last_gaps)
                found.append(np.array(broken, np.int64))
        rows = np.sort(np.concatenate(found)) if len(found) > 1 else found[0]
        self._rows.append(rows + begin)

    def _break(
        self, start: int, end: int, edges: NDArray[np.int64], last_gaps: memoryview
    ) -> list[int]:
        """Where the rows of a line begin that is too long, but for its first."""
        columns = self._columns
        found: list[int] = []
        # Without wide and joined characters a row's end need not be searched for.
        is_even = bool((edges[start + 1 : end + 1] - edges[start:end] == 1).all())
        while True:
            if is_even:
                full = start + columns
            else:
                limit = int(edges[start]) + columns
                full = start + int(edges[start : end + 1].searchsorted(limit, "right")) - 1
            if full >= end:
                return found
            gap = last_gaps[full]
            start = gap + 1 if gap >= start else max(full, start + 1)
            if start >= end:
                return found
            found.append(start)
