"""What a session ran on is gathered as the engine tells it."""

import platform

import pytest

from engine.wire.events import ModelLoaded, Role, SessionStarted
from sessions.environment import Environment, this_environment, with_model, with_start


def started(config_json: str = "{}") -> SessionStarted:
    return SessionStarted(
        schema_version=1,
        started_unix_ns=1,
        specscope_version="0.9",
        torch_version="2.1",
        device_name="a device",
        config_json=config_json,
    )


def loaded(role: Role, name: str) -> ModelLoaded:
    return ModelLoaded(
        role=role,
        name=name,
        n_parameters=10,
        vocab_size=8,
        context_length=64,
        dtype="float32",
        device="cpu",
        weight_bytes=40,
        load_ns=1,
    )


def test_this_process_is_described() -> None:
    environment = this_environment({"a": "ff"})
    assert environment.python_version == platform.python_version()
    assert environment.sqlite_version
    assert environment.file_hashes == {"a": "ff"}
    assert environment.model_name(Role.TARGET) == ""


def test_the_engines_word_is_added() -> None:
    environment = with_start(this_environment(), started('{"seed": 12}'))
    assert (environment.specscope_version, environment.torch_version) == ("0.9", "2.1")
    assert (environment.device_name, environment.seed) == ("a device", 12)
    assert environment.python_version == platform.python_version()


@pytest.mark.parametrize("config_json", ["", "[]", "{", '{"gamma": 999}', "[" * 100_000])
def test_settings_that_cannot_be_read_have_no_seed(config_json: str) -> None:
    assert with_start(Environment(), started(config_json)).seed is None


def test_each_role_has_one_model() -> None:
    environment = Environment()
    for role, name in ((Role.TARGET, "t"), (Role.DRAFT, "old"), (Role.DRAFT, "new")):
        environment = with_model(environment, loaded(role, name))
    assert environment.model_name(Role.TARGET) == "t"
    assert environment.model_name(Role.DRAFT) == "new"
    assert len(environment.models) == 2
