"""The heart: one speculative step - draft, verify, accept, commit - for all running sequences at
once.

One draft forward and one verify forward serve the whole batch; each sequence keeps its own draft
length, verdict, block tables, random numbers and stop.
"""

from collections.abc import Callable

import torch

from engine.device.step import DeviceStep
from engine.drafters.base import Draft, Drafter, DraftRequest
from engine.forward import RoleRunner
from engine.gamma import GammaPolicy
from engine.kv.base import ForwardRow
from engine.readings import Readings, read
from engine.rejection import Verdict, judge, judge_one_hot
from engine.sampling import Peaks, SamplingParams, are_usable, one_hot, peaks, probabilities
from engine.scheduler import Scheduler
from engine.speaker import StepSpeaker
from engine.step_plan import Plan
from engine.telemetry.spans import COMMIT, DRAFT, SAMPLE, STEP, VERIFY, SpanRecorder
from engine.wire.events import Origin, Role

Rest = Callable[[str], None]
"""Called at the resting points, "draft" and "commit", and between captures with "capture"; may
block, may raise to end the run."""


class NonFiniteTarget(RuntimeError):
    """The target gave NaN or infinite logits: there is no law to follow."""


class DecodeLoop:
    """Steps the running sequences; the scheduler says which those are."""

    def __init__(
        self,
        *,
        target: RoleRunner,
        drafter: Drafter,
        gamma: GammaPolicy,
        sampling: SamplingParams,
        scheduler: Scheduler,
        speaker: StepSpeaker,
        spans: SpanRecorder,
        rest: Rest,
        device_step: DeviceStep | None = None,
    ) -> None:
        """``device_step`` drafts, verifies and judges where that happens on the device at once."""
        self.device_step = device_step
        self.gamma = gamma
        self.sampling = sampling
        self.scheduler = scheduler
        self._target = target
        self._drafter = drafter
        self._speaker = speaker
        self._spans = spans
        self.rest = rest
        self._step = 0
        scheduler.on_finished = lambda sequence_id: self.gamma.forget(sequence_id)

    def step(self) -> None:
        """Admit what fits, then run one step of all sequences that have room for it."""
        self.scheduler.admit()
        start_ns = self._spans.now_ns()
        plans = self._plan()
        if not plans:
            self.scheduler.make_room()
            return
        step = self._step
        self._step += 1
        try:
            with self._spans.span(STEP):
                if self.device_step is not None:
                    outcome = self.device_step.run(plans, self.sampling)
                    drafts, verdicts, readings = outcome.drafts, outcome.verdicts, outcome.readings
                    start_ns += self._say_draft(step, plans, drafts)
                    for plan, maxima in zip(plans, outcome.target_maxima, strict=True):
                        self._require_usable(maxima, plan)
                else:
                    drafts = self._draft(plans)
                    start_ns += self._say_draft(step, plans, drafts)
                    logits = self._verify(plans, drafts)
                    with self._spans.span(SAMPLE):
                        verdicts, readings = self._judge(plans, drafts, logits)
                with self._spans.span(COMMIT):
                    self._commit(plans, drafts, verdicts, readings, step=step, start_ns=start_ns)
        finally:
            self._spans.flush(step)
        self.rest("commit")

    def _say_draft(self, step: int, plans: list[Plan], drafts: list[Draft]) -> int:
        """Say what is proposed, and rest there; returns how long, in ns: a pause is no work."""
        self._speaker.proposed(step, plans, drafts)
        drafted_ns = self._spans.now_ns()
        self.rest("draft")
        return self._spans.now_ns() - drafted_ns

    def _plan(self) -> list[Plan]:
        """Gamma for every running sequence, cut to what its budget, contexts and blocks allow; a
        sequence without blocks for even one token sits the step out."""
        plans = []
        for sequence in self.scheduler.running:
            choice = self.gamma.choose(sequence.sequence_id)
            gamma, reason = choice.gamma, choice.reason
            n_known = len(sequence.token_ids)
            in_blocks = self._target.cache.room(sequence.sequence_id) - n_known
            if in_blocks < 0:
                continue
            for limit, why in (
                (sequence.gamma_room(), "the end of the budget or of the context is near"),
                (in_blocks, "too few free blocks for the verification"),
            ):
                if limit < gamma:
                    gamma, reason = limit, why
            draft_room, why = self._drafter.gamma_room(sequence, gamma)
            if draft_room < gamma:
                gamma, reason = draft_room, why or reason
            self._target.cache.reserve(sequence.sequence_id, n_known + gamma)
            plans.append(Plan(sequence, gamma, reason, choice.alpha, sequence.draw_uniforms(gamma)))
        return plans

    def _draft(self, plans: list[Plan]) -> list[Draft]:
        requests = [DraftRequest(p.sequence, p.gamma, p.uniforms.draft) for p in plans]
        with self._spans.span(DRAFT, Role.DRAFT):
            return self._drafter.propose(requests, self.sampling)

    def _verify(self, plans: list[Plan], drafts: list[Draft]) -> list[torch.Tensor]:
        """One target forward over each sequence's newest token and draft: logits
        [n_drafted + 1, n_tokens] per sequence."""
        rows = [
            ForwardRow(plan.sequence.sequence_id, [plan.sequence.token_ids[-1], *draft.token_ids])
            for plan, draft in zip(plans, drafts, strict=True)
        ]
        width = max([len(row.token_ids) for row in rows])
        logits = self._target.forward(rows, n_logits=width, span_name=VERIFY)
        if len(rows) == 1:
            return [logits[0]]
        return [
            logits[index, width - len(row.token_ids) :] for index, row in enumerate(rows)
        ]  # rows are padded on the left

    def _judge(
        self, plans: list[Plan], drafts: list[Draft], logits: list[torch.Tensor]
    ) -> tuple[list[Verdict], list[Readings]]:
        verdicts, readings = [], []
        for plan, draft, rows in zip(plans, drafts, logits, strict=True):
            highest = peaks(rows)
            self._require_usable(highest.logits, plan)
            verdict = self._verdict(plan, draft, rows, highest)
            verdicts.append(verdict)
            readings.append(read(draft, rows, target_peaks=highest, n_accepted=verdict.n_accepted))
        return verdicts, readings

    def _verdict(self, plan: Plan, draft: Draft, rows: torch.Tensor, highest: Peaks) -> Verdict:
        """``rows`` are the target's logits [n_drafted + 1, n_tokens], ``highest`` their peaks."""
        uniforms = plan.uniforms.test[: len(draft)]
        if draft.probs is None and self.sampling.temperature == 0.0:
            return judge_one_hot(draft.token_ids, highest.token_ids, uniforms=uniforms)
        token_ids = torch.tensor(draft.token_ids, dtype=torch.int64, device=rows.device)
        probs = one_hot(token_ids, rows.shape[-1]) if draft.probs is None else draft.probs
        return judge(
            token_ids,
            probs,
            probabilities(rows, self.sampling),
            uniforms=uniforms,
            extra_uniform=plan.uniforms.extra,
        )

    def _require_usable(self, row_maxima: list[float], plan: Plan) -> None:
        if not are_usable(row_maxima):
            raise NonFiniteTarget(
                f"The target gave non-finite logits after {len(plan.sequence.token_ids)} "
                f"tokens of sequence {plan.sequence.sequence_id}: try another dtype, or "
                "check its weights."
            )

    def _commit(
        self,
        plans: list[Plan],
        drafts: list[Draft],
        verdicts: list[Verdict],
        readings: list[Readings],
        *,
        step: int,
        start_ns: int,
    ) -> None:
        for plan, draft, verdict, reading in zip(plans, drafts, verdicts, readings, strict=True):
            sequence = plan.sequence
            position = len(sequence.token_ids)
            accepted = draft.token_ids[: verdict.n_accepted]
            commit = sequence.commit(
                [*accepted, verdict.extra_token_id],
                [Origin.ACCEPTED] * len(accepted) + [verdict.extra_origin],
            )
            self._speaker.judged(
                step, plan, draft,
                verdict=verdict, readings=reading, commit=commit, position=position,
            )  # fmt: skip
            self._target.cache.settle(sequence.sequence_id, sequence.n_cached, step=step)
            self._drafter.settle(sequence, step=step)
            n_tested = min(verdict.n_accepted + 1, len(draft))
            self.gamma.observe(
                sequence.sequence_id, n_tested=n_tested, n_accepted=verdict.n_accepted
            )
            self._speaker.committed(
                step, plan, draft,
                verdict=verdict, commit=commit, position=position,
                step_ns=self._spans.now_ns() - start_ns,
            )  # fmt: skip
            if commit.finish_reason is not None:
                self.scheduler.finish(sequence, commit.finish_reason, detail=commit.detail)
