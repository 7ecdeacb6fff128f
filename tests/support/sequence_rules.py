"""The life of a sequence: started, then draft, verdict and commit of each step, then finished."""

from dataclasses import dataclass, field
from typing import Any

from engine.wire.events import (
    DraftProposed,
    DraftVerified,
    Event,
    Fate,
    LogEmitted,
    Origin,
    PrefillCompleted,
    SequenceFinished,
    SequenceSetBack,
    SequenceStarted,
    StepCommitted,
)

ROUNDING = 1e-5
"""Relative error allowed where probabilities in single precision were compared or summed."""


@dataclass
class SequenceState:
    n_prompt: int
    max_new_tokens: int
    prompt_ids: tuple[int, ...]
    n_committed: int = 0
    is_running: bool = True  # False after SequenceSetBack
    is_over: bool = False  # SequenceFinished
    is_stopped: bool = False  # its last step was cut: no other may follow
    proposed: DraftProposed | None = None  # of the open step
    verified: DraftVerified | None = None
    last_step: int = -1

    @property
    def n_tokens(self) -> int:
        return self.n_prompt + self.n_committed


@dataclass
class SequenceRules:
    """Checks the events of sequences and keeps what the cache rules need to know."""

    states: dict[int, SequenceState] = field(default_factory=dict)
    steps: set[int] = field(default_factory=set)
    step: int = -1

    def running_ids(self) -> list[int]:
        return [number for number, state in self.states.items() if not state.is_over]

    def check(self, event: Event) -> None:
        match event:
            case SequenceStarted():
                self._start(event)
                return
            case LogEmitted():
                return  # may speak of a sequence at any time
        sequence_id = getattr(event, "sequence_id", None)
        if sequence_id is None:
            return
        assert sequence_id in self.states, f"sequence {sequence_id} has not started"
        state = self.states[sequence_id]
        assert not state.is_over, f"sequence {sequence_id} has finished"
        match event:
            case PrefillCompleted():
                assert state.is_running, "a prefill of a sequence that waits"
                assert min(event.n_tokens, event.host_ns) >= 0, "a negative reading"
                assert event.start_ns + event.host_ns <= event.t_ns, "ends after it was said"
            case DraftProposed():
                self._propose(event, state)
            case DraftVerified():
                self._verify(event, state)
            case StepCommitted():
                self._commit(event, state)
            case SequenceSetBack():
                assert state.is_running, "is set back twice"
                assert state.proposed is None, "is set back within a step"
                assert event.n_output_tokens == state.n_committed, (
                    f"{event.n_output_tokens} output tokens, {state.n_committed} were committed"
                )
                state.is_running = False
            case SequenceFinished():
                self._finish(event, state)

    def _start(self, event: SequenceStarted) -> None:
        n_prompt = len(event.prompt_token_ids)
        assert n_prompt > 0, "the prompt has no token"
        assert len(event.prompt_token_texts) == n_prompt, "prompt ids and texts differ in number"
        state = self.states.get(event.sequence_id)
        if state is None:
            assert event.n_resumed == 0, "resumes what never ran"
            self.states[event.sequence_id] = SequenceState(
                n_prompt, event.max_new_tokens, event.prompt_token_ids
            )
            return
        assert not state.is_over, f"sequence {event.sequence_id} has finished"
        assert not state.is_running, f"sequence {event.sequence_id} starts twice"
        assert event.n_resumed == state.n_committed, (
            f"resumes {event.n_resumed} tokens, {state.n_committed} were committed"
        )
        assert event.prompt_token_ids == state.prompt_ids, "resumes with another prompt"
        state.is_running = True

    def _propose(self, event: DraftProposed, state: SequenceState) -> None:
        assert state.is_running, "drafts for a sequence that waits"
        assert state.proposed is None, "a step is still open"
        assert not state.is_stopped, "drafts after the sequence stopped"
        assert event.step > state.last_step, f"step {state.last_step} was before"
        if event.step != self.step:
            assert event.step > self.step, f"step {self.step} was before"
            unfinished = [n for n, s in self.states.items() if s.proposed is not None]
            assert not unfinished, f"step {self.step} is still open for sequences {unfinished}"
        self.step = event.step
        self.steps.add(event.step)
        self._check_position(event, state)
        n = len(event.token_ids)
        assert len(event.token_texts) == len(event.draft_probs) == n, "columns differ in length"
        assert 0 <= n <= event.gamma, f"drafts {n} tokens where gamma is {event.gamma}"
        _check_shares(event, "draft_probs")
        assert event.n_non_finite_draft >= 0, "a negative count"
        assert event.gamma_alpha is None or 0 <= event.gamma_alpha <= 1, "gamma_alpha not in 0..1"
        state.proposed, state.last_step = event, event.step

    def _verify(self, event: DraftVerified, state: SequenceState) -> None:
        proposed = state.proposed
        assert proposed is not None, "no draft waits for a verdict"
        assert state.verified is None, "the draft has its verdict"
        assert event.step == proposed.step, f"the draft was of step {proposed.step}"
        self._check_position(event, state)
        n = len(event.token_ids)
        for name in ("token_ids", "token_texts", "draft_probs"):
            assert getattr(event, name) == getattr(proposed, name)[:n], (
                f"{name} are not the draft's"
            )
        columns = ("target_probs", "draft_confidences", "target_confidences", "overlaps")
        for name in columns:
            _check_shares(event, name)
        for name in (*columns, "target_entropies", "uniforms", "fates"):
            assert len(getattr(event, name)) == n, f"{name} has not one entry per token"
        assert all(value >= -ROUNDING for value in event.target_entropies), "a negative entropy"
        assert all(0 <= value < 1 for value in event.uniforms), "a uniform outside 0..1"
        assert min(event.n_non_finite_draft, event.n_zero_residual) >= 0, "a negative count"
        _check_fates(event)
        _check_extra(event, is_cut=n < len(proposed.token_ids))
        state.verified = event
        state.is_stopped = event.extra_origin is None

    def _commit(self, event: StepCommitted, state: SequenceState) -> None:
        verified = state.verified
        proposed = state.proposed
        assert proposed is not None, "no step is open"
        assert verified is not None, "no verdict waits to be committed"
        assert event.step == verified.step, f"the verdict was of step {verified.step}"
        self._check_position(event, state)
        assert event.gamma == proposed.gamma, f"gamma was {proposed.gamma}"
        assert event.n_drafted == len(verified.token_ids), "n_drafted is not the verdict's"
        assert event.n_accepted == verified.n_accepted, "n_accepted is not the verdict's"
        assert event.step_ns >= 0, "a negative step_ns"
        n = len(event.token_ids)
        assert len(event.token_texts) == len(event.origins) == n, "columns differ in length"
        ids = list(verified.token_ids[: verified.n_accepted])
        origins = [Origin.ACCEPTED] * verified.n_accepted
        if verified.extra_origin is not None and verified.extra_token_id is not None:
            ids.append(verified.extra_token_id)
            origins.append(verified.extra_origin)
        assert list(event.token_ids) == ids[:n], "commits other tokens than the verdict's"
        assert list(event.origins) == origins[:n], "origins are not the verdict's"
        assert n > 0, "commits nothing"
        state.is_stopped = state.is_stopped or n < len(ids)
        state.n_committed += n
        assert state.n_committed <= state.max_new_tokens, "commits more than max_new_tokens"
        state.proposed = state.verified = None

    def _finish(self, event: SequenceFinished, state: SequenceState) -> None:
        assert event.n_output_tokens == state.n_committed, (
            f"{event.n_output_tokens} output tokens, {state.n_committed} were committed"
        )
        assert event.elapsed_ns >= 0, "a negative elapsed_ns"
        state.is_over = True
        state.is_running = False

    def _check_position(self, event: Any, state: SequenceState) -> None:
        assert event.position == state.n_tokens, (
            f"is at position {event.position}; the sequence has {state.n_tokens} tokens"
        )


