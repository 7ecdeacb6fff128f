"""Paths as somebody types them: "~nosuch" names no folder, and a name may be too long to be asked
for. Both are said in a sentence."""

import errno
import os
from pathlib import Path

_SHOWN = 60  # characters of what was typed
_ABSENT = (errno.ENOENT, errno.ENOTDIR)


class PathError(ValueError):
    """The path cannot be used; the message is a sentence."""


def typed_path(text: str) -> Path:
    """The path that was typed, whether or not something is there. Raises PathError where it can
    not even be asked for."""
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise PathError(f"{_short(text)}: there is no such home folder.") from None
    try:
        os.stat(path)
    except ValueError:  # a null character
        raise PathError(f"{_short(text)} cannot be a path.") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise PathError(f"{_short(text)} is too long for a path.") from None
        if error.errno not in _ABSENT:
            raise PathError(f"{_short(text)} cannot be read: {error.strerror}.") from None
    return path


def path_problem(text: str) -> str:
    """Why what was typed is no path; "" when it can be one."""
    try:
        typed_path(text)
    except PathError as error:
        return str(error)
    return ""


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
