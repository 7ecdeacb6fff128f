"""What a session ran on: versions, device, models. Kept with its file, so that a figure can be
traced to its cause."""

import platform
import sqlite3
from collections.abc import Mapping

import msgspec

from engine.wire.config import ConfigError, RunConfig
from engine.wire.events import ModelLoaded, Role, SessionStarted


class LoadedModel(msgspec.Struct, frozen=True, kw_only=True):
    """One of the session's models, as ``ModelLoaded`` told it."""

    role: Role
    name: str
    dtype: str
    device: str
    n_parameters: int


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Empty strings and None stand for what was not told."""

    python_version: str = ""
    platform: str = ""
    sqlite_version: str = ""
    specscope_version: str = ""
    torch_version: str = ""
    device_name: str = ""
    seed: int | None = None
    models: tuple[LoadedModel, ...] = ()
    file_hashes: dict[str, str] = {}  # name of a file -> its SHA-256, in hexadecimal

    def model_name(self, role: Role) -> str:
        """The name of a role's model; empty when there is none."""
        return next((model.name for model in self.models if model.role is role), "")


def this_environment(file_hashes: Mapping[str, str] | None = None) -> Environment:
    """What can be said before the engine has spoken."""
    return Environment(
        python_version=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        sqlite_version=sqlite3.sqlite_version,
        file_hashes=dict(file_hashes or {}),
    )


def with_start(environment: Environment, event: SessionStarted) -> Environment:
    """``environment`` with what the session's first event tells."""
    return msgspec.structs.replace(
        environment,
        specscope_version=event.specscope_version,
        torch_version=event.torch_version,
        device_name=event.device_name,
        seed=_seed(event.config_json),
    )


def with_model(environment: Environment, event: ModelLoaded) -> Environment:
    """``environment`` with one model more, or with another one in its role."""
    model = LoadedModel(
        role=event.role,
        name=event.name,
        dtype=event.dtype,
        device=event.device,
        n_parameters=event.n_parameters,
    )
    others = tuple(known for known in environment.models if known.role is not event.role)
    return msgspec.structs.replace(environment, models=(*others, model))


def _seed(config_json: str) -> int | None:
    """None where the settings cannot be read: they may be of another version."""
    try:
        return msgspec.json.decode(config_json, type=RunConfig).seed
    except (msgspec.MsgspecError, ConfigError, RecursionError, UnicodeError):
        return None
