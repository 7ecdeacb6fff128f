"""The verification as one function of fixed tensors: the target's forward and the verdict on it."""

from collections.abc import Callable, Sequence
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
from engine.device.draft_loop import DraftResults
from engine.device.graphs import GraphShelf
from engine.device.static_inputs import StaticInputs
from engine.device.verdict import DraftRows, judge_rows
from engine.forward import RoleRunner
from engine.kv.pool_attention import PoolModes
from engine.kv.slot_cache import SlotCache
from engine.sampling import SamplingParams, one_hot
from engine.telemetry.spans import VERIFY, SpanRecorder


@dataclass(frozen=True, eq=False)
class VerifyTask:
    """What one row is to verify; rows come in the order of the step."""

    sequence_id: int
    newest_id: int
    n_drafted: int
    host_ids: list[int] | None  # the draft, where the host made it; None: it is in the results
    test_uniforms: list[float]  # n_drafted of them
    extra_uniform: float


@dataclass(frozen=True)
class VerifyShape:
    """What is fixed when a verification is captured."""

    n_rows: int
    width: int  # the longest draft and the token before it
    context: ContextShape
    params: SamplingParams
    has_host_drafts: bool
    has_device_drafts: bool


class Verification:
    """Runs and judges the drafts of a step; nothing comes back until it is read."""

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
        self._inputs: dict[VerifyShape, tuple[StaticInputs, Addressing]] = {}

    def launch(
        self,
        tasks: Sequence[VerifyTask],
        results: DraftResults,
        params: SamplingParams,
        *,
        n_rows: int,
    ) -> torch.Tensor:
        """Queue the forward and the verdict of ``tasks``, whose drafts are theirs or in
        ``results``; see ``engine.device.verdict.judge_rows`` for what comes out."""
        shape = self._shape(tasks, params, n_rows)
        inputs, addressing = self._parts(shape)
        widths = tuple(task.n_drafted + 1 for task in tasks)
        lengths = tuple(
            self.cache.length(task.sequence_id) + width
            for task, width in zip(tasks, widths, strict=True)
        )
        self._fill(inputs, tasks, shape)
        inputs.send()
        with self._spans.span(VERIFY, self._runner.role) as span:
            numbers = self._shelf.run(
                (self, shape, results), lambda: self._run(inputs, addressing, shape, results)
            )
        span.count(*self._runner.work(lengths, widths, n_logits=shape.width))
        return numbers

    def warm_up(self, shape: VerifyShape, results: DraftResults) -> None:
        """Capture for ``shape``, on padding alone."""
        if not self._shelf.is_capturing or self._shelf.holds((self, shape, results)):
            return
        self._shelf.warm_up((self, shape, results), self._on_padding(shape, results))

    def rehearse(
        self, shape: VerifyShape, results: DraftResults, *, n_held: int = 0, is_direct: bool = False
    ) -> None:
        """Run on rows that pretend to hold ``n_held`` positions and write to the scratch slot;
        ``is_direct`` leaves a graph aside."""
        function = self._on_padding(shape, results, n_held=n_held)
        if is_direct:
            function()
        else:
            self._shelf.run((self, shape, results), function)

    def _on_padding(
        self, shape: VerifyShape, results: DraftResults, *, n_held: int = 0
    ) -> Callable[[], torch.Tensor]:
        """The function of that shape, its inputs sent: no row is a sequence's."""
        inputs, addressing = self._parts(shape)
        self._fill(inputs, [], shape)
        pretend_addresses(inputs, self.cache, n_held)
        inputs.send()
        return lambda: self._run(inputs, addressing, shape, results)

    def forget(self) -> None:
        """Let go of inputs whose functions were dropped."""
        self._inputs.clear()

    def _shape(
        self, tasks: Sequence[VerifyTask], params: SamplingParams, n_rows: int
    ) -> VerifyShape:
        tables = [self.cache.table(task.sequence_id) for task in tasks]
        n_written = [task.n_drafted + 1 for task in tasks]
        n_positions = max(t.length + n for t, n in zip(tables, n_written, strict=True))
        room = context_room(
            n_positions,
            context_length=self.model.context_length,
            block_size=self.cache.block_size,
        )
        mode = self.modes.choose(are_side_by_side=lie_side_by_side(tables, n_written))
        return VerifyShape(
            n_rows=n_rows,
            width=max(n_written),
            context=ContextShape(room, mode),
            params=params,
            has_host_drafts=any(task.host_ids for task in tasks),
            has_device_drafts=any(task.n_drafted and task.host_ids is None for task in tasks),
        )

    def _parts(self, shape: VerifyShape) -> tuple[StaticInputs, Addressing]:
        parts = self._inputs.get(shape)
        if parts is None:
            n_rows, width = shape.n_rows, shape.width
            inputs = StaticInputs(
                self.model.device,
                whole={
                    "newest_ids": (n_rows,),
                    "host_ids": (n_rows, width - 1),
                    "is_from_host": (n_rows,),
                    "n_drafted": (n_rows,),
                    "sources": (n_rows, width),
                    "judged": (n_rows, width),
                    **address_shapes(n_rows, width, shape.context, self.cache.block_size),
                },
                real={"uniforms": (n_rows, width - 1), "extra_uniforms": (n_rows,)},
            )
            addressing = Addressing(inputs, shape.context, self.cache.block_size)
            parts = self._inputs[shape] = (inputs, addressing)
        return parts

    def _fill(self, inputs: StaticInputs, tasks: Sequence[VerifyTask], shape: VerifyShape) -> None:
        host, width = inputs.host, shape.width
        clear_addresses(inputs, self.cache)
        for name in ("newest_ids", "host_ids", "is_from_host", "n_drafted", "sources", "judged"):
            host[name].fill(0)
        host["uniforms"].fill(0.0)
        host["extra_uniforms"].fill(0.0)
        for row, task in enumerate(tasks):
            n_run = task.n_drafted + 1
            first_column = width - n_run
            host["newest_ids"][row] = task.newest_id
            host["n_drafted"][row] = task.n_drafted
            if task.host_ids:
                host["is_from_host"][row] = 1
                host["host_ids"][row, : task.n_drafted] = task.host_ids
            # Column -> which of (newest, draft 0, draft 1, ...) stands there; padding runs newest.
            host["sources"][row, first_column:] = range(n_run)
            # Draft token -> the column whose logits judge it; behind the last: any column.
            host["judged"][row, :n_run] = range(first_column, width)
            host["uniforms"][row, : task.n_drafted] = task.test_uniforms
            host["extra_uniforms"][row] = task.extra_uniform
            fill_addresses(
                inputs,
                row,
                self.cache.table(task.sequence_id),
                first_column=first_column,
                n_tokens=n_run,
            )

    def _run(
        self,
        inputs: StaticInputs,
        addressing: Addressing,
        shape: VerifyShape,
        results: DraftResults,
    ) -> torch.Tensor:
        given, n_rows, n_most = inputs.device, shape.n_rows, shape.width - 1
        draft = self._draft(given, shape, results)
        known = torch.cat((given["newest_ids"][:, None], draft.token_ids), 1)
        token_ids = known.gather(1, given["sources"])
        batch = addressing.batch(token_ids, addressing.slots(), first_column=0)
        every = self.model.forward(batch, self.cache, n_logits=shape.width)
        logits = every[..., : self._n_tokens]
        if n_rows > 1 and n_most:  # rows are padded on the left; a verdict counts from the first
            index = given["judged"][:, :, None].expand(-1, -1, logits.shape[-1])
            logits = logits.gather(1, index)
        return judge_rows(
            logits,
            draft,
            shape.params,
            uniforms=given["uniforms"],
            extra_uniforms=given["extra_uniforms"],
        )

    def _draft(
        self, given: dict[str, torch.Tensor], shape: VerifyShape, results: DraftResults
    ) -> DraftRows:
        """The drafts of both origins: what a host looked up is certain of itself."""
        n_rows, n_most = shape.n_rows, shape.width - 1
        host_ids, n_drafted = given["host_ids"], given["n_drafted"]
        if not shape.has_device_drafts:
            nothing = torch.zeros(host_ids.shape, dtype=torch.float64, device=host_ids.device)
            return DraftRows(host_ids, n_drafted, nothing, torch.ones_like(nothing), None)
        ids, maxima, confidences = (
            column[:n_rows, :n_most]
            for column in (results.token_ids, results.maxima, results.confidences)
        )
        probs = None
        if results.probs is not None and shape.params.temperature > 0.0:
            probs = results.probs[:n_rows, :n_most]
        if not shape.has_host_drafts:
            return DraftRows(ids, n_drafted, maxima, confidences, probs)
        is_from_host = given["is_from_host"][:, None] > 0
        ids = torch.where(is_from_host, host_ids, ids)
        maxima = maxima.masked_fill(is_from_host, 0.0)
        confidences = confidences.masked_fill(is_from_host, 1.0)
        if probs is not None:
            looked_up = one_hot(ids.reshape(-1), probs.shape[-1]).view(probs.shape)
            probs = torch.where(is_from_host[:, :, None], looked_up, probs)
        return DraftRows(ids, n_drafted, maxima, confidences, probs)
