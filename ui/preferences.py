"""Preferences: what the window remembers: theme, layouts, bookmarks, the last order."""

import contextlib
from pathlib import Path
from typing import Annotated, Any

import msgspec
import platformdirs

from engine.wire.catalog import data_folder

_MAX_BYTES = 4_000_000
_MAX_PROMPTS = 500_000  # characters of one's own prompts
_MAX_BOOKMARKED = 200  # sessions whose bookmarks are kept


Moment = Annotated[int, msgspec.Meta(ge=0, lt=2**62)]


class Remembered(msgspec.Struct, kw_only=True):
    """Everything that is remembered; a field that is not understood is left at its default."""

    theme: str = "system"
    geometry: str = ""  # of the window, base64
    layout: str = "watch"  # the preset in force
    layouts: dict[str, str] = msgspec.field(default_factory=dict)  # preset -> arrangement, base64
    bookmarks: dict[str, list[Moment]] = msgspec.field(default_factory=dict)  # path -> ns
    order: dict[str, Any] = msgspec.field(default_factory=dict)  # the run dialog's last fields
    shows_refused: bool = True


class Preferences:
    """One JSON file in the user's own folder. A file that cannot be read is as good as none; one
    that cannot be written is let be: nothing of a session is in it."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = preferences_path() if path is None else path
        self.values = self._read()

    def save(self) -> None:
        """Write what changed, beside and renamed."""
        bookmarks = self.values.bookmarks
        for name in list(bookmarks)[:-_MAX_BOOKMARKED]:
            del bookmarks[name]
        prompts = self.values.order.get("prompts")
        if isinstance(prompts, dict) and len(str(prompts.get("own", ""))) > _MAX_PROMPTS:
            prompts["own"] = ""  # the file would be too long to be read again
        unfinished = self.path.with_suffix(".part")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(msgspec.json.format(msgspec.json.encode(self.values), indent=1))
            unfinished.replace(self.path)
        except (OSError, ValueError, OverflowError):  # ValueError: a name that is no Unicode text
            with contextlib.suppress(OSError):
                unfinished.unlink(missing_ok=True)

    def _read(self) -> Remembered:
        """Field by field: one that is not understood does not cost the others."""
        try:
            if self.path.stat().st_size > _MAX_BYTES:
                return Remembered()
            stored = msgspec.json.decode(self.path.read_bytes(), type=dict[str, msgspec.Raw])
        except (OSError, ValueError, RecursionError):
            return Remembered()
        known: dict[str, Any] = {}
        for field in msgspec.structs.fields(Remembered):
            if field.name in stored:
                with contextlib.suppress(ValueError, RecursionError):
                    known[field.name] = msgspec.json.decode(stored[field.name], type=field.type)
        return Remembered(**known)


def preferences_path() -> Path:
    """Under $SPECSCOPE_DATA_DIR, or else the user's own configuration folder."""
    folder = data_folder(platformdirs.user_config_dir("specscope", appauthor=False))
    return folder / "window.json"
