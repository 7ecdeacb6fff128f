"""One role's model and cache run together: a forward laid out, timed, counted."""

from collections.abc import Callable
from collections.abc import Sequence as Items
from typing import NamedTuple

import torch

from engine.kv.base import ForwardRow, KvCache
from engine.models.base import CausalModel
from engine.telemetry.spans import PREFILL, SpanRecorder
from engine.theory.roofline import ForwardCost, forward_cost
from engine.wire.events import PREFILL_STEP, Event, PrefillCompleted, Role

PREFILL_CHUNK = 512
"""Prompt tokens of one forward: bounds the memory of the mask and of the activations."""


_STEP = 64
"""Tokens of context between the two forwards that a line of costs is drawn through."""


class _CostLine(NamedTuple):
    """Work of a forward of one sequence as a function of the tokens in its cache."""

    n_flops: int
    n_bytes: int
    flops_per_cached: int
    bytes_per_cached: int


class RoleRunner:
    """``n_tokens`` is how many ids both roles know; logits behind them are padding and cut off
    here, so that no padded id is ever drawn or proposed."""

    def __init__(
        self,
        role: Role,
        model: CausalModel,
        cache: KvCache,
        *,
        n_tokens: int,
        spans: SpanRecorder,
        say: Callable[[Event], None],
    ) -> None:
        self.role = role
        self.model = model
        self.cache = cache
        self.n_tokens = n_tokens
        self._spans = spans
        self._say = say
        n_parameters = max(1, model.shape.n_parameters)
        self._bytes_per_weight = model.weight_bytes / n_parameters
        self._bytes_per_value = float(model.dtype.itemsize)
        self._has_window = model.shape.sliding_window is not None
        self._lines: dict[tuple[int, int], _CostLine] = {}  # by width and rows of logits

    def forward(self, rows: Items[ForwardRow], *, n_logits: int, span_name: str) -> torch.Tensor:
        """Run ``rows`` in one forward.

        Returns:
            Logits [batch, n_logits, n_tokens] of the last ``n_logits`` columns (rows are padded on
            the left), in the model's dtype.
        """
        batch = self.cache.batch(rows, device=self.model.device)
        with self._spans.span(span_name, self.role) as span:
            logits = self.model.forward(batch, self.cache, n_logits=n_logits)
        span.count(*self.work(batch.context_lengths, batch.widths, n_logits=n_logits))
        return logits if logits.shape[-1] == self.n_tokens else logits[..., : self.n_tokens]

    def prefill(self, sequence_id: int, token_ids: list[int]) -> None:
        """Write the keys and values of a prompt behind what the cache holds; logits are not
        wanted."""
        if not token_ids:
            return
        start_ns = self._spans.now_ns()
        n_held = self.cache.length(sequence_id)
        for start in range(0, len(token_ids), PREFILL_CHUNK):
            row = ForwardRow(sequence_id, token_ids[start : start + PREFILL_CHUNK])
            self.forward([row], n_logits=1, span_name=PREFILL)
        if self.model.device.type == "cuda":  # once a prompt; a step never waits like this
            torch.cuda.synchronize(self.model.device)
        host_ns = self._spans.now_ns() - start_ns
        n_flops, n_bytes = self.work((n_held + len(token_ids),), (len(token_ids),), n_logits=1)
        self.cache.settle(sequence_id, n_held + len(token_ids), step=PREFILL_STEP)
        self._say(
            PrefillCompleted(
                sequence_id=sequence_id,
                role=self.role,
                n_tokens=len(token_ids),
                start_ns=start_ns,
                host_ns=host_ns,
                n_flops=n_flops,
                n_bytes=n_bytes,
            )
        )

    def work(
        self, lengths: tuple[int, ...], widths: tuple[int, ...], *, n_logits: int
    ) -> tuple[int, int]:
        """FLOPs and bytes of a forward. Of one sequence they grow by the same amount with every
        token of its context, so two of them tell all; not so where attention has a window."""
        if len(lengths) > 1 or self._has_window:
            cost = self._cost(lengths, widths, n_logits=n_logits)
            return cost.n_flops, cost.n_bytes
        width = widths[0]
        line = self._lines.get((width, n_logits))
        if line is None:
            empty = self._cost((width,), widths, n_logits=n_logits)
            grown = self._cost((width + _STEP,), widths, n_logits=n_logits)
            line = self._lines[width, n_logits] = _CostLine(
                empty.n_flops,
                empty.n_bytes,
                (grown.n_flops - empty.n_flops) // _STEP,
                (grown.n_bytes - empty.n_bytes) // _STEP,
            )
        n_cached = lengths[0] - width
        return (
            line.n_flops + line.flops_per_cached * n_cached,
            line.n_bytes + line.bytes_per_cached * n_cached,
        )

    def _cost(
        self, lengths: tuple[int, ...], widths: tuple[int, ...], *, n_logits: int
    ) -> ForwardCost:
        return forward_cost(
            self.model.shape,
            [length - width for length, width in zip(lengths, widths, strict=True)],
            widths,
            bytes_per_weight=self._bytes_per_weight,
            bytes_per_kv=self._bytes_per_value,
            bytes_per_activation=self._bytes_per_value,
            n_logit_rows=sum(min(n_logits, width) for width in widths),
        )
