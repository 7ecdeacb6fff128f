"""Choices made by timing, remembered: a choice changes the last bits of a result, so a run is
repeated exactly only where it is made once."""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import platformdirs

from engine.wire.catalog import data_folder

_MAX_BYTES = 16_384  # a longer file is none of ours


class _Kept(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The one file of a choice: all that it depends on, and what was chosen."""

    facts: dict[str, str]
    choice: str


def choices_folder() -> Path:
    """Where choices are kept: under $SPECSCOPE_DATA_DIR, or else the user's own cache folder."""
    return data_folder(platformdirs.user_cache_dir("specscope", appauthor=False)) / "choices"


class Choices:
    """The choices of one model, and where they came from. Without a ``folder`` none is kept.

    A file that is broken, or cannot be read or written, costs a measurement and nothing else.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._n_remembered = self._n_measured = self._n_lost = 0

    @classmethod
    def of_user(cls) -> "Choices":
        return cls(choices_folder())

    @property
    def note(self) -> str:
        """Where the choices came from; empty when none was asked for."""
        if self._n_lost:
            return "measured now and not remembered: its folder cannot be written"
        if self._n_measured:
            return "measured now and remembered" if self._folder else "measured now"
        return "as measured before" if self._n_remembered else ""

    def choose(
        self, facts: Mapping[str, str], options: Sequence[str], measure: Callable[[], str]
    ) -> str:
        """One of ``options``: what was chosen before under the same ``facts``, else what
        ``measure`` says."""
        facts = {**facts, "among": " ".join(options)}
        path = None
        if self._folder is not None:
            digest = hashlib.sha256(msgspec.json.encode(facts, order="sorted")).hexdigest()
            path = self._folder / f"{digest[:32]}.json"
            if (choice := _read(path, facts, options)) is not None:
                self._n_remembered += 1
                return choice
        choice = measure()
        self._n_measured += 1
        if path is None:
            return choice
        if not _write(path, _Kept(facts, choice), options):
            self._n_lost += 1
        # Another process may have been first: what is kept counts.
        return _read(path, facts, options) or choice


def _read(path: Path, facts: Mapping[str, str], options: Sequence[str]) -> str | None:
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1)
        kept = msgspec.json.decode(text, type=_Kept) if len(text) <= _MAX_BYTES else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    is_ours = kept is not None and kept.facts == facts and kept.choice in options
    return kept.choice if kept is not None and is_ours else None


def _write(path: Path, kept: _Kept, options: Sequence[str]) -> bool:
    """All of the file or none of it, and the first writer's; a broken file is replaced."""
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".choice-")
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(kept, order="sorted")))
        try:
            os.link(temporary, path)
        except OSError:  # there is one, or this file system has no links
            if _read(path, kept.facts, options) is None:
                os.replace(temporary, path)
    except OSError:
        return False
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):  # replaced
                os.unlink(temporary)
    return True
