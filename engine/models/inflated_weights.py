"""The numbers of an inflated model, any rows of any tensor: a small model's, zeros, random ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch

from engine.models.inflation import Inflation

Tensors = Mapping[str, torch.Tensor]

_STANDARD_DEVIATION = 0.02
_POOL_VALUES = 4_000_037  # prime: rows of any length start elsewhere in it


@dataclass(frozen=True, eq=False)
class _Patch:
    """``values`` [rows, columns] from (``row``, ``column``) on; later ones lie over earlier."""

    row: int
    column: int
    values: torch.Tensor


class InflatedWeights:
    """``block(name, first, last)`` makes some rows of a tensor, the same ones every time the
    tensors are asked for in the same order."""

    def __init__(
        self, inflation: Inflation, small: Tensors, *, dtype: torch.dtype, seed: int = 0
    ) -> None:
        """``small``: the small model's tensors by their names in a Llama's checkpoint."""
        self._inflation = inflation
        self._small = small
        self._dtype = dtype
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(_POOL_VALUES, generator=generator) * _STANDARD_DEVIATION
        self._pool = noise.to(dtype)
        self._at = 0
        self._patches: tuple[str, list[_Patch]] = ("", [])

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Every tensor of the large model, in the order to be written."""
        large = self._inflation.large
        hidden, inner = large.hidden_size, large.intermediate_size
        queries, keys = large.n_heads * large.head_dim, large.n_kv_heads * large.head_dim
        shapes: dict[str, tuple[int, ...]] = {_EMBEDDING: (large.vocab_size, hidden)}
        for layer in range(large.n_layers):
            parts: dict[str, tuple[int, ...]] = {
                "input_layernorm": (hidden,),
                "self_attn.q_proj": (queries, hidden),
                "self_attn.k_proj": (keys, hidden),
                "self_attn.v_proj": (keys, hidden),
                "self_attn.o_proj": (hidden, queries),
                "post_attention_layernorm": (hidden,),
                "mlp.gate_proj": (inner, hidden),
                "mlp.up_proj": (inner, hidden),
                "mlp.down_proj": (hidden, inner),
            }
            shapes |= {f"model.layers.{layer}.{part}.weight": size for part, size in parts.items()}
        shapes[_NORM] = (hidden,)
        if not large.has_tied_embeddings:
            shapes[_HEAD] = (large.vocab_size, hidden)
        return shapes

    def block(self, name: str, first: int, last: int) -> torch.Tensor:
        """Rows ``first`` .. ``last`` - 1 of a tensor."""
        if self._patches[0] != name:
            self._patches = (name, list(self._patches_of(name)))
        shape = self.shapes()[name]
        is_vector = len(shape) == 1
        rows, columns = last - first, 1 if is_vector else shape[1]
        values = self._random(rows * columns).view(rows, columns)
        for patch in self._patches[1]:
            begin = max(first, patch.row)
            end = min(last, patch.row + patch.values.shape[0])
            if begin < end:
                width = patch.values.shape[1]
                source = patch.values[begin - patch.row : end - patch.row]
                values[begin - first : end - first, patch.column : patch.column + width] = source
        return values.view(rows) if is_vector else values

    # --- what lies where -------------------------------------------------------------------------

    def _patches_of(self, name: str) -> Iterator[_Patch]:
        if name == _EMBEDDING:
            yield from self._embedding()
        elif name == _HEAD:
            yield from self._head()
        elif name == _NORM:
            yield from self._norm(name, n_read=1)
        else:
            layer = int(name.split(".")[2])
            part = name.split(".")[-2]
            if layer < self._inflation.small.n_layers:
                yield from getattr(self, f"_{part}")(name)
            elif part in ("o_proj", "down_proj"):  # an added layer adds nothing
                yield _zeros(0, 0, *self.shapes()[name])

    def _embedding(self) -> Iterator[_Patch]:
        table = self._small[_EMBEDDING]
        n_tokens, hidden = table.shape
        yield _zeros(0, 0, n_tokens, self._inflation.large.hidden_size)
        for copy in range(self._inflation.n_copies):
            yield _Patch(0, copy * hidden, table)
        if self._inflation.large.has_tied_embeddings:
            yield self._added_tokens()

    def _head(self) -> Iterator[_Patch]:
        yield _Patch(0, 0, self._small_head)
        yield self._added_tokens()

    def _added_tokens(self) -> _Patch:
        """The mean of all tokens' rows: a logit that is never the highest."""
        head = self._small_head
        n_added = self._inflation.large.vocab_size - head.shape[0]
        return _Patch(head.shape[0], 0, head.float().mean(0, keepdim=True).expand(n_added, -1))

    @property
    def _small_head(self) -> torch.Tensor:
        return self._small.get(_HEAD, self._small[_EMBEDDING])

    def _input_layernorm(self, name: str) -> Iterator[_Patch]:
        return self._norm(name, n_read=self._inflation.n_parts)

    def _post_attention_layernorm(self, name: str) -> Iterator[_Patch]:
        return self._norm(name, n_read=1)

    def _norm(self, name: str, *, n_read: int) -> Iterator[_Patch]:
        """Copies beyond those that are read become zero: what meets them may be anything."""
        weight = self._small[name].float().unsqueeze(1) * self._inflation.norm_factor
        for copy in range(self._inflation.n_copies):
            row = copy * len(weight)
            yield _Patch(row, 0, weight) if copy < n_read else _zeros(row, 0, len(weight), 1)

    def _q_proj(self, name: str) -> Iterator[_Patch]:
        for large_head in range(self._inflation.large.n_heads):
            head = self._inflation.query_head(large_head)
            if head is not None:
                rows = self._small_rows(name, head).float() * self._inflation.query_factor
                yield self._head_patch(large_head, self._inflation.rotary_rows(), self._split(rows))

    def _k_proj(self, name: str) -> Iterator[_Patch]:
        for large_head in range(self._inflation.large.n_kv_heads):
            head = self._inflation.kv_head(large_head)
            if head is not None:
                rows = self._alone(self._small_rows(name, head))
                yield self._head_patch(large_head, self._inflation.rotary_rows(), rows)

    def _v_proj(self, name: str) -> Iterator[_Patch]:
        """Values of added heads are zero, so that what reads them may be anything."""
        places = list(range(self._inflation.small.head_dim))
        for large_head in range(self._inflation.large.n_kv_heads):
            head = self._inflation.kv_head(large_head)
            if head is None:
                rows = self._alone(self._small_rows(name, 0)).mul(0.0)
            else:
                rows = self._alone(self._small_rows(name, head))
            yield self._head_patch(large_head, places, rows)

    def _o_proj(self, name: str) -> Iterator[_Patch]:
        inflation, size = self._inflation, self._inflation.small.head_dim
        for large_head in range(inflation.large.n_heads):
            if inflation.is_of_added_kv_head(large_head):
                continue
            column = large_head * inflation.large.head_dim
            yield _zeros(0, column, inflation.large.hidden_size, size)
            head = inflation.query_head(large_head)
            if head is not None:
                values = self._small[name][:, head * size : (head + 1) * size]
                yield from self._to_copies(column, values)

    def _gate_proj(self, name: str) -> Iterator[_Patch]:
        yield _Patch(0, 0, self._small[name])

    def _up_proj(self, name: str) -> Iterator[_Patch]:
        """What is added comes out as zero, so that what reads it may be anything."""
        weight = self._small[name]
        n_added = self._inflation.large.intermediate_size - len(weight)
        yield _Patch(0, 0, weight)
        yield _zeros(len(weight), 0, n_added, weight.shape[1])

    def _down_proj(self, name: str) -> Iterator[_Patch]:
        weight = self._small[name]
        yield _zeros(0, 0, self._inflation.large.hidden_size, weight.shape[1])
        yield from self._to_copies(0, weight)

    # --- pieces ----------------------------------------------------------------------------------

    def _small_rows(self, name: str, head: int) -> torch.Tensor:
        size = self._inflation.small.head_dim
        return self._small[name][head * size : (head + 1) * size]

    def _head_patch(self, large_head: int, places: list[int], rows: torch.Tensor) -> _Patch:
        """Rows of one head at their places in it, zeros at all others."""
        size = self._inflation.large.head_dim
        values = torch.zeros(size, rows.shape[1])
        values[places] = rows.float()
        return _Patch(large_head * size, 0, values)

    def _split(self, rows: torch.Tensor) -> torch.Tensor:
        """[rows, d] as a sum over copies [rows, parts * d]: each holds what those before rounded
        away."""
        parts = []
        rest = rows.double()
        for _ in range(self._inflation.n_parts):
            parts.append(rest.to(self._dtype))
            rest = rest - parts[-1].double()
        return torch.cat([part.float() for part in parts], 1)

    def _alone(self, rows: torch.Tensor) -> torch.Tensor:
        """[rows, d] for the first copy, zeros for the others that are read."""
        nothing = rows.new_zeros(rows.shape[0], (self._inflation.n_parts - 1) * rows.shape[1])
        return torch.cat([rows, nothing], 1)

    def _to_copies(self, column: int, values: torch.Tensor) -> Iterator[_Patch]:
        """The same output for every copy of the hidden vector."""
        for copy in range(self._inflation.n_copies):
            yield _Patch(copy * values.shape[0], column, values)

    def _random(self, n_values: int) -> torch.Tensor:
        taken = torch.empty(n_values, dtype=self._dtype)
        done = 0
        while done < n_values:
            n = min(n_values - done, _POOL_VALUES - self._at)
            taken[done : done + n] = self._pool[self._at : self._at + n]
            done, self._at = done + n, (self._at + n) % _POOL_VALUES
        return taken


def _zeros(row: int, column: int, n_rows: int, n_columns: int) -> _Patch:
    return _Patch(row, column, torch.zeros(1, 1).expand(n_rows, n_columns))


_EMBEDDING = "model.embed_tokens.weight"
_NORM = "model.norm.weight"
_HEAD = "lm_head.weight"
