"""Rows: one line of a document, with the tokens on it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sessions.token_trail import TrailKind
from ui.text.cells import NEWLINE, SPACE
from ui.text.token_document import Place, TokenDocument

KINDS = tuple(TrailKind)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of a token that is on a row: ``first`` to ``last`` of the row's characters, that one
    not included; ``offset`` characters of it stand on rows before."""

    item: int
    kind: TrailKind
    step: int
    first: int
    last: int
    offset: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class Row:
    """``edges`` are the cells where each character begins, and where the last one ends."""

    codes: list[int]
    edges: list[int]
    pieces: list[Piece]

    def runs(self, alike: Callable[[Piece], _T]) -> Iterator[tuple[_T, int, int]]:
        """Neighbours for which ``alike`` gives the same: that, and their characters."""
        number, pieces = 0, self.pieces
        while number < len(pieces):
            same, first = alike(pieces[number]), pieces[number].first
            while number + 1 < len(pieces) and alike(pieces[number + 1]) == same:
                number += 1
            yield same, first, pieces[number].last
            number += 1

    def trimmed(self, first: int, last: int) -> tuple[int, int]:
        """Characters ``first`` to ``last`` without the spaces at both ends."""
        codes = self.codes
        while first < last and codes[first] == SPACE:
            first += 1
        while last > first and codes[last - 1] in (SPACE, NEWLINE):
            last -= 1
        return first, last

    def selected(self, piece: Piece, start: Place, end: Place) -> tuple[int, int]:
        """Which characters of a piece lie between two places."""
        n = piece.last - piece.first
        a, b = 0, n
        if piece.item <= start[0]:
            a = n if piece.item < start[0] else start[1] - piece.offset
        if piece.item >= end[0]:
            b = 0 if piece.item > end[0] else end[1] - piece.offset
        a, b = min(max(a, 0), n), min(max(b, 0), n)
        return piece.first + a, piece.first + b


def row_of(document: TokenDocument, number: int) -> Row:
    """A row, its block laid out if it was not yet."""
    tokens = document.tokens
    assert tokens is not None
    index = document.block_of_row(number)
    layout, block = document.lay(index), document.blocks[index]
    first, last = layout.row_range(number - block.row)
    edges = layout.cells(first, last).tolist()
    pieces: list[Piece] = []
    if last > first:
        item = layout.item_at(first)
        ends = layout.item_ends(item, layout.item_at(last - 1) + 1)
        place = block.first + item
        kinds = tokens.kind[place : place + len(ends)].tolist()
        steps = tokens.step[place : place + len(ends)].tolist()
        begin = layout.item_range(item)[0]
        for number_in_row, (end, kind, step) in enumerate(zip(ends, kinds, steps, strict=True)):
            a, b = max(begin, first), min(end, last)
            if a < b:
                whole = a == begin and b == end
                pieces.append(
                    Piece(place + number_in_row, KINDS[kind], step, a - first, b - first,
                          a - begin, whole)
                )  # fmt: skip
            begin = end
    return Row(layout.codes(first, last), edges, pieces)
