"""Loads the models of a run: found, checked and compared before any weight is read."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import torch
import transformers
from transformers import AutoModelForCausalLM

from engine.kv.transformers_cache import ATTENTION_NAME
from engine.models.catalog import Reference, Source, resolve
from engine.models.checkpoint import check_folder
from engine.models.choices import Choices
from engine.models.pretrained import PretrainedModel
from engine.models.pretrained_config import first_line, read_config, source_arguments
from engine.models.pretrained_gguf import gguf_errors, load_gguf_model
from engine.models.pretrained_tokenizer import (
    PretrainedTokenizer,
    read_backend,
    read_eos_ids,
    read_vocabulary,
)
from engine.models.quantized import require_torchao
from engine.wire.catalog import INFLATED_KEY, INFLATED_NOTE
from engine.wire.config import ConfigError, RunConfig
from engine.wire.vocabulary import Vocabulary, share_vocabulary, single_vocabulary

Progress = Callable[[str], None]

_DTYPES = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


Shelf = dict[tuple[object, ...], PretrainedModel]
"""Loaded models by all that makes them what they are."""


@dataclass(frozen=True, eq=False)
class LoadedPair:
    """The models of a run. Ids from ``n_tokens`` on are to be masked in both."""

    target: PretrainedModel
    draft: PretrainedModel | None  # None where nothing or an n-gram table drafts
    tokenizer: PretrainedTokenizer
    n_tokens: int
    notes: tuple[str, ...]  # about the two vocabularies; each model has its own besides
    target_load_ns: int
    draft_load_ns: int  # 0 without a draft model


@dataclass(frozen=True, eq=False)
class _Described:
    """A model as far as it is known without its weights."""

    reference: Reference
    config: Any
    backend: Any  # its transformers tokenizer
    vocabulary: Vocabulary


def load_pair(config: RunConfig, *, progress: Progress, shelf: Shelf | None = None) -> LoadedPair:
    """Load the target, and the draft where a model drafts. ``progress`` is told each stage.

    What is on the ``shelf`` is taken from there, and what is loaded is put on it: runs one after
    the other share their models.

    Raises:
        ConfigError: a model is not there, damaged, unsupported or too large, the device is not
            there, or the two models do not share a vocabulary.
    """
    _keep_quiet()
    require_torchao(config.weights)
    device = find_device(config.device)
    dtype = choose_dtype(config.dtype, device)
    if config.n_threads is not None:
        torch.set_num_threads(config.n_threads)
    progress(f"reading the configuration of {config.target}")
    target = _describe(config.target, config)
    draft = None
    shared = single_vocabulary(target.vocabulary)
    if config.draft_model is not None:
        progress(f"reading the configuration of {config.draft_model}")
        draft = _describe(config.draft_model, config)
        shared = share_vocabulary(target.vocabulary, draft.vocabulary)
    tokenizer = PretrainedTokenizer(
        target.backend,
        name=config.target,
        eos_ids=read_eos_ids(target.reference, target.backend, target.config),
        n_tokens=shared.n_tokens,
    )
    progress(f"loading the weights of {config.target}")
    shelf = {} if shelf is None else shelf
    start = time.perf_counter_ns()
    target_model = _from_shelf(shelf, target, config, device=device, dtype=dtype)
    target_ns = time.perf_counter_ns() - start
    draft_model, draft_ns = None, 0
    if draft is not None:
        progress(f"loading the weights of {config.draft_model}")
        start = time.perf_counter_ns()
        draft_model = _from_shelf(shelf, draft, config, device=device, dtype=dtype)
        draft_ns = time.perf_counter_ns() - start
    return LoadedPair(
        target=target_model,
        draft=draft_model,
        tokenizer=tokenizer,
        n_tokens=shared.n_tokens,
        notes=shared.notes,
        target_load_ns=target_ns,
        draft_load_ns=draft_ns,
    )


def _from_shelf(
    shelf: Shelf,
    described: _Described,
    config: RunConfig,
    *,
    device: torch.device,
    dtype: torch.dtype,
) -> PretrainedModel:
    reference = described.reference
    key = (
        reference.source, reference.location, device, dtype,
        config.packed, config.n_threads, config.weights,
    )  # fmt: skip
    model = shelf.get(key)
    if model is None:
        model = shelf[key] = _load(described, config, device=device, dtype=dtype)
    return model


def find_device(name: str) -> torch.device:
    """The device ``name`` means: "auto", "cpu", "cuda" or "cuda:1".

    Raises:
        ConfigError: no such device here.
    """
    n_cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if name == "auto":
        return torch.device("cuda:0" if n_cuda else "cpu")
    if name == "cpu":
        return torch.device("cpu")
    kind, _, index = name.partition(":")
    if kind != "cuda" or (index and not index.isdigit()) or name.endswith(":"):
        raise ConfigError(f"device is {name!r}: give auto, cpu, cuda or cuda:0, cuda:1, ...")
    number = int(index or 0)
    if n_cuda == 0:
        raise ConfigError(
            f"device is {name}, but torch sees no CUDA device: see `specscope doctor`, or give cpu."
        )
    if number >= n_cuda:
        raise ConfigError(f"device is {name}, but there are {n_cuda}: cuda:0 to cuda:{n_cuda - 1}.")
    return torch.device("cuda", number)


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """The dtype ``name`` means; "auto" is bfloat16 on CUDA and float32 on the CPU."""
    if name == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    return _DTYPES[name]


def _describe(name: str, config: RunConfig) -> _Described:
    reference = resolve(name)
    trust = config.trust_remote_code
    model_config = read_config(reference, trust_remote_code=trust)
    if reference.source is Source.FOLDER:
        check_folder(Path(reference.location))
    backend = read_backend(reference, trust_remote_code=trust)
    vocabulary = read_vocabulary(backend, model_config, name=name)
    return _Described(reference, model_config, backend, vocabulary)


def _load(
    described: _Described, config: RunConfig, *, device: torch.device, dtype: torch.dtype
) -> PretrainedModel:
    reference = described.reference
    _check_memory(described, device=device, dtype=dtype)
    try:
        if reference.source is Source.GGUF:
            with gguf_errors(reference):
                module = load_gguf_model(
                    Path(reference.location),
                    described.config,
                    dtype=dtype,
                    attention=ATTENTION_NAME,
                )
        else:
            module = AutoModelForCausalLM.from_pretrained(
                **source_arguments(reference),
                config=described.config,
                dtype=dtype,
                attn_implementation=ATTENTION_NAME,
                use_safetensors=True,
                trust_remote_code=config.trust_remote_code,
            )
        module = module.eval().requires_grad_(False).to(device)
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise ConfigError(
            f"{reference.name} does not fit into the memory of {device}: give a smaller model, or "
            "--dtype bfloat16."
        ) from error
    except (OSError, ValueError, ImportError, LookupError, RuntimeError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(
            f"the weights of {reference.name} cannot be loaded: {first_line(error)}"
        ) from error
    return PretrainedModel(
        module,
        name=shown_name(described),
        packed=config.packed,
        n_threads=config.n_threads,
        weights=config.weights,
        choices=Choices.of_user(),
    )


def shown_name(described: _Described) -> str:
    """A model's name; with it, what must be said of one that was built for timing."""
    name = described.reference.name
    is_inflated = getattr(described.config, INFLATED_KEY, None) is not None
    return f"{name} ({INFLATED_NOTE})" if is_inflated else name


def _check_memory(described: _Described, *, device: torch.device, dtype: torch.dtype) -> None:
    if described.reference.source is not Source.FOLDER:
        return
    n_values = check_folder(Path(described.reference.location)).n_values
    needed = n_values * dtype.itemsize
    if device.type == "cuda":
        available = torch.cuda.mem_get_info(device)[0]
    else:
        available = psutil.virtual_memory().available
    if needed > available:
        raise ConfigError(
            f"{described.reference.name} needs {needed / 2**30:.1f} GiB in "
            f"{str(dtype).removeprefix('torch.')} and {device} has {available / 2**30:.1f} GiB "
            "free: "
            "give a smaller model or a narrower dtype."
        )


def _keep_quiet() -> None:
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
