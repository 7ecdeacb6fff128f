"""Reads a model's configuration and refuses, before any weight is read, what cannot run here."""

import inspect
from functools import cache
from pathlib import Path
from typing import Any

from huggingface_hub import constants
from huggingface_hub.errors import HFValidationError
from transformers import AutoConfig
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

from engine.models.catalog import Reference, Source
from engine.models.checkpoint import check_gguf
from engine.models.pretrained_gguf import gguf_errors
from engine.wire.config import ConfigError
from engine.wire.hub import may_answer

_LAYER_KINDS = frozenset({"full_attention", "sliding_attention", "attention"})
# What a configuration says when its layers keep something other than keys and values per token.
_FOREIGN_FIELDS = (
    ("kv_lora_rank", "compresses its keys and values (latent attention)"),
    ("num_kv_shared_layers", "shares keys and values between layers"),
    ("attention_chunk_size", "attends in chunks"),
    ("state_size", "is a state-space model"),
    ("ssm_cfg", "is a state-space model"),
    ("mamba_d_state", "mixes attention with state-space layers"),
    ("layers_block_type", "mixes attention with other layers"),
    ("vision_config", "takes pictures as well as text"),
    ("audio_config", "takes sound as well as text"),
)


def source_arguments(reference: Reference) -> dict[str, Any]:
    """Keywords that tell transformers' ``from_pretrained`` where the model is."""
    if reference.source is Source.GGUF:
        path = Path(reference.location)
        return {
            "pretrained_model_name_or_path": str(path.parent),
            "gguf_file": path.name,
            "local_files_only": True,
        }
    arguments: dict[str, Any] = {"pretrained_model_name_or_path": reference.location}
    if is_local(reference):
        arguments["local_files_only"] = True
    return arguments


def is_local(reference: Reference) -> bool:
    """Whether its files are to be had from this machine alone, the hub's cache included."""
    return reference.source is not Source.HUB or not is_hub_reachable()


@cache
def is_hub_reachable() -> bool:
    """Whether the hub answers; asked once."""
    return may_answer(constants.ENDPOINT, is_offline=constants.HF_HUB_OFFLINE)


def read_config(reference: Reference, *, trust_remote_code: bool) -> Any:
    """The transformers configuration of a supported model.

    Raises:
        ConfigError: it cannot be found or read, or the model is of a kind that is not decoded here.
    """
    if reference.source is Source.FOLDER and not Path(reference.location, "config.json").is_file():
        raise ConfigError(
            f"{reference.location} holds no config.json, so it is no model folder: give the folder "
            "that has config.json, *.safetensors and tokenizer.json."
        )
    if reference.source is Source.GGUF:
        check_gguf(Path(reference.location))
    try:
        with gguf_errors(reference):
            config = AutoConfig.from_pretrained(
                **source_arguments(reference), trust_remote_code=trust_remote_code
            )
    except (OSError, HFValidationError) as error:
        raise _unreachable(reference, error) from error
    except (ValueError, KeyError, TypeError, ImportError) as error:
        raise ConfigError(
            f"the configuration of {reference.name} cannot be used: {first_line(error)}"
        ) from error
    check_architecture(config, name=reference.name)
    return config


def check_architecture(config: Any, *, name: str) -> None:
    """Raise ConfigError unless ``config`` describes a decoder-only model whose every layer attends
    to all positions or to a sliding window."""
    kind = str(getattr(config, "model_type", "unknown"))
    if getattr(config, "is_encoder_decoder", False):
        raise _unsupported(name, kind, "has an encoder and a decoder")
    if config.get_text_config() is not config:
        raise _unsupported(name, kind, "takes more than text")
    if getattr(config, "is_decoder", None) is False and not kind.startswith("gpt_neox"):
        raise _unsupported(name, kind, "looks at tokens on both sides")
    settings = vars(config)
    for field, description in _FOREIGN_FIELDS:
        if settings.get(field):
            raise _unsupported(name, kind, description)
    layer_types = getattr(config, "layer_types", None) or ()
    foreign = sorted(set(layer_types) - _LAYER_KINDS)
    if foreign:
        raise _unsupported(name, kind, f"has layers of the kind {foreign[0]}")
    if getattr(config, "auto_map", None):  # code of its own: the probe after loading decides
        return
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise _unsupported(name, kind, "does not generate text token by token")
    model_class: Any = MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    if isinstance(model_class, tuple):
        model_class = model_class[0]
    if getattr(model_class, "_is_stateful", False):
        raise _unsupported(name, kind, "keeps a state that cannot be rolled back")
    if not getattr(model_class, "_supports_attention_backend", False):
        raise _unsupported(name, kind, "does not let its attention be replaced")
    if "position_ids" not in inspect.signature(model_class.forward).parameters:
        raise _unsupported(name, kind, "does not take token positions")


def first_line(error: BaseException) -> str:
    """The first line of what went wrong, closed with a full stop."""
    text = str(error).strip().splitlines()
    return (text[0].rstrip(".") if text else type(error).__name__) + "."


def _unsupported(name: str, kind: str, why: str) -> ConfigError:
    return ConfigError(
        f"{name} is of type {kind}, which {why}: only decoder-only models with full or "
        "sliding-window "
        "attention can be decoded here, such as Llama, Qwen, Mistral and Gemma."
    )


def _unreachable(reference: Reference, error: BaseException) -> ConfigError:
    if reference.source is not Source.HUB:
        return ConfigError(f"{reference.name} cannot be read: {first_line(error)}")
    tried = "" if reference.name == reference.location else f" ({reference.location})"
    if is_hub_reachable():
        reason = f"the Hugging Face hub did not give it: {first_line(error)}"
    else:
        reason = "it is not in the cache of the Hugging Face hub, which cannot be reached."
    return ConfigError(
        f"{reference.name}{tried} is no folder here, and {reason} Check the name and the "
        "connection, or pick an installed model from `specscope models`."
    )
