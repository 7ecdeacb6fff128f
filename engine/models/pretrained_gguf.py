"""Reads the weights of a GGUF file into a transformers model, dequantised."""

import inspect
import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM
from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

from engine.models.catalog import Reference, Source
from engine.wire.config import ConfigError


@contextmanager
def gguf_errors(reference: Reference) -> Iterator[None]:
    """Turns what a damaged GGUF file makes its readers raise into a ConfigError."""
    try:
        yield
    except (ValueError, LookupError, struct.error, MemoryError, OverflowError, TypeError) as error:
        if reference.source is not Source.GGUF or isinstance(error, ConfigError):
            raise
        if "not supported" in str(error):
            raise ConfigError(f"{reference.name} cannot be used: {error}") from error
        raise ConfigError(
            f"{reference.name} is truncated or damaged: its tables cannot be read, download it "
            "again."
        ) from error


def load_gguf_model(file: Path, config: Any, *, dtype: torch.dtype, attention: str) -> Any:
    """A transformers model with the file's weights in ``dtype``, on the CPU."""
    with torch.device("meta"):
        skeleton = AutoModelForCausalLM.from_config(config)
    options: dict[str, Any] = {"return_tensors": True, "model_to_load": skeleton}
    if "torch_dtype" in inspect.signature(load_gguf_checkpoint).parameters:
        options["torch_dtype"] = dtype
    with redirect_stderr(io.StringIO()):  # a progress bar that cannot be switched off
        tensors = load_gguf_checkpoint(str(file), **options)["tensors"]
    model = AutoModelForCausalLM.from_config(config, attn_implementation=attention, dtype=dtype)
    missing, unexpected = model.load_state_dict(
        {name: tensor.to(dtype) for name, tensor in tensors.items()}, strict=False
    )
    model.tie_weights()
    tied = _tied_names(model)
    missing = [name for name in missing if name not in tied]
    if missing or unexpected:
        name = (missing or unexpected)[0]
        raise ConfigError(
            f"{file} does not fit its own description: {name} is "
            f"{'missing' if missing else 'not part of the model'}. Use the safetensors of the "
            "model."
        )
    return model


def _tied_names(model: Any) -> frozenset[str]:
    names = getattr(model, "_tied_weights_keys", None) or ()
    return frozenset(names) if model.config.tie_word_embeddings else frozenset()
