"""Turns a GGUF file into a model folder: `python -m engine.models.convert FILE FOLDER`.

Transformers reads GGUF in half a minute and does not write models read from it; the folder made
here, safetensors with configuration and tokenizer, loads in a second. Progress goes to standard
output, one JSON object a line: {"stage": ..., "done": n, "of": n}, at the end {"folder": ...,
"dtype": ...}, or {"error": ...} with exit status 2.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file

from engine.kv.transformers_cache import ATTENTION_NAME
from engine.models.catalog import Reference, Source
from engine.models.pretrained_config import read_config
from engine.models.pretrained_gguf import gguf_errors, load_gguf_model
from engine.models.pretrained_tokenizer import read_backend
from engine.wire.config import ConfigError

N_STAGES = 4
_N_COMPARED = 256  # tokens on which bfloat16 must choose like float32


def convert(file: Path, folder: Path, *, say: Callable[[str, int], None]) -> torch.dtype:
    """Write the model in ``file`` to ``folder``; ``say`` is told each stage and its number.

    The weights are stored in bfloat16 if, on made-up tokens, that changes no choice of a token,
    and in float32 otherwise.

    Returns:
        The dtype of the stored weights.

    Raises:
        ConfigError: the file cannot be read, or the model is of an unsupported kind.
    """
    reference = Reference(file.stem, Source.GGUF, str(file))
    say("reading the configuration", 0)
    config = read_config(reference, trust_remote_code=False)
    say("reading the tokenizer", 1)
    backend = read_backend(reference, trust_remote_code=False)
    say("reading the weights", 2)
    with gguf_errors(reference):
        module = load_gguf_model(file, config, dtype=torch.float32, attention=ATTENTION_NAME)
    say("writing the folder", 3)
    module.eval().requires_grad_(False)
    dtype = _narrowest_dtype(module)
    folder.mkdir(parents=True, exist_ok=True)
    tied = set(getattr(module, "_tied_weights_keys", None) or ())
    is_tied = bool(config.tie_word_embeddings)
    tensors = {
        name: tensor.to(dtype).contiguous().clone()
        for name, tensor in module.state_dict().items()
        if not (is_tied and name in tied)
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    _write_config(config, folder, architecture=type(module).__name__, dtype=dtype)
    backend.save_pretrained(folder)
    return dtype


def _narrowest_dtype(module: Any) -> torch.dtype:
    with torch.inference_mode():
        generator = torch.Generator().manual_seed(0)
        ids = torch.randint(module.config.vocab_size, (1, _N_COMPARED), generator=generator)
        choices = module(ids).logits.argmax(-1)
        rounded = {name: tensor.bfloat16() for name, tensor in module.state_dict().items()}
        exact = {name: tensor.clone() for name, tensor in module.state_dict().items()}
        module.load_state_dict(rounded)
        is_equal = torch.equal(module(ids).logits.argmax(-1), choices)
        module.load_state_dict(exact)
    return torch.bfloat16 if is_equal else torch.float32


def _write_config(config: Any, folder: Path, *, architecture: str, dtype: torch.dtype) -> None:
    settings = config.to_dict()
    settings = {key: value for key, value in settings.items() if not key.startswith("_")}
    settings.pop("quantization_config", None)
    settings["architectures"] = [architecture]
    settings["dtype"] = str(dtype).removeprefix("torch.")
    (folder / "config.json").write_text(
        json.dumps(settings, indent=2, sort_keys=True, default=str) + "\n", encoding="utf-8"
    )


def main(arguments: list[str]) -> int:
    """Convert and report; 0 on success."""
    if len(arguments) != 2:
        print(json.dumps({"error": "usage: python -m engine.models.convert FILE FOLDER"}))
        return 2
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    file, folder = map(Path, arguments)

    def say(stage: str, done: int) -> None:
        print(json.dumps({"stage": stage, "done": done, "of": N_STAGES}), flush=True)

    try:
        if not file.is_file():
            raise ConfigError(f"there is no file {file}.")
        dtype = convert(file, folder, say=say)
    except ConfigError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return 2
    name = str(dtype).removeprefix("torch.")
    print(json.dumps({"folder": str(folder), "dtype": name}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
