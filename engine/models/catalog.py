"""Resolves what a person types for a model: a known name, a folder, a file or a hub id."""

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import platformdirs

from engine.wire.catalog import (
    KNOWN_MODELS,
    KnownModel,
    added_folder,
    data_folder,
    find_known_model,
    is_complete,
    model_folder,
)
from engine.wire.config import ConfigError

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


class Source(StrEnum):
    """Where a model is read from."""

    FOLDER = "folder"
    GGUF = "gguf"
    HUB = "hub"


@dataclass(frozen=True)
class Reference:
    """A model, named and found, not yet opened."""

    name: str  # as typed
    source: Source
    location: str  # path of the folder or file, or hub id


def resolve(name: str) -> Reference:
    """What ``name`` refers to.

    Raises:
        ConfigError: nothing of that name, or it is known but not installed.
    """
    known = find_known_model(name)
    if known is not None:
        return _resolve_known(known)
    path = Path(name).expanduser()
    if path.is_dir():
        return Reference(name, Source.FOLDER, str(path))
    if path.is_file():
        if path.suffix.lower() == ".gguf":
            return Reference(name, Source.GGUF, str(path))
        raise ConfigError(f"{name} is a file but not a .gguf one: give the model's folder instead.")
    added = added_folder(user_data_folder(), name) if _HUB_ID.fullmatch(name) else None
    if added is not None and is_complete(added):
        return Reference(name, Source.FOLDER, str(added))
    if path.suffix.lower() == ".gguf" or name.startswith((".", "/", "~")) or "\\" in name:
        raise ConfigError(
            f"there is no model at {name}: check the path, or see `specscope models`."
        )
    if not _HUB_ID.fullmatch(name):
        raise ConfigError(
            f"{name!r} is no model: give a name from `specscope models`, a folder, a .gguf file "
            "or a hub id such as Qwen/Qwen2.5-0.5B-Instruct."
        )
    return Reference(name, Source.HUB, name)


def user_data_folder() -> Path:
    """Where added models are kept."""
    return data_folder(platformdirs.user_data_dir("specscope", appauthor=False))


def _resolve_known(known: KnownModel) -> Reference:
    if known.hub_id:
        return Reference(known.name, Source.HUB, known.hub_id)
    folder = model_folder(known, user_data_folder())
    if folder is not None and is_complete(folder):
        return Reference(known.name, Source.FOLDER, str(folder))
    if known.wheel:
        raise ConfigError(
            f"{known.name} is not installed: run `specscope models add {known.name}` once."
        )
    raise ConfigError(
        f"{known.name} is not part of this installation: reinstall specscope, or name another "
        f"model ({', '.join(model.name for model in KNOWN_MODELS if not model.bundled_folder)})."
    )
