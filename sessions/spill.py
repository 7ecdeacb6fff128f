"""Spill: room for the columns of a session that grows for hours, in files that nobody sees.

What is written to such room is in memory as long as somebody looks at it, and else on disk: the
pages of rows that are there to stay are let go of, and come back from the file, or from what the
system still holds of it, when they are read. So a long run costs disk, not memory.
"""

import mmap
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from engine.wire.catalog import data_folder

_LEAST_BYTES = 2**20
"""Smaller tables are not worth a file."""


class SpilledColumns:
    """Columns side by side in one file, each beginning at a page of its own."""

    def __init__(self, file: int, dtypes: Mapping[str, np.dtype[Any]], n_rows: int) -> None:
        """
        Args:
            file: descriptor of an empty file; it may be closed afterwards.

        Raises:
            OSError: the disk has no room. It is reserved at once: a page that finds none when it
                is written would end the process.
        """
        self._first: dict[str, int] = {}
        n_bytes = 0
        for column, dtype in dtypes.items():
            self._first[column] = n_bytes
            n_bytes += -(-n_rows * dtype.itemsize // mmap.PAGESIZE) * mmap.PAGESIZE
        assert sys.platform != "win32"
        os.posix_fallocate(file, 0, n_bytes)
        self._pages = mmap.mmap(file, n_bytes)
        self.arrays: dict[str, NDArray[Any]] = {
            column: np.frombuffer(self._pages, dtype, n_rows, self._first[column])
            for column, dtype in dtypes.items()
        }

    def let_go(self, n_rows: int) -> None:
        """Take the pages that the first ``n_rows`` fill out of the process's memory. What they hold
        stays, in the file."""
        for column in self.arrays:
            self.let_go_of(column, n_rows)

    def let_go_of(self, column: str, n_rows: int) -> None:
        """The same for one column."""
        n_bytes = n_rows * self.arrays[column].itemsize // mmap.PAGESIZE * mmap.PAGESIZE
        if n_bytes:
            self._pages.madvise(mmap.MADV_DONTNEED, self._first[column], n_bytes)


class Spill:
    """Makes room in files without a name, which are gone when nobody uses them any more, whatever
    ends the process."""

    def __init__(self, folder: Path) -> None:
        self._folder: Path | None = folder  # None once it could not be used

    @classmethod
    def of_user(cls) -> "Spill":
        """In the user's own cache folder: a folder for passing files may itself be memory."""
        cache = data_folder(platformdirs.user_cache_dir("specscope", appauthor=False))
        return cls(cache / "spill")

    def columns(self, dtypes: Mapping[str, np.dtype[Any]], n_rows: int) -> SpilledColumns | None:
        """Room for ``n_rows`` of such columns; None where memory serves better: for little, where
        the system cannot do it, and where the disk is full or may not be written."""
        n_bytes = n_rows * sum(dtype.itemsize for dtype in dtypes.values())
        if self._folder is None or n_bytes < _LEAST_BYTES or not _can_spill():
            return None
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._folder) as file:
                return SpilledColumns(file.fileno(), dtypes, n_rows)
        except OSError:  # and it would not go better for the next table
            self._folder = None
            return None


def _can_spill() -> bool:
    return hasattr(os, "posix_fallocate") and hasattr(mmap, "MADV_DONTNEED")
