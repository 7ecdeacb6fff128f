"""Builds a large model that computes what a small one does:
``python -m engine.models.inflate SOURCE SHAPE FOLDER``.

For timing alone: it has the bytes and the arithmetic of its shape and writes the small model's
text. Progress goes to standard output, one JSON object a line: {"done": n, "of": n} in bytes, at
the end {"folder": ..., "n_parameters": ...}, or {"error": ...} with exit status 2.
"""

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from engine.models.catalog import Source, resolve
from engine.models.checkpoint import check_folder
from engine.models.inflated_weights import InflatedWeights, Tensors
from engine.models.inflation import Inflation
from engine.models.sharded_file import SHARD_BYTES, Written, write_sharded
from engine.theory.presets import PRESETS, find_preset
from engine.theory.shape import ModelShape, count_parameters
from engine.wire.catalog import INFLATED_KEY, INFLATED_NOTE
from engine.wire.config import ConfigError

MAX_CONTEXT = 8192
"""Positions of an inflated model at most; beyond the small model's its text means nothing."""

_TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "generation_config.json")
_MODEL_TYPE = "llama"


def inflate(
    source: str,
    shape_name: str,
    folder: Path,
    *,
    shape: ModelShape | None = None,
    dtype: torch.dtype = torch.bfloat16,
    shard_bytes: int = SHARD_BYTES,
    say: Callable[[int, int], None] = lambda done, of: None,
) -> Written:
    """Write the model ``source``, laid into a shape, to the new folder ``folder``.

    Args:
        shape: None for the known one called ``shape_name``.
        say: told how many bytes of how many are written.

    Raises:
        ConfigError: there is no such model or shape, or the one does not fit the other.
    """
    shape = shape or _known_shape(shape_name)
    small_folder = _folder_of(source)
    config = json.loads((small_folder / "config.json").read_text(encoding="utf-8"))
    inflation = Inflation(_shape_of(config, source), shape)
    weights = InflatedWeights(inflation, _read(small_folder), dtype=dtype)
    folder.mkdir(parents=True)
    written = write_sharded(
        folder, weights.shapes(), weights.block, dtype=dtype, say=say, shard_bytes=shard_bytes
    )
    mark = {"source": source, "shape": shape_name, "note": INFLATED_NOTE}
    large = _large_config(config, inflation, dtype) | {INFLATED_KEY: mark}
    (folder / "config.json").write_text(json.dumps(large, indent=2), encoding="utf-8")
    for name in _TOKENIZER_FILES:
        if (small_folder / name).is_file():
            shutil.copyfile(small_folder / name, folder / name)
    (folder / "README.md").write_text(_card(source, shape_name, written), encoding="utf-8")
    return written


def _known_shape(name: str) -> ModelShape:
    preset = find_preset(name)
    if preset is None:
        raise ConfigError(f"{name} is no known shape: give one of {', '.join(PRESETS)}.")
    return preset.shape


def _folder_of(source: str) -> Path:
    reference = resolve(source)
    if reference.source is not Source.FOLDER:
        raise ConfigError(f"{source} is no model folder: only such can be inflated.")
    folder = Path(reference.location)
    check_folder(folder)
    return folder


def _shape_of(config: dict[str, Any], source: str) -> ModelShape:
    has_bias = config.get("attention_bias") or config.get("mlp_bias")
    if config.get("model_type") != _MODEL_TYPE or has_bias or INFLATED_KEY in config:
        raise ConfigError(f"{source} is no plain Llama without biases: only such can be inflated.")
    n_heads, hidden = config["num_attention_heads"], config["hidden_size"]
    sizes = {
        "n_layers": config["num_hidden_layers"],
        "hidden_size": hidden,
        "n_heads": n_heads,
        "n_kv_heads": config.get("num_key_value_heads") or n_heads,
        "head_dim": config.get("head_dim") or hidden // n_heads,
        "intermediate_size": config["intermediate_size"],
        "vocab_size": config["vocab_size"],
    }
    is_tied = bool(config.get("tie_word_embeddings"))
    n_parameters = count_parameters(has_tied_embeddings=is_tied, **sizes)
    return ModelShape(has_tied_embeddings=is_tied, n_parameters=n_parameters, **sizes)


def _read(folder: Path) -> Tensors:
    """All tensors of the small model, as stored."""
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 - no mapping
                tensors[name] = file.get_tensor(name)
    return tensors


def _large_config(
    config: dict[str, Any], inflation: Inflation, dtype: torch.dtype
) -> dict[str, Any]:
    large = inflation.large
    rope = dict(config.get("rope_parameters") or {"rope_type": "default"})
    rope.setdefault("rope_theta", config.get("rope_theta", 10000.0))
    if rope.get("rope_type", "default") != "default":
        raise ConfigError("only plain rotary positions can be inflated.")
    rope["rope_theta"] = inflation.rotary_base(float(rope["rope_theta"]))
    return config | {
        "hidden_size": large.hidden_size,
        "num_hidden_layers": large.n_layers,
        "num_attention_heads": large.n_heads,
        "num_key_value_heads": large.n_kv_heads,
        "head_dim": large.head_dim,
        "intermediate_size": large.intermediate_size,
        "vocab_size": large.vocab_size,
        "tie_word_embeddings": large.has_tied_embeddings,
        "rms_norm_eps": config.get("rms_norm_eps", 1e-6) * inflation.norm_factor**2,
        "rope_parameters": rope,
        "max_position_embeddings": max(MAX_CONTEXT, config.get("max_position_embeddings", 0)),
        "dtype": str(dtype).removeprefix("torch."),
    }


def _card(source: str, shape_name: str, written: Written) -> str:
    return (
        f"# {source} in the shape of {shape_name}: for timing only\n\n"
        f"This model has {written.n_values:,} parameters and writes exactly what {source} writes. "
        f"The weights of {source} lie in it among zeros, and random numbers fill every place that "
        "cannot reach the result, so that it costs the memory traffic and the arithmetic of its "
        "shape. It was built by `specscope models inflate` to measure speed. It says nothing about "
        "the quality of any model of this size.\n"
    )


def main() -> int:
    """Inflate as the arguments say; the exit status."""

    def say(done: int, of: int) -> None:
        print(json.dumps({"done": done, "of": of}), flush=True)

    source, shape_name, folder = sys.argv[1:]
    try:
        written = inflate(source, shape_name, Path(folder), say=say)
    except (ConfigError, OSError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return 2
    print(json.dumps({"folder": folder, "n_parameters": written.n_values}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
