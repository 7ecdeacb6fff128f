"""A file appears under its name when it is whole, or not at all."""

import contextlib
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sessions.export.options import ExportError


@contextmanager
def written_beside(path: Path) -> Iterator[Path]:
    """A name beside ``path`` to write to; renamed to ``path`` when the block is left in peace,
    deleted when it is left by any exception, an interrupt included.

    Raises:
        ExportError: the folder is not there, the disk refuses, or the format a number.
    """
    if not path.parent.is_dir():
        raise ExportError(f"{path.parent} is no folder: {path.name} cannot be written there.")
    if path.is_dir():
        raise ExportError(f"{path} is a folder: name a file.")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield beside
        os.replace(beside, path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ExportError(f"{path} cannot be written: {reason}.") from error
    except OverflowError as error:
        raise ExportError(f"{path} cannot hold a number of this session: {error}.") from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()  # already renamed when all went well
