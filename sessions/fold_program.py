"""The program of a process that folds its share of a session file: ``python -m
sessions.fold_program FILE SHARE SHARES FIRST LAST``.

The events are cut into pieces by their ordinals, and every so-manieth piece, packed, goes to
standard output. The first trouble ends it: whoever reads goes on event by event from there.
"""

import gc
import sys
from pathlib import Path
from typing import BinaryIO

from sessions.column_pieces import fold_piece
from sessions.session_file import SessionFile
from sessions.side_program import write_packet

PIECE_ORDINALS = 4096
"""Events of a piece, where none is missing: a millisecond of taking columns in."""


def fold_share(path: Path, share: int, n_shares: int, first: int, last: int, out: BinaryIO) -> None:
    """Write the pieces ``share``, ``share + n_shares``, ... of the events from the ordinal
    ``first`` to ``last``.

    Raises:
        SessionFileError: the file cannot be read.
        OSError: nobody listens any more.
    """
    with SessionFile.open(path) as file:
        begin, step = first + share * PIECE_ORDINALS, n_shares * PIECE_ORDINALS
        for at in range(begin, last + 1, step):
            write_packet(out, fold_piece(file, at - 1, at + PIECE_ORDINALS - 1))


def main(arguments: list[str]) -> None:
    share, n_shares, first, last = map(int, arguments[1:])
    fold_share(Path(arguments[0]), share, n_shares, first, last, sys.stdout.buffer)


if __name__ == "__main__":
    gc.disable()  # nothing here is a cycle, and the collector would look at millions of lists
    main(sys.argv[1:])
