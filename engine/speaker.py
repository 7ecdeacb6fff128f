"""A step in the words of the wire: what the loop knows, said as events."""

from collections.abc import Callable
from collections.abc import Sequence as Items

from engine.drafters.base import Draft
from engine.readings import Readings
from engine.rejection import Verdict
from engine.sequence import Commit
from engine.step_plan import Plan
from engine.text import TokenTexts
from engine.wire.events import DraftProposed, DraftVerified, Event, StepCommitted


class StepSpeaker:
    """Says the three events of a step for each of its sequences; ``is_profiled`` tells whether the
    time of the step that runs is no measure."""

    def __init__(
        self,
        texts: TokenTexts,
        say: Callable[[Event], None],
        *,
        is_profiled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._texts = texts
        self._say = say
        self._is_profiled = is_profiled

    def proposed(self, step: int, plans: Items[Plan], drafts: Items[Draft]) -> None:
        for plan, draft in zip(plans, drafts, strict=True):
            self._say(
                DraftProposed(
                    sequence_id=plan.sequence.sequence_id,
                    step=step,
                    position=len(plan.sequence.token_ids),
                    gamma=plan.gamma,
                    token_ids=tuple(draft.token_ids),
                    token_texts=self._texts.of(draft.token_ids),
                    draft_probs=tuple([min(1.0, prob) for prob in draft.token_probs()]),
                    drafter=draft.drafter,
                    reason=f"{plan.reason}; {draft.note}" if draft.note else plan.reason,
                    gamma_alpha=plan.alpha,
                    n_non_finite_draft=draft.n_non_finite,
                )
            )

    def judged(
        self,
        step: int,
        plan: Plan,
        draft: Draft,
        *,
        verdict: Verdict,
        readings: Readings,
        commit: Commit,
        position: int,
    ) -> None:
        """The verdict, as far as the sequence goes: draft tokens behind a stop are left out."""
        n_committed = len(commit.token_ids)
        has_extra = n_committed > verdict.n_accepted
        n_told = len(draft) if has_extra else n_committed
        extra_id = verdict.extra_token_id
        self._say(
            DraftVerified(
                sequence_id=plan.sequence.sequence_id,
                step=step,
                position=position,
                token_ids=tuple(draft.token_ids[:n_told]),
                token_texts=self._texts.of(draft.token_ids[:n_told]),
                draft_probs=verdict.draft_probs[:n_told],
                target_probs=verdict.target_probs[:n_told],
                draft_confidences=readings.draft_confidences[:n_told],
                target_confidences=readings.target_confidences[:n_told],
                overlaps=verdict.overlaps[:n_told],
                target_entropies=readings.target_entropies[:n_told],
                uniforms=verdict.uniforms[:n_told],
                fates=verdict.fates[:n_told],
                n_accepted=min(verdict.n_accepted, n_committed),
                extra_token_id=extra_id if has_extra else None,
                extra_token_text=self._texts[extra_id] if has_extra else None,
                extra_origin=verdict.extra_origin if has_extra else None,
                extra_target_prob=verdict.extra_target_prob if has_extra else None,
                extra_entropy=readings.extra_entropy if has_extra else None,
                n_non_finite_draft=draft.n_non_finite,
                n_zero_residual=verdict.n_zero_residual if has_extra else 0,
            )
        )

    def committed(
        self,
        step: int,
        plan: Plan,
        draft: Draft,
        *,
        verdict: Verdict,
        commit: Commit,
        position: int,
        step_ns: int,
    ) -> None:
        n_committed = len(commit.token_ids)
        has_extra = n_committed > verdict.n_accepted
        self._say(
            StepCommitted(
                sequence_id=plan.sequence.sequence_id,
                step=step,
                position=position,
                gamma=plan.gamma,
                n_drafted=len(draft) if has_extra else n_committed,
                n_accepted=min(verdict.n_accepted, n_committed),
                token_ids=commit.token_ids,
                token_texts=commit.texts,
                origins=commit.origins,
                step_ns=step_ns,
                is_profiled=self._is_profiled(),
            )
        )
