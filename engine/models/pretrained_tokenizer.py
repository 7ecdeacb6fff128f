"""A Hugging Face tokenizer behind the Tokenizer protocol, and the vocabulary it holds."""

import json
from pathlib import Path
from typing import Any

from huggingface_hub.errors import HFValidationError
from transformers import AutoTokenizer, GenerationConfig

from engine.models.catalog import Reference, Source
from engine.models.pretrained_config import first_line, is_local, source_arguments
from engine.models.pretrained_gguf import gguf_errors
from engine.models.token_bytes import is_byte_level, vocabulary_bytes
from engine.wire.config import ConfigError
from engine.wire.vocabulary import Vocabulary


class PretrainedTokenizer:
    """Text to ids and back. ``n_tokens`` starts as all ids in use and may be lowered to those that
    a draft shares."""

    def __init__(self, backend: Any, *, name: str, eos_ids: frozenset[int], n_tokens: int) -> None:
        self.name = name
        self.eos_ids = frozenset(token_id for token_id in eos_ids if 0 <= token_id < n_tokens)
        self.n_tokens = n_tokens
        self._backend = backend
        self._bytes = _all_bytes(backend)

    def encode(self, text: str, *, chat: bool) -> list[int]:
        """Ids of a prompt.

        Raises:
            ConfigError: no text, or ``chat`` with a model that has no chat template.
        """
        if not text.strip():
            raise ConfigError("the prompt is empty: give some text to continue.")
        if not chat:
            token_ids = self._backend(text, add_special_tokens=True)["input_ids"]
        else:
            if not getattr(self._backend, "chat_template", None):
                raise ConfigError(f"{self.name} has no chat template: decode plain text instead.")
            wrapped = self._backend.apply_chat_template(
                [{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False
            )
            token_ids = self._backend(wrapped, add_special_tokens=False)["input_ids"]
        if not token_ids:
            raise ConfigError(f"{self.name} makes no tokens of this prompt: give other text.")
        if max(token_ids) >= self.n_tokens:
            unknown = self._backend.convert_ids_to_tokens(max(token_ids))
            raise ConfigError(
                f"the prompt holds {unknown!r}, a token that only one of the two models knows: "
                "leave it out."
            )
        return [int(token_id) for token_id in token_ids]

    def decode(self, token_ids: list[int]) -> str:
        """Text of all ids at once: their bytes, read as UTF-8."""
        return b"".join(map(self.token_bytes, token_ids)).decode("utf-8", errors="replace")

    def token_bytes(self, token_id: int) -> bytes:
        """Bytes in running text; empty for special tokens and for ids not in use."""
        return self._bytes[token_id] if 0 <= token_id < len(self._bytes) else b""


def read_backend(reference: Reference, *, trust_remote_code: bool) -> Any:
    """The transformers tokenizer of a model.

    Raises:
        ConfigError: it is missing or damaged.
    """
    if reference.source is Source.FOLDER:
        folder = Path(reference.location)
        names = ("tokenizer.json", "tokenizer.model", "vocab.json", "spiece.model")
        if not any((folder / name).is_file() for name in names):
            raise ConfigError(
                f"{reference.name} has no tokenizer: copy tokenizer.json and "
                "tokenizer_config.json into "
                f"{folder}."
            )
    try:
        with gguf_errors(reference):
            return AutoTokenizer.from_pretrained(
                **source_arguments(reference), trust_remote_code=trust_remote_code
            )
    except ConfigError:
        raise
    except Exception as error:  # tokenizers raises bare Exception for damaged files
        if not isinstance(error, OSError | ValueError | LookupError | ImportError | TypeError) and (
            type(error) is not Exception
        ):
            raise
        raise ConfigError(
            f"the tokenizer of {reference.name} cannot be read: {first_line(error)}"
        ) from error


def read_vocabulary(backend: Any, config: Any, *, name: str) -> Vocabulary:
    """The tokens of a model and how many logits it gives."""
    tokens = {int(token_id): token for token, token_id in backend.get_vocab().items()}
    special = {token_id for token_id, added in _added(backend).items() if added.special}
    marks = {
        mark: int(token_id)
        for mark in ("bos", "eos", "pad")
        if (token_id := getattr(backend, f"{mark}_token_id", None)) is not None
    }
    return Vocabulary(name, tokens, frozenset(special), marks, int(config.vocab_size))


def read_eos_ids(reference: Reference, backend: Any, config: Any) -> frozenset[int]:
    """Every id that ends the text: by generation settings, configuration or tokenizer."""
    found = [getattr(config, "eos_token_id", None), getattr(backend, "eos_token_id", None)]
    if reference.source is not Source.GGUF:
        try:
            generation = GenerationConfig.from_pretrained(
                reference.location, local_files_only=is_local(reference)
            )
            found.append(generation.eos_token_id)
        except (OSError, HFValidationError, json.JSONDecodeError):
            pass  # a model need not have any
    ids: set[int] = set()
    for entry in found:
        if isinstance(entry, int):
            ids.add(entry)
        elif entry is not None:
            ids.update(int(token_id) for token_id in entry)
    return frozenset(ids)


def _all_bytes(backend: Any) -> list[bytes]:
    vocabulary = {int(token_id): token for token, token_id in backend.get_vocab().items()}
    tokens = [vocabulary.get(token_id, "") for token_id in range(max(vocabulary, default=-1) + 1)]
    added = _added(backend)
    rust = getattr(backend, "backend_tokenizer", None)
    return vocabulary_bytes(
        tokens,
        is_byte_level=rust is not None and is_byte_level(rust.to_str()),
        literal=added.keys(),
        special=[token_id for token_id, token in added.items() if token.special],
    )


def _added(backend: Any) -> dict[int, Any]:
    return dict(getattr(backend, "added_tokens_decoder", {}))
