"""A note that is too long for its line: fewer of its parts, and a sign that there is more."""

from collections.abc import Callable

_SEPARATORS = (" · ", "&nbsp;&nbsp; ", ", ")
"""What notes put between their parts, the most important first."""
_MORE = " …"


def shortened(note: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning of ``note``, whole parts of it, that ``fits``; of a single part as many
    letters as do. Rich text is cut between parts alone, where no tag is open."""
    if fits(note):
        return note
    for separator in _SEPARATORS:
        parts = note.split(separator)
        for n in range(len(parts) - 1, 0, -1):
            candidate = separator.join(parts[:n]) + _MORE
            if fits(candidate):
                return candidate
    if "<" in note or "&" in note:
        return note
    return next(
        (cut for n in range(len(note) - 1, 0, -1) if fits(cut := note[:n].rstrip() + "…")), ""
    )
