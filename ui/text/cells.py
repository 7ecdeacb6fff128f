"""How many cells of a monospaced line a character takes, and what stands for one that must not be
drawn as it is."""

import unicodedata
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

TAB_CELLS = 4
"""A tab is this wide wherever it stands."""
NEWLINE = 10
TAB = 9
SPACE = 32
HELD_NEWLINE = 0x110000
"""A newline that does not break the line: one of a token that is not part of the text. No
character has this number."""

_JOINERS = frozenset({0x200C, 0x200D})  # without width and harmless: they belong to a cluster


@lru_cache(maxsize=65536)
def mark_of(code: int) -> str:
    """What stands for a control character, a direction mark or another invisible one: ``^[``,
    ``<202E>``; "" where the character itself can be drawn."""
    if code in (NEWLINE, TAB, HELD_NEWLINE) or code in _JOINERS:
        return ""
    if code < 32 or code == 127:
        return "^" + chr(code ^ 64)
    if unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return f"<{code:04X}>"
    return ""


@lru_cache(maxsize=65536)
def cells_of(code: int) -> int:
    """How many cells a character takes: 0 for what is drawn over the one before."""
    if code == TAB:
        return TAB_CELLS
    if code in (NEWLINE, HELD_NEWLINE):
        return 1  # a faint mark
    if mark := mark_of(code):
        return len(mark)
    if code in _JOINERS or unicodedata.category(chr(code)) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(chr(code)) in ("W", "F") else 1


def widths_of(codes: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The cells of many characters [n]."""
    widths = _ASCII[np.minimum(codes, 128)]
    others = np.flatnonzero(codes >= 128)
    if len(others):
        unique, inverse = np.unique(codes[others], return_inverse=True)
        found = np.fromiter((cells_of(code) for code in unique.tolist()), np.uint8, len(unique))
        widths[others] = found[inverse]
    return widths


def is_plain(text: str) -> bool:
    """Whether ``text`` can be drawn in one go: one cell a character, from left to right."""
    return text.isascii() and text.isprintable()


def clusters(codes: list[int]) -> list[tuple[int, int]]:
    """Ranges (first, behind the last) of characters that are drawn together: one with what is
    drawn over it, or a run that is read from right to left."""
    found: list[tuple[int, int]] = []
    was_rtl = False
    for index, code in enumerate(codes):
        is_rtl = code >= 0x590 and code < HELD_NEWLINE and _is_rtl(code)
        if found and (cells_of(code) == 0 or (is_rtl and was_rtl)):
            found[-1] = (found[-1][0], index + 1)
        else:
            found.append((index, index + 1))
        was_rtl = is_rtl or (was_rtl and cells_of(code) == 0)
    return found


def _is_rtl(code: int) -> bool:
    return unicodedata.bidirectional(chr(code)) in ("R", "AL")


_ASCII = np.array([cells_of(code) for code in range(128)] + [0], np.uint8)
