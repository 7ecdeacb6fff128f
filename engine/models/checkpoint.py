"""Looks at the files of a checkpoint before torch does: are they there, whole, and how big?"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from engine.wire.config import ConfigError

_MAX_HEADER_BYTES = 100_000_000
_GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True)
class CheckpointSize:
    """What the files say they hold."""

    n_values: int  # numbers in all tensors
    file_bytes: int


def check_folder(folder: Path) -> CheckpointSize:
    """Size of the safetensors weights in ``folder``.

    Raises:
        ConfigError: the configuration, the weights or a part of them is missing, or a file is
        damaged.
    """
    if not (folder / "config.json").is_file():
        raise ConfigError(
            f"{folder} holds no config.json, so it is no model folder: give the folder that has "
            "config.json, *.safetensors and tokenizer.json."
        )
    files = _weight_files(folder)
    sizes = [check_safetensors(file) for file in files]
    return CheckpointSize(
        sum(size.n_values for size in sizes), sum(size.file_bytes for size in sizes)
    )


def check_safetensors(file: Path) -> CheckpointSize:
    """Size of one safetensors file, from its header.

    Raises:
        ConfigError: the file is shorter than its header says, or has no sound header.
    """
    file_bytes = file.stat().st_size
    with file.open("rb") as stream:
        header_bytes = int.from_bytes(stream.read(8), "little")
        if file_bytes < 8 or header_bytes > min(_MAX_HEADER_BYTES, file_bytes - 8):
            raise ConfigError(f"{file} is truncated or no safetensors file: download it again.")
        try:
            header = json.loads(stream.read(header_bytes))
            tensors = [entry for name, entry in header.items() if name != "__metadata__"]
            data_bytes = max((entry["data_offsets"][1] for entry in tensors), default=0)
            n_values = sum(math.prod(entry["shape"]) for entry in tensors)
        except (ValueError, AttributeError, LookupError, TypeError):
            raise ConfigError(f"{file} has a damaged header: download it again.") from None
    expected = 8 + header_bytes + data_bytes
    if file_bytes != expected:
        raise ConfigError(
            f"{file} should have {expected:,} bytes but has {file_bytes:,}: the file is truncated "
            "or damaged, download it again."
        )
    return CheckpointSize(n_values, file_bytes)


def check_gguf(file: Path) -> None:
    """Raise ConfigError unless ``file`` starts like a GGUF file of a version that is read here."""
    with file.open("rb") as stream:
        head = stream.read(8)
    if head[:4] != _GGUF_MAGIC or len(head) < 8:
        raise ConfigError(
            f"{file} is no GGUF file (it does not start with GGUF): download it again."
        )
    version = int.from_bytes(head[4:], "little")
    if version not in (2, 3):
        raise ConfigError(
            f"{file} is GGUF version {version}: versions 2 and 3 are read, convert it."
        )


def _weight_files(folder: Path) -> list[Path]:
    single = folder / "model.safetensors"
    index = folder / "model.safetensors.index.json"
    if single.is_file():
        return [single]
    if index.is_file():
        try:
            names = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        except (ValueError, LookupError, TypeError, AttributeError):
            raise ConfigError(f"{index} is damaged: download it again.") from None
        files = [folder / str(name) for name in sorted(names)]
        missing = [file.name for file in files if not file.is_file()]
        if missing:
            raise ConfigError(
                f"{folder} lacks {missing[0]} ({len(missing)} of {len(files)} weight files are "
                "missing): download the rest."
            )
        return files
    if any(folder.glob("*.bin")) or any(folder.glob("*.pt")) or any(folder.glob("*.pth")):
        raise ConfigError(
            f"{folder} holds pickled weights only, which can run code when opened: convert them to "
            "safetensors."
        )
    raise ConfigError(
        f"{folder} holds no model.safetensors: the weights are missing, download them."
    )
