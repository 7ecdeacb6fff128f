"""A step that stays on the device: draft, verify and judge are queued, then read at once."""

from collections.abc import Callable, Hashable
from collections.abc import Sequence as Items
from dataclasses import dataclass

import numpy as np
import torch

from engine.calibration import Calibration
from engine.device.draft_loop import FIRST_WIDTH, DraftLoop, DraftResults, DraftTask
from engine.device.graphs import GraphShelf
from engine.device.timing import StepTimer
from engine.device.verdict import JudgedRow, read_rows
from engine.device.verification import Verification, VerifyTask
from engine.device.warm_up import GraphWarmUp
from engine.drafters.base import Draft, Drafter, DraftRequest
from engine.forward import PREFILL_CHUNK, RoleRunner
from engine.kv.base import ForwardRow
from engine.readings import Readings
from engine.rejection import Verdict
from engine.sampling import SamplingParams
from engine.step_plan import Plan
from engine.telemetry.spans import DRAFT, DRAFT_FORWARD, SAMPLE, SpanRecorder
from engine.telemetry.sync_counter import SYNCS
from engine.wire.config import ConfigError
from engine.wire.events import Role

NON_FINITE = "the draft model gave non-finite logits"


@dataclass(frozen=True, eq=False)
class StepOutcome:
    """One entry per plan. ``target_maxima`` are of the logits that judged, see ``are_usable``."""

    drafts: list[Draft]
    verdicts: list[Verdict]
    readings: list[Readings]
    target_maxima: list[list[float]]


class DeviceDrafting:
    """The draft model's part: its drafts are promises until the step is read."""

    def __init__(self, runner: RoleRunner, loop: DraftLoop, *, batch: int) -> None:
        self.loop = loop
        self._runner = runner
        self._batch = batch
        self._rows: dict[int, int] = {}  # sequence_id -> row of the step
        self._results: DraftResults | None = None

    def begin(self, sequence_ids: Items[int], results: DraftResults) -> None:
        """A step of these sequences, in this order."""
        self._rows = {sequence_id: row for row, sequence_id in enumerate(sequence_ids)}
        self._results = results

    def forget(self) -> None:
        """See DeviceStep."""
        self.loop.forget()
        self._results = None

    def propose(self, requests: Items[DraftRequest], params: SamplingParams) -> list[Draft]:
        """See ``engine.drafters.base.Drafter``; tokens are known after the step was read."""
        assert self._results is not None
        tasks = [self._task(request) for request in requests if request.gamma]
        if tasks:
            n_rows = row_count(len(tasks), self._batch)
            self.loop.launch(tasks, self._results, params, n_rows=n_rows)
        return [Draft([], None, None, "model", n_on_device=request.gamma) for request in requests]

    def _task(self, request: DraftRequest) -> DraftTask:
        sequence = request.sequence
        cache, sequence_id = self.loop.cache, sequence.sequence_id
        pending = sequence.token_ids[cache.length(sequence_id) :]
        if len(pending) > FIRST_WIDTH:  # it was not asked for some steps: it catches up
            missed, pending = pending[:-1], pending[-1:]
            for start in range(0, len(missed), PREFILL_CHUNK):
                row = ForwardRow(sequence_id, missed[start : start + PREFILL_CHUNK])
                self._runner.forward([row], n_logits=1, span_name=DRAFT_FORWARD)
        return DraftTask(
            row=self._rows[sequence_id],
            sequence_id=sequence_id,
            pending=list(pending),
            gamma=request.gamma,
            uniforms=request.uniforms,
        )


