"""Paths as somebody types them: "~nosuch" names no folder, a name may be too long to be asked for,
and where a model is looked for there may be none. All are said in a sentence."""

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


def model_problem(text: str) -> str:
    """Why nothing that was typed for a model can be one, as far as its path shows: an engine would
    load for seconds before it says so. "" for names, which the engine looks up."""
    if not text:
        return ""
    if problem := path_problem(text):
        return problem
    path = typed_path(text)
    if path.is_dir():
        has_config = (path / "config.json").is_file()
        return (
            "" if has_config else f"{_short(text)} holds no config.json: it is no model's folder."
        )
    is_gguf = path.suffix.lower() == ".gguf"
    if path.is_file():
        return "" if is_gguf else f"{_short(text)} is no .gguf file: give the model's folder."
    if is_gguf or text.startswith((".", "/", "~")) or "\\" in text:
        return f"There is no model at {_short(text)}: check the path."
    return ""


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
