"""Configurations of every kind: decoded here, or refused for a reason that is said."""

import socket

import pytest
from transformers import (
    BertConfig,
    DeepseekV3Config,
    FalconMambaConfig,
    Gemma3Config,
    Gemma3TextConfig,
    GPT2Config,
    JambaConfig,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    OlmoConfig,
    Phi3Config,
    Qwen2Config,
    Qwen3MoeConfig,
    RecurrentGemmaConfig,
    RwkvConfig,
    T5Config,
    WhisperConfig,
)

from engine.models import pretrained_config
from engine.models.catalog import Reference, Source
from engine.models.pretrained_config import (
    check_architecture,
    first_line,
    is_hub_reachable,
    is_local,
    source_arguments,
)
from engine.wire import hub
from engine.wire.config import ConfigError


@pytest.mark.parametrize(
    "config",
    [
        LlamaConfig(),
        MistralConfig(),
        Qwen2Config(),
        Qwen3MoeConfig(),
        Gemma3TextConfig(),
        GPT2Config(),
        Phi3Config(),
        OlmoConfig(),
    ],
    ids=lambda config: config.model_type,
)
def test_decoded_here(config):
    check_architecture(config, name="model")


@pytest.mark.parametrize(
    "config",
    [
        MambaConfig(),
        FalconMambaConfig(),
        JambaConfig(),
        RecurrentGemmaConfig(),
        RwkvConfig(),
        T5Config(),
        WhisperConfig(),
        BertConfig(),
        DeepseekV3Config(),
        Gemma3Config(),
        LlamaConfig(num_hidden_layers=1, layer_types=["chunked_attention"]),
    ],
    ids=lambda config: config.model_type,
)
def test_refused_with_a_reason(config):
    with pytest.raises(ConfigError) as caught:
        check_architecture(config, name="my-model")
    sentence = str(caught.value)
    assert sentence.startswith("my-model is of type ")
    assert sentence.endswith("such as Llama, Qwen, Mistral and Gemma.")


def test_where_transformers_is_to_look(monkeypatch, tmp_path):
    monkeypatch.setattr(pretrained_config, "is_hub_reachable", lambda: True)
    hub = Reference("a/b", Source.HUB, "a/b")
    folder = Reference("x", Source.FOLDER, str(tmp_path))
    file = Reference("y", Source.GGUF, str(tmp_path / "y.gguf"))
    assert source_arguments(hub) == {"pretrained_model_name_or_path": "a/b"}
    assert is_local(folder)
    assert source_arguments(folder)["local_files_only"]
    assert source_arguments(file)["gguf_file"] == "y.gguf"
    monkeypatch.setattr(pretrained_config, "is_hub_reachable", lambda: False)
    assert source_arguments(hub)["local_files_only"]


def test_the_hub_is_asked_once_and_briefly(monkeypatch):
    asked = []

    def refuse(address, timeout):
        asked.append((address, timeout))
        raise OSError

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(hub, "getproxies", dict)
    monkeypatch.setattr(pretrained_config.constants, "HF_HUB_OFFLINE", False)
    is_hub_reachable.cache_clear()
    try:
        assert not is_hub_reachable()
        assert not is_hub_reachable()
    finally:
        is_hub_reachable.cache_clear()
    ((address, timeout),) = asked
    assert address[1] == 443
    assert timeout <= 5


def test_first_lines():
    assert first_line(ValueError("one.\ntwo")) == "one."
    assert first_line(KeyError()) == "KeyError."