class DeviceStep:
    """Runs steps for the decode loop. What is captured depends on the sampling, on the longest
    draft allowed and on where the caches lie; when any of these changes it is captured anew."""

    def __init__(
        self,
        *,
        drafter: Drafter,
        drafting: DeviceDrafting | None,
        verification: Verification,
        shelf: GraphShelf,
        spans: SpanRecorder,
        batch: int,
        n_tokens: int,
        warm_up: GraphWarmUp,
    ) -> None:
        self.batch = batch
        self._warm_up = warm_up
        self.shelf = shelf
        self.verification = verification
        self._drafter = drafter
        self._drafting = drafting
        self._spans = spans
        self._n_tokens = n_tokens
        self._results: DraftResults | None = None
        self._bound_to: tuple[SamplingParams, tuple[int, ...]] | None = None

    def run(self, plans: Items[Plan], params: SamplingParams) -> StepOutcome:
        """Draft for ``plans``, verify and judge; the host waits once, for the numbers."""
        results = self.results_for(max(plan.gamma for plan in plans), params)
        if self._drafting is not None:
            self._drafting.begin([plan.sequence.sequence_id for plan in plans], results)
        requests = [DraftRequest(p.sequence, p.gamma, p.uniforms.draft) for p in plans]
        with self._spans.span(DRAFT, Role.DRAFT):
            drafts = self._drafter.propose(requests, params)
        tasks = [_verify_task(plan, draft) for plan, draft in zip(plans, drafts, strict=True)]
        numbers = self.verification.launch(
            tasks, results, params, n_rows=row_count(len(tasks), self.batch)
        )
        with self._spans.span(SAMPLE):
            rows = read_rows(
                _on_host(numbers),
                [task.n_drafted for task in tasks],
                [task.test_uniforms for task in tasks],
                n_most=max(task.n_drafted for task in tasks),
            )
        return StepOutcome(
            drafts=[_told(draft, row) for draft, row in zip(drafts, rows, strict=True)],
            verdicts=[row.verdict for row in rows],
            readings=[row.readings for row in rows],
            target_maxima=[row.target_maxima for row in rows],
        )

    def results_for(self, gamma: int, params: SamplingParams) -> DraftResults:
        """Room for drafts of that length. A change drops what was captured for the room before, and
        that room itself before another is made: both at once may not fit the memory."""
        results, bound_to = self._results, (params, self._addresses())
        if results is not None and results.gamma >= gamma and bound_to == self._bound_to:
            return results
        del results
        self.forget()
        self._results = DraftResults(
            self.batch,
            max(gamma, 1),
            self._n_tokens,
            has_probs=self._drafting is not None and params.temperature > 0.0,
            device=self.verification.model.device,
        )
        self._bound_to = bound_to
        return self._results

    def check_room(self, gamma: int, params: SamplingParams) -> None:
        """Raise ConfigError, with the numbers, where drafts of that length do not fit."""
        results = self._results
        has_probs = self._drafting is not None and params.temperature > 0.0
        if results is not None and results.gamma >= gamma and results.has_probs == has_probs:
            return  # there already
        needed = DraftResults.n_bytes(self.batch, gamma, self._n_tokens, has_probs=has_probs)
        free = self._warm_up.free_bytes()
        if free is not None and needed > free:
            raise ConfigError(
                f"The distributions of drafts of {gamma} tokens for {self.batch} sequences take "
                f"{needed} bytes, and {free} are free: give a smaller gamma or batch, or decode "
                "greedily (temperature 0)."
            )

    def _addresses(self) -> tuple[int, ...]:
        """Of the caches, which a graph reads where they were when it was captured."""
        loops = () if self._drafting is None else (self._drafting.loop,)
        return tuple(part.cache.address for part in (self.verification, *loops))

    def contexts(self, *, positions: tuple[int, int]) -> frozenset[Hashable]:
        """The contexts that are captured for so many positions, see ``prepare``."""
        return self._warm_up.contexts(positions)

    def prepare(
        self,
        gamma: int,
        params: SamplingParams,
        *,
        positions: tuple[int, int],
        rest: Callable[[], None] = lambda: None,
    ) -> None:
        """Capture what steps with drafts of up to ``gamma`` tokens will need, for contexts that
        reach between ``positions`` at the least and at the most; ``rest`` is called before each
        capture, and may raise."""
        results = self.results_for(gamma, params)
        counts = {row_count(n, self.batch) for n in range(1, self.batch + 1)}
        self._warm_up.capture(
            results, params, gamma=gamma, row_counts=counts, positions=positions, rest=rest
        )

    def calibrate(
        self,
        gamma: int,
        params: SamplingParams,
        *,
        context_length: int,
        now_ns: Callable[[], int],
    ) -> Calibration:
        """What steps with drafts of up to ``gamma`` tokens cost, as they are run here."""
        timer = StepTimer(
            self._drafting.loop if self._drafting is not None else None,
            self.verification,
            timer=self._spans.gpu_timer,
            now_ns=now_ns,
        )
        return timer.calibrate(
            self.results_for(gamma, params),
            params,
            context_length=context_length,
            gamma=gamma,
            is_captured=lambda: self.shelf.is_capturing,
        )

    def forget(self) -> None:
        """Drop all that was captured, and what it reads and writes."""
        self.shelf.drop()
        self.verification.forget()
        if self._drafting is not None:
            self._drafting.forget()
        self._results = None


def row_count(n_tasks: int, batch: int) -> int:
    """Rows to compute for ``n_tasks``: a power of two, or the whole batch, so that few shapes
    serve a batch that empties."""
    return int(min(1 << (n_tasks - 1).bit_length(), max(batch, n_tasks)))


def _verify_task(plan: Plan, draft: Draft) -> VerifyTask:
    sequence = plan.sequence
    n_drafted = draft.n_on_device or len(draft)
    return VerifyTask(
        sequence_id=sequence.sequence_id,
        newest_id=sequence.token_ids[-1],
        n_drafted=n_drafted,
        host_ids=None if draft.n_on_device else draft.token_ids,
        test_uniforms=plan.uniforms.test[:n_drafted],
        extra_uniform=plan.uniforms.extra,
    )


def _told(draft: Draft, row: JudgedRow) -> Draft:
    """The draft as the host knows it now."""
    if not draft.n_on_device:
        return draft
    return Draft(
        token_ids=row.token_ids,
        probs=None,
        logits=None,
        drafter=draft.drafter,
        note=NON_FINITE if row.n_non_finite else draft.note,
        n_non_finite=row.n_non_finite,
        drawn_with=row.draft_probs,
    )


def _on_host(numbers: torch.Tensor) -> np.ndarray:
    if numbers.is_cuda:
        SYNCS.count()
    return np.asarray(numbers.cpu())
