"""Writes safetensors shard by shard and block by block: never a whole tensor, let alone a model."""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

SHARD_BYTES = 4_000_000_000
BLOCK_VALUES = 8_000_000
"""Numbers made at once."""

_DTYPE_NAMES = {torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32"}

Block = Callable[[str, int, int], torch.Tensor]
"""``block(name, first, last)``: rows ``first`` .. ``last`` - 1 of a tensor, of one dimension or
two; a vector's rows are its numbers."""


@dataclass(frozen=True)
class Written:
    """What was written."""

    n_values: int
    n_bytes: int
    files: tuple[str, ...]


def write_sharded(
    folder: Path,
    shapes: Mapping[str, Sequence[int]],
    block: Block,
    *,
    dtype: torch.dtype,
    say: Callable[[int, int], None],
    shard_bytes: int = SHARD_BYTES,
) -> Written:
    """Write the tensors of ``shapes`` (name -> shape), in that order, with an index.

    Args:
        say: told how many bytes of how many are written.
    """
    shards = list(_shards(shapes, dtype.itemsize, shard_bytes))
    n_values = sum(map(math.prod, shapes.values()))
    n_done, n_bytes = 0, n_values * dtype.itemsize
    weight_map: dict[str, str] = {}
    names = []
    for number, shard in enumerate(shards, start=1):
        file_name = f"model-{number:05}-of-{len(shards):05}.safetensors"
        names.append(file_name)
        weight_map.update(dict.fromkeys(shard, file_name))
        with (folder / file_name).open("wb") as file:
            file.write(_header({name: shapes[name] for name in shard}, dtype))
            for name in shard:
                for first, last in _row_ranges(shapes[name]):
                    values = block(name, first, last).to(dtype).contiguous()
                    file.write(values.view(torch.uint8).numpy().data)
                    n_done += values.numel() * dtype.itemsize
                    say(n_done, n_bytes)
    index = {"metadata": {"total_size": n_bytes}, "weight_map": weight_map}
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps(index, indent=1), encoding="utf-8")
    return Written(n_values, n_bytes, tuple(names))


def _shards(
    shapes: Mapping[str, Sequence[int]], itemsize: int, shard_bytes: int
) -> Iterator[list[str]]:
    """Names in order, as many together as fit; a tensor larger than a shard has one to itself."""
    shard: list[str] = []
    size = 0
    for name, shape in shapes.items():
        n_bytes = math.prod(shape) * itemsize
        if shard and size + n_bytes > shard_bytes:
            yield shard
            shard, size = [], 0
        shard.append(name)
        size += n_bytes
    if shard:
        yield shard


def _header(shapes: Mapping[str, Sequence[int]], dtype: torch.dtype) -> bytes:
    """Length, then JSON, padded so that the data begins at a multiple of eight."""
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, shape in shapes.items():
        end = at + math.prod(shape) * dtype.itemsize
        entries[name] = {
            "dtype": _DTYPE_NAMES[dtype],
            "shape": list(shape),
            "data_offsets": [at, end],
        }
        at = end
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _row_ranges(shape: Sequence[int]) -> Iterator[tuple[int, int]]:
    n_rows = shape[0]
    at_once = max(1, BLOCK_VALUES // math.prod(shape[1:]))
    for first in range(0, n_rows, at_once):
        yield first, min(n_rows, first + at_once)
