"""The whole draft as one function of fixed tensors: gamma forwards and the draws between them."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch

from engine.device.addresses import (
    Addressing,
    ContextShape,
    address_shapes,
    clear_addresses,
    context_room,
    fill_addresses,
    lie_side_by_side,
    pretend_addresses,
)
from engine.device.graphs import GraphShelf
from engine.device.static_inputs import StaticInputs
from engine.device.verdict import confidences_of
from engine.forward import RoleRunner
from engine.kv.pool_attention import PoolModes
from engine.kv.slot_cache import SlotCache
from engine.sampling import SamplingParams, draw, greedy, probabilities
from engine.telemetry.spans import DRAFT_FORWARD, SpanRecorder

FIRST_WIDTH = 2
"""Tokens of the first forward: after a wholly accepted draft the cache misses two. With one
missing the other column is padding, which costs a GPU nothing."""


@dataclass(frozen=True, eq=False)
class DraftTask:
    """What one row is to draft. ``row`` is its place in the shared results."""

    row: int
    sequence_id: int
    pending: list[int]  # up to FIRST_WIDTH newest tokens, those its cache does not hold
    gamma: int  # at least 1
    uniforms: list[float]  # gamma numbers in [0, 1) to draw with


class DraftResults:
    """Where drafts are put for the verification to find them, one row a sequence of the step and a
    last row for padding. These tensors stay where they are."""

    def __init__(
        self, n_rows: int, gamma: int, n_tokens: int, *, has_probs: bool, device: torch.device
    ) -> None:
        self.n_rows, self.gamma, self.has_probs = n_rows, gamma, has_probs
        size = (n_rows + 1, gamma)
        self.token_ids = torch.zeros(size, dtype=torch.int64, device=device)
        self.maxima = torch.zeros(size, dtype=torch.float64, device=device)
        self.confidences = torch.ones(size, dtype=torch.float64, device=device)
        self.probs: torch.Tensor | None = None  # [n_rows + 1, gamma, n_tokens]
        if has_probs:
            self.probs = torch.zeros((*size, n_tokens), device=device)

    @staticmethod
    def n_bytes(n_rows: int, gamma: int, n_tokens: int, *, has_probs: bool) -> int:
        """What they take: mostly the distributions, 4 bytes for every token of the vocabulary."""
        return (n_rows + 1) * gamma * (24 + (4 * n_tokens if has_probs else 0))


@dataclass(frozen=True)
class LoopShape:
    """What is fixed when a draft is captured."""

    n_rows: int
    gamma: int
    context: ContextShape
    params: SamplingParams


class DraftLoop:
    """Drafts for up to ``results.n_rows`` sequences at once, on the device from end to end: a token
    that is drawn is the next forward's input without the host ever seeing it."""

    def __init__(
        self,
        runner: RoleRunner,
        cache: SlotCache,
        shelf: GraphShelf,
        *,
        modes: PoolModes,
        spans: SpanRecorder,
    ) -> None:
        self.model = runner.model
        self.cache = cache
        self._runner = runner
        self._shelf = shelf
        self._n_tokens = runner.n_tokens
        self.modes = modes
        self._spans = spans
        self._inputs: dict[LoopShape, tuple[StaticInputs, Addressing]] = {}

    def launch(
        self,
        tasks: Sequence[DraftTask],
        results: DraftResults,
        params: SamplingParams,
        *,
        n_rows: int,
    ) -> None:
        """Queue the forwards of ``tasks``, which end up in ``results``; ``n_rows`` are computed,
        those without a task are padding."""
        shape = self._shape(tasks, params, n_rows)
        inputs, addressing = self._parts(shape)
        held = [self.cache.length(task.sequence_id) for task in tasks]
        self._fill(inputs, tasks, shape, results)
        inputs.send()
        if not self._shelf.is_capturing:
            work = [self._work(tasks, held, index) for index in range(shape.gamma)]
            self._run(inputs, addressing, shape, results, work=work)
            return
        with self._spans.span(DRAFT_FORWARD, self._runner.role) as span:
            self._shelf.run(
                (self, shape, results), lambda: self._run(inputs, addressing, shape, results)
            )
        # Counted while the device runs.
        work = [self._work(tasks, held, index) for index in range(shape.gamma)]
        span.count(sum(n_flops for n_flops, _ in work), sum(n_bytes for _, n_bytes in work))
        span.n_forwards = shape.gamma

    def _work(self, tasks: Sequence[DraftTask], held: Sequence[int], index: int) -> tuple[int, int]:
        """FLOPs and bytes of forward ``index``, in which the rows take part that draft so far;
        ``held`` are the positions they held before the draft."""
        active = [(task, n) for task, n in zip(tasks, held, strict=True) if task.gamma > index]
        lengths = [n + len(task.pending) + index for task, n in active]
        widths = [len(task.pending) if index == 0 else 1 for task, _ in active]
        return self._runner.work(tuple(lengths), tuple(widths), n_logits=1)

    def warm_up(self, shape: LoopShape, results: DraftResults) -> None:
        """Capture for ``shape``, on padding alone."""
        if not self._shelf.is_capturing or self._shelf.holds((self, shape, results)):
            return
        self._shelf.warm_up((self, shape, results), self._on_padding(shape, results))

    def rehearse(
        self, shape: LoopShape, results: DraftResults, *, n_held: int = 0, is_direct: bool = False
    ) -> None:
        """Run on rows that pretend to hold ``n_held`` positions and write to the scratch slot;
        ``is_direct`` leaves a graph aside."""
        function = self._on_padding(shape, results, n_held=n_held)
        if is_direct:
            function()
        else:
            self._shelf.run((self, shape, results), function)

    def _on_padding(
        self, shape: LoopShape, results: DraftResults, *, n_held: int = 0
    ) -> Callable[[], None]:
        """The function of that shape, its inputs sent: no row is a sequence's."""
        inputs, addressing = self._parts(shape)
        self._fill(inputs, [], shape, results)
        pretend_addresses(inputs, self.cache, n_held)
        inputs.send()
        return lambda: self._run(inputs, addressing, shape, results)

    def forget(self) -> None:
        """Let go of inputs whose functions were dropped."""
        self._inputs.clear()

    def _shape(self, tasks: Sequence[DraftTask], params: SamplingParams, n_rows: int) -> LoopShape:
        tables = [self.cache.table(task.sequence_id) for task in tasks]
        n_written = [len(task.pending) + task.gamma - 1 for task in tasks]
        n_positions = max(t.length + n for t, n in zip(tables, n_written, strict=True))
        room = context_room(
            n_positions,
            context_length=self.model.context_length,
            block_size=self.cache.block_size,
        )
        mode = self.modes.choose(are_side_by_side=lie_side_by_side(tables, n_written))
        gamma = max(task.gamma for task in tasks)
        return LoopShape(n_rows, gamma, ContextShape(room, mode), params)

    def _parts(self, shape: LoopShape) -> tuple[StaticInputs, Addressing]:
        parts = self._inputs.get(shape)
        if parts is None:
            n_rows, gamma = shape.n_rows, shape.gamma
            n_columns = FIRST_WIDTH + gamma - 1
            inputs = StaticInputs(
                self.model.device,
                whole={
                    "first_ids": (n_rows, FIRST_WIDTH),
                    "rows": (n_rows,),
                    **address_shapes(n_rows, n_columns, shape.context, self.cache.block_size),
                },
                real={"uniforms": (n_rows, gamma)},
            )
            addressing = Addressing(inputs, shape.context, self.cache.block_size)
            parts = self._inputs[shape] = (inputs, addressing)
        return parts

    def _fill(
        self,
        inputs: StaticInputs,
        tasks: Sequence[DraftTask],
        shape: LoopShape,
        results: DraftResults,
    ) -> None:
        host = inputs.host
        clear_addresses(inputs, self.cache)
        host["first_ids"].fill(0)
        host["uniforms"].fill(0.0)
        host["rows"].fill(results.n_rows)  # padding goes to the last row
        for index, task in enumerate(tasks):
            n_pending = len(task.pending)
            first_column = FIRST_WIDTH - n_pending
            host["first_ids"][index, first_column:] = task.pending
            host["uniforms"][index, : task.gamma] = task.uniforms[: task.gamma]
            host["rows"][index] = task.row
            # The last token that is drawn is not run, so it has no position here; in what a row
            # with a smaller gamma computes besides, it writes to the scratch slot.
            fill_addresses(
                inputs,
                index,
                self.cache.table(task.sequence_id),
                first_column=first_column,
                n_tokens=n_pending + task.gamma - 1,
            )

    def _run(
        self,
        inputs: StaticInputs,
        addressing: Addressing,
        shape: LoopShape,
        results: DraftResults,
        *,
        work: Sequence[tuple[int, int]] = (),
    ) -> None:
        """``work`` has a span opened around each forward: only where each is launched by itself."""
        given = inputs.device
        slots = addressing.slots()
        token_ids, first_column = given["first_ids"], 0
        drawn: list[torch.Tensor] = []  # each [n_rows]
        maxima: list[torch.Tensor] = []
        confidences: list[torch.Tensor] = []
        probs: list[torch.Tensor] = []  # each [n_rows, n_tokens]
        for index in range(shape.gamma):
            batch = addressing.batch(token_ids, slots, first_column=first_column)
            with ExitStack() as opened:
                if work:
                    span = self._spans.span(DRAFT_FORWARD, self._runner.role)
                    opened.enter_context(span).count(*work[index])
                every = self.model.forward(batch, self.cache, n_logits=1)
            logits = every[:, -1, : self._n_tokens]
            if shape.params.temperature == 0.0:
                newest = greedy(logits)
            else:
                law = probabilities(logits, shape.params)
                probs.append(law)
                # Logits that are no numbers give an index past the last one.
                newest = draw(law, given["uniforms"][:, index]).clamp(max=self._n_tokens - 1)
            drawn.append(newest)
            maxima.append(logits.amax(-1).double())
            confidences.append(confidences_of(logits, newest))
            first_column = FIRST_WIDTH + index
            token_ids = newest[:, None]
        rows, n = given["rows"], shape.gamma
        results.token_ids[:, :n].index_copy_(0, rows, torch.stack(drawn, 1))
        results.maxima[:, :n].index_copy_(0, rows, torch.stack(maxima, 1))
        results.confidences[:, :n].index_copy_(0, rows, torch.stack(confidences, 1))
        if results.probs is not None and probs:
            results.probs[:, :n].index_copy_(0, rows, torch.stack(probs, 1))
