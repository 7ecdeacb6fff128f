"""The desktop entry: what makes the program appear among a Linux desktop's applications."""

import importlib.resources
import os
import shutil
import sys
from pathlib import Path

_NAME = "specscope"
"""Of the entry and of the icon; the window says it, too, so that the desktop knows it as both's."""
_SPECIAL = frozenset("\"'\\><~|&;$*?#()` ")
"""What makes a quoted argument of one, by the desktop entry specification."""


def data_home() -> Path:
    """Where the user's entries and icons are: $XDG_DATA_HOME, or ~/.local/share."""
    named = os.environ.get("XDG_DATA_HOME", "")
    return Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "share"


def install_desktop_entry(folder: Path) -> Path:
    """Write the entry and the icon under ``folder``; returns the entry's path.

    Raises:
        OSError: they cannot be written, or the program lies where no entry can point to.
    """
    resources = importlib.resources.files("resources")
    command = " ".join(map(_quoted, _command()))
    entry = folder / "applications" / f"{_NAME}.desktop"
    picture = folder / "icons" / "hicolor" / "scalable" / "apps" / f"{_NAME}.svg"
    for path in (entry, picture):
        path.parent.mkdir(parents=True, exist_ok=True)
    picture.write_bytes((resources / "icons" / f"{_NAME}.svg").read_bytes())
    text = (resources / f"{_NAME}.desktop").read_text(encoding="utf-8")
    entry.write_text(
        text.replace(f"Exec={_NAME} ", f"Exec={command} "),
        encoding="utf-8",
    )
    return entry


def _command() -> list[str]:
    """What starts this very program: a desktop need not have its environment on the path."""
    beside = shutil.which(_NAME, path=str(Path(sys.executable).parent))
    return [beside] if beside else [sys.executable, "-m", _NAME]


def _quoted(argument: str) -> str:
    if not argument.isprintable():  # a line break, or bytes that are no text
        raise OSError(f"{argument!r} cannot stand in a desktop entry")
    argument = argument.replace("%", "%%")
    if not _SPECIAL & set(argument):
        return argument
    escaped = "".join(f"\\{char}" if char in '"`$\\' else char for char in argument)
    return '"' + escaped.replace("\\", "\\\\") + '"'