def _check_shares(event: Event, name: str) -> None:
    for value in getattr(event, name):
        assert 0 <= value <= 1 + ROUNDING, f"{name} holds {value}, which is not in 0..1"


def _check_fates(event: DraftVerified) -> None:
    fates = list(event.fates)
    n_accepted = fates.count(Fate.ACCEPTED)
    assert event.n_accepted == n_accepted, f"n_accepted is {event.n_accepted}, not {n_accepted}"
    tail = fates[n_accepted:]
    expected = [Fate.REJECTED] + [Fate.DISCARDED] * (len(tail) - 1) if tail else []
    assert fates == [Fate.ACCEPTED] * n_accepted + expected, (
        "fates are not: accepted, then at most one rejected, then discarded"
    )
    for i, fate in enumerate(fates):
        draft, target, uniform = event.draft_probs[i], event.target_probs[i], event.uniforms[i]
        if fate is Fate.DISCARDED or draft == 0:
            continue  # never tested, or never possible
        slack = ROUNDING * max(target, uniform * draft)
        if fate is Fate.ACCEPTED:
            assert uniform * draft < target + slack, f"token {i} was accepted against its numbers"
        else:
            assert uniform * draft >= target - slack, f"token {i} was rejected against its numbers"


def _check_extra(event: DraftVerified, *, is_cut: bool) -> None:
    has_rejection = Fate.REJECTED in event.fates
    assert (event.extra_token_id is None) == (event.extra_origin is None), "an extra without origin"
    assert (event.extra_token_text is None) == (event.extra_origin is None), "an extra without text"
    match event.extra_origin:
        case None:
            assert not has_rejection, "a rejection and no recovered token"
            assert event.token_ids, "neither a draft nor an extra token"
        case Origin.RECOVERED:
            assert has_rejection, "a recovered token without a rejection"
        case Origin.BONUS:
            assert not has_rejection, "a bonus after a rejection"
            assert not is_cut, "a bonus behind a draft that was cut"
        case _:
            raise AssertionError(f"an extra token cannot be {event.extra_origin}")
    for name in ("extra_target_prob", "extra_entropy"):
        value = getattr(event, name)
        assert value is None or value >= -ROUNDING, f"{name} is negative"
    if event.extra_target_prob is not None:
        assert event.extra_target_prob <= 1 + ROUNDING, "extra_target_prob is above 1"
