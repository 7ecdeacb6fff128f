"""A note that is too long for its line: fewer of its parts, and a sign that there is more."""

from bisect import bisect
from collections.abc import Callable, Sequence
from functools import partial

_SEPARATORS = (" · ", "&nbsp;&nbsp; ", ", ")
"""What notes put between their parts, the most important first."""
_MORE = " …"


def shortened(note: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning of ``note``, whole parts of it, that ``fits``; of a single part as many
    letters as do. Rich text is cut between parts alone, where no tag is open."""
    if fits(note):
        return note
    for separator in _SEPARATORS:
        beginning = partial(_parts, note.split(separator), separator)
        if n := _most(note.count(separator), beginning, fits):
            return beginning(n)
    if "<" in note or "&" in note:
        return note
    beginning = partial(_letters, note)
    n = _most(len(note) - 1, beginning, fits)
    return beginning(n) if n else ""


def _most(limit: int, beginning: Callable[[int], str], fits: Callable[[str], bool]) -> int:
    """The largest number up to ``limit`` whose beginning fits; 0 where none does. Found by halving:
    a name in a file from elsewhere may be of any length, and each look lays a text out."""
    return bisect(range(1, limit + 1), False, key=lambda n: not fits(beginning(n)))


def _parts(parts: Sequence[str], separator: str, n: int) -> str:
    return separator.join(parts[:n]) + _MORE


def _letters(note: str, n: int) -> str:
    return note[:n].rstrip() + "…"
