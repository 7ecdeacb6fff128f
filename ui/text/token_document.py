"""TokenDocument: the text of a sequence of any length, laid out where somebody looks.

The tokens lie in blocks of some thousands; a block is broken into lines when it is first seen, and
is taken to be as high as blocks are on average until then. A block ends behind a newline where one
is near. Places in the text are (token, character within it), which no new line break moves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ui.text.token_layout import TokenLayout

BLOCK_ITEMS = 4096
_LOOK_FOR_NEWLINE = 256
_ITEMS_PER_ROW = 10.0  # a guess, while nothing was laid out
_COMPARED = 8192  # tokens at the end that are compared one by one
_STRIDE = 97

Place = tuple[int, int]
"""A token, and a character within it."""


class Tokens(Protocol):
    """What a document shows: one entry per token."""

    @property
    def kind(self) -> NDArray[np.int8]: ...

    @property
    def step(self) -> NDArray[np.int32]: ...

    @property
    def code(self) -> NDArray[np.int32]: ...

    def texts(self, first: int, last: int) -> list[str]: ...

    def __len__(self) -> int: ...


@dataclass(slots=True)
class Block:
    """Tokens ``first`` to ``last``, that one not included. ``row`` is its first row's number."""

    first: int
    last: int
    row: int = 0
    layout: TokenLayout | None = None


class TokenDocument:
    """Blocks of tokens. ``breaks`` says of kinds which of them break lines by their newlines."""

    def __init__(self, breaks: Callable[[NDArray[np.int8]], NDArray[np.bool_]]) -> None:
        self.tokens: Tokens | None = None
        self.blocks: list[Block] = []
        self._breaks = breaks
        self._columns = 80
        self._n_rows = 0

    @property
    def n_items(self) -> int:
        return self.blocks[-1].last if self.blocks else 0

    @property
    def n_rows(self) -> int:
        """Rows, those not laid out yet by estimate."""
        return self._n_rows

    # --- changing --------------------------------------------------------------------------------

    def show(self, tokens: Tokens) -> int:
        """Show these tokens; what they have in common with the ones before is kept. Returns how
        many that were."""
        n_common = 0 if self.tokens is None else common_start(self.tokens, tokens)
        self._truncate(n_common)
        self.tokens = tokens
        self._extend(len(tokens))
        self._number()
        return n_common

    def set_columns(self, columns: int) -> bool:
        """Break lines anew as blocks are seen; whether anything changed."""
        if columns == self._columns:
            return False
        self._columns = columns
        for block in self.blocks:
            block.layout = None
        self._number()
        return True

    def lay(self, index: int) -> TokenLayout:
        """The layout of a block, made if there is none yet."""
        block = self.blocks[index]
        if block.layout is None:
            block.layout = TokenLayout(self._columns)
            self._append(block, block.first)
            self._number()
        return block.layout

    # --- asking ----------------------------------------------------------------------------------

    def block_of_row(self, row: int) -> int:
        """The block that a row is in."""
        return _last_at_most([block.row for block in self.blocks], row)

    def block_of_item(self, item: int) -> int:
        return _last_at_most([block.first for block in self.blocks], item)

    def n_rows_of(self, index: int) -> int:
        """Rows of a block, by estimate while it is not laid out."""
        last = self.blocks[index + 1].row if index + 1 < len(self.blocks) else self._n_rows
        return last - self.blocks[index].row

    def row_of(self, item: int) -> int:
        """The row that a token begins on; lays its block out."""
        index = self.block_of_item(item)
        layout, block = self.lay(index), self.blocks[index]
        return block.row + layout.row_of(layout.item_range(item - block.first)[0])

    def place_at(self, row: int, cell: float) -> Place:
        """What covers a cell of a row; the end of the row where nothing does."""
        index = self.block_of_row(row)
        layout, block = self.lay(index), self.blocks[index]
        inside = min(max(row - block.row, 0), layout.n_rows - 1)
        first, last = layout.row_range(inside)
        char = layout.char_at(inside, cell)
        if char >= last > first and inside + 1 < layout.n_rows:
            char = last - 1  # what is behind it stands on the next row
        item = layout.item_at(char)
        if item >= layout.n_items:
            return block.last, 0
        return block.first + item, char - layout.item_range(item)[0]

    def text(self, start: Place, end: Place) -> str:
        """The text between two places: what was rejected or discarded is left out, unless there is
        nothing else."""
        if self.tokens is None or start >= end:
            return ""
        first, last = start[0], min(end[0] + 1, len(self.tokens))
        parts = self.tokens.texts(first, last)
        if end[0] < last:
            parts[-1] = parts[-1][: end[1]]
        parts[0] = parts[0][start[1] :]
        belongs = self._breaks(self.tokens.kind[first:last])
        kept = [part for part, is_text in zip(parts, belongs, strict=True) if is_text]
        return "".join(kept) or "".join(parts)

    # --- inside ----------------------------------------------------------------------------------

    def _truncate(self, n_items: int) -> None:
        while self.blocks and self.blocks[-1].first >= n_items:
            self.blocks.pop()
        if self.blocks and self.blocks[-1].last > n_items:
            block = self.blocks[-1]
            block.last = n_items
            if block.layout is not None:
                block.layout.truncate(n_items - block.first)

    def _extend(self, n_items: int) -> None:
        """Into the last block while it has room, then into new ones."""
        while self.n_items < n_items:
            first = self.n_items
            if not self.blocks or self._is_full(self.blocks[-1]):
                self.blocks.append(Block(first, first))
            block = self.blocks[-1]
            block.last = self._end_of_block(block, n_items)
            if block.layout is not None:
                self._append(block, first)

    def _is_full(self, block: Block) -> bool:
        return block.last - block.first >= BLOCK_ITEMS and (
            block.last - block.first >= BLOCK_ITEMS + _LOOK_FOR_NEWLINE
            or self._ends_line(block.last - 1, block.last) is not None
        )

    def _end_of_block(self, block: Block, n_items: int) -> int:
        wanted = max(block.first + BLOCK_ITEMS, block.last)
        if n_items <= wanted:
            return n_items
        latest = min(n_items, block.first + BLOCK_ITEMS + _LOOK_FOR_NEWLINE)
        found = self._ends_line(wanted - 1, latest)
        return latest if found is None else found + 1

    def _ends_line(self, first: int, last: int) -> int | None:
        """The first of these tokens that ends with a newline that breaks the line."""
        assert self.tokens is not None
        breaks = self._breaks(self.tokens.kind[first:last])
        for index, text in enumerate(self.tokens.texts(first, last)):
            if breaks[index] and text.endswith("\n"):
                return first + index
        return None

    def _append(self, block: Block, first: int) -> None:
        assert self.tokens is not None
        assert block.layout is not None
        kinds = self.tokens.kind[first : block.last]
        block.layout.append(self.tokens.texts(first, block.last), self._breaks(kinds))

    def _number(self) -> None:
        """Give each block its first row."""
        laid = [(b.last - b.first, _height(b.layout)) for b in self.blocks if b.layout is not None]
        n_items, n_rows = (sum(column) for column in zip(*laid, strict=True)) if laid else (0, 0)
        per_row = n_items / n_rows if n_rows else _ITEMS_PER_ROW
        row = 0
        for index, block in enumerate(self.blocks):
            block.row = row
            is_last = index == len(self.blocks) - 1
            if block.layout is None:
                row += max(1, round((block.last - block.first) / per_row))
            else:
                row += block.layout.n_rows if is_last else _height(block.layout)
        self._n_rows = row


def common_start(old: Tokens, new: Tokens) -> int:
    """How many tokens both begin with. Text that only grows differs near its end; whatever differs
    elsewhere has nothing in common."""
    n = min(len(old), len(new))
    late = max(0, n - _COMPARED)
    pairs: list[tuple[NDArray[Any], NDArray[Any]]] = [
        (old.kind, new.kind),
        (old.step, new.step),
        (old.code, new.code),
    ]
    if any(not np.array_equal(a[:late:_STRIDE], b[:late:_STRIDE]) for a, b in pairs):
        return 0
    differs = np.zeros(n - late, bool)
    for one, other in pairs:
        differs |= one[late:n] != other[late:n]
    found = np.flatnonzero(differs)
    if len(found):
        n = late + int(found[0])
    probe = max(0, n - 32)  # numbers of texts mean something within one session only
    is_same = old.texts(probe, n) == new.texts(probe, n)
    return n if is_same and (n > late or not late) else 0


def _height(layout: TokenLayout) -> int:
    """Rows of a block that has another behind it: the empty one behind its last newline is that
    one's first."""
    first, last = layout.row_range(layout.n_rows - 1)
    return layout.n_rows - (first == last and layout.n_rows > 1)


def _last_at_most(values: list[int], value: int) -> int:
    return max(0, int(np.searchsorted(np.array(values), value, "right")) - 1)
