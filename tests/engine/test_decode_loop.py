"""Greedy text, seeds, stops and non-finite targets, through the whole engine of toys."""

from typing import Any

import pytest
import torch

from engine.decode_loop import NonFiniteTarget
from engine.wire.events import (
    DraftProposed,
    DraftVerified,
    Fate,
    FinishReason,
    KvAdvanced,
    LogEmitted,
    Origin,
    Role,
    SpansMeasured,
    StepCommitted,
)
from tests.support.running_engine import Patched, RunningEngine, greedy
from tests.support.toy_model import ToyModel, ToyTokenizer

TARGET = ToyModel(24, seed=1)
DRAFT = ToyModel(24, seed=2)
ALIKE = ToyModel(24, seed=1, sharpness=1.0)  # the target's own argmax, so all is accepted
PROMPTS = [[3, 1, 4, 1, 5, 9, 2, 6], [7], [3, 1, 4, 3, 1], [20, 21], [5] * 17]
NAN, INF = float("nan"), float("inf")
TEXTS = [greedy(TARGET, prompt, 24) for prompt in PROMPTS]


def running_of(drafter: str, **settings: Any) -> RunningEngine:
    draft = {"toy": DRAFT, "composite": DRAFT, "alike": ALIKE}.get(drafter)
    settings.setdefault("max_new_tokens", 24)
    return RunningEngine(TARGET, draft, draft="toy" if drafter == "alike" else drafter, **settings)


# --- greedy --------------------------------------------------------------------------------------


@pytest.mark.parametrize("drafter", ["none", "toy", "alike", "ngram", "composite"])
@pytest.mark.parametrize("gamma", [0, 1, 4, 8])
@pytest.mark.parametrize(
    ("batch", "allocation", "block_size"),
    [(1, "paged", 16), (1, "contiguous", 32), (5, "paged", 32), (5, "contiguous", 16)],
)
def test_greedy_text_is_plain_greedy_text(
    drafter: str, gamma: int, batch: int, allocation: str, block_size: int
) -> None:
    running = running_of(
        drafter, gamma=gamma, batch=batch, allocation=allocation, block_size=block_size
    )
    running.run(*PROMPTS)
    assert [running.outputs()[index] for index in range(5)] == TEXTS
    for index in range(5):
        assert running.finished(index).reason is FinishReason.LENGTH


def test_an_adaptive_gamma_changes_no_text() -> None:
    for drafter in ("toy", "alike"):
        running = running_of(drafter, gamma="auto", max_gamma=8, batch=5)
        running.run(*PROMPTS)
        assert [running.outputs()[index] for index in range(5)] == TEXTS
        assert len({event.gamma for event in running.proposed()}) > 1
        assert all(event.gamma_alpha is not None for event in running.proposed())


def test_an_adaptive_gamma_learns_from_tested_tokens_alone() -> None:
    """Accepted over accepted and rejected, one token at a time weighing .97 less; discarded ones
    were never tested."""
    running = running_of("toy", gamma="auto", max_gamma=8)
    running.run(PROMPTS[0])
    tested, accepted = 4.0, 2.8
    for proposed, verified in zip(running.proposed(), running.verified(), strict=True):
        assert proposed.gamma_alpha == pytest.approx(accepted / tested)
        n_tested = len(verified.fates) - verified.fates.count(Fate.DISCARDED)
        tested = tested * 0.97**n_tested + n_tested
        accepted = accepted * 0.97**n_tested + verified.n_accepted
    assert any(Fate.DISCARDED in event.fates for event in running.verified())


def test_steps_are_numbered_and_shared_by_the_batch() -> None:
    running = running_of("toy", gamma=3, batch=3)
    running.run(*PROMPTS[:3])
    steps = [event.step for event in running.all(SpansMeasured) if "step" in event.names]
    assert steps == list(range(len(steps)))
    first = [event.sequence_id for event in running.proposed() if event.step == 0]
    assert first == [0, 1, 2]


# --- seeds ---------------------------------------------------------------------------------------


def sampled(prompts: list[list[int]], *, seed: int = 5, **settings: Any) -> RunningEngine:
    settings = {"gamma": 4, "temperature": 1.0, "seed": seed, **settings}
    running = running_of("toy", **settings)
    running.run(*prompts)
    return running


def test_a_seed_gives_the_same_tokens_again() -> None:
    assert sampled(PROMPTS).outputs() == sampled(PROMPTS).outputs()
    assert sampled(PROMPTS).outputs() != sampled(PROMPTS, seed=6).outputs()


@pytest.mark.parametrize("gamma", [0, 1, 4, 8])
def test_the_batch_does_not_change_a_sequence_s_tokens(gamma: int) -> None:
    alone = sampled(PROMPTS, gamma=gamma).outputs()
    for settings in ({"batch": 2}, {"batch": 5}, {"batch": 5, "allocation": "contiguous"}):
        assert sampled(PROMPTS, gamma=gamma, **settings).outputs() == alone


def test_a_seed_of_its_own() -> None:
    running = running_of("toy", gamma=4, temperature=1.0, batch=3)
    for seed in (11, 11, 12):
        running.submit(PROMPTS[0], seed=seed)
    running.run()
    outputs = running.outputs()
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.parametrize("gamma", [0, 1, 4])
def test_the_numbers_used_do_not_depend_on_what_is_accepted(gamma: int) -> None:
    """Of two drafts, one always right: every step meets the same numbers in the same places."""
    met = []
    for drafter in ("toy", "alike"):
        running = running_of(drafter, gamma=gamma, temperature=0.0, seed=3, max_new_tokens=200)
        running.submit(PROMPTS[0])
        for _ in range(4):
            running.step()
        met.append([event.uniforms for event in running.verified()])
    assert met[0] == met[1]
    generator = torch.Generator().manual_seed(3)
    for uniforms in met[0]:
        numbers = torch.rand(2 * gamma + 1, generator=generator, dtype=torch.float64).tolist()
        assert list(uniforms) == numbers[gamma : 2 * gamma]


# --- budgets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", range(9))
@pytest.mark.parametrize("limit", [1, 2, 6, 9])
def test_exactly_the_budget(gamma: int, limit: int) -> None:
    running = running_of("alike", gamma=gamma, max_new_tokens=limit)
    running.run(PROMPTS[0])
    assert running.output() == TEXTS[0][:limit]
    assert running.finished().n_output_tokens == limit
    assert running.finished().reason is FinishReason.LENGTH
    room = limit
    for event, commit in zip(running.proposed(), running.all(StepCommitted), strict=True):
        assert event.gamma == min(gamma, room - 1)
        room -= len(commit.token_ids)
        if event.gamma < gamma:
            assert event.reason == "the end of the budget or of the context is near"


def test_six_tokens_of_a_draft_of_four() -> None:
    running = running_of("alike", gamma=4, max_new_tokens=6)
    running.run(PROMPTS[0])
    assert [len(commit.token_ids) for commit in running.all(StepCommitted)] == [5, 1]


@pytest.mark.parametrize("gamma", [0, 1, 4, 8])
@pytest.mark.parametrize("n_prompt", [1, 10, 18, 19])
def test_the_context_ends_it_and_shrinks_gamma_before(gamma: int, n_prompt: int) -> None:
    target = ToyModel(24, seed=1, context_length=20)
    running = RunningEngine(target, ToyModel(24, seed=1), gamma=gamma, max_new_tokens=1000)
    prompt = [(5 * i) % 24 for i in range(n_prompt)]
    running.run(prompt)
    assert running.finished().reason is FinishReason.CONTEXT
    assert running.output() == greedy(target, prompt, 20 - n_prompt)
    advanced = [e for e in running.all(KvAdvanced) if e.role is Role.TARGET]
    assert max(e.position + e.n_written for e in advanced) <= 20
    for event in running.proposed():
        assert event.gamma == min(gamma, 20 - event.position - 1)


# --- stops ---------------------------------------------------------------------------------------


def first_place(text: list[int]) -> int:
    """A place whose token is new there, inside the first draft of 8."""
    return next(i for i in range(2, 8) if text[i] not in text[:i])


@pytest.mark.parametrize("gamma", [0, 1, 4, 8])
@pytest.mark.parametrize("drafter", ["toy", "alike"])
@pytest.mark.parametrize("slack", [0, 1, 10])
def test_eos_inside_an_accepted_draft(gamma: int, drafter: str, slack: int) -> None:
    """Tokens behind it are in no count, no verdict and no cache; at the budget it is still EOS."""
    place = first_place(TEXTS[0])
    eos = TEXTS[0][place]
    running = running_of(
        drafter, gamma=gamma, max_new_tokens=place + 1 + slack,
        tokenizer=ToyTokenizer(24, eos_ids=frozenset({eos})),
    )  # fmt: skip
    running.run(PROMPTS[0])
    assert running.output() == TEXTS[0][: place + 1]
    assert running.finished().reason is FinishReason.EOS
    last = running.verified()[-1]
    told = [*last.token_ids[: last.n_accepted]]
    if last.extra_token_id is None:
        assert set(last.fates) <= {Fate.ACCEPTED}
        assert len(last.token_ids) == last.n_accepted
        assert (last.extra_origin, last.extra_entropy, last.extra_target_prob) == (None,) * 3
    else:
        told.append(last.extra_token_id)
    assert told[-1] == eos
    commit = running.all(StepCommitted)[-1]
    assert commit.token_ids == tuple(told)
    assert commit.n_drafted == len(last.token_ids)
    advanced = [e for e in running.all(KvAdvanced) if e.role is Role.TARGET][-1]
    length = advanced.position + advanced.n_written - advanced.n_rolled_back
    assert length == len(PROMPTS[0]) + place  # all but the newest token


def test_eos_can_be_ignored() -> None:
    eos = TEXTS[0][2]
    running = running_of(
        "alike", gamma=4, ignore_eos=True, tokenizer=ToyTokenizer(24, eos_ids=frozenset({eos}))
    )
    running.run(PROMPTS[0])
    assert running.output() == TEXTS[0]
    assert running.finished().reason is FinishReason.LENGTH


@pytest.mark.parametrize("gamma", [0, 1, 2, 4, 8])
def test_a_stop_string_across_tokens_and_steps(gamma: int) -> None:
    """Three letters, wherever the steps cut them; the draft is right throughout."""
    text = "".join(chr(97 + token_id % 26) for token_id in TEXTS[0])
    for place in range(2, 16):
        stop = text[place : place + 3]
        end = text.index(stop) + 3
        running = running_of("alike", gamma=gamma, stop_strings=("###", stop))
        running.run(PROMPTS[0])
        finished = running.finished()
        assert (finished.reason, finished.detail) == (FinishReason.STOP_STRING, stop)
        assert finished.text == text[:end]
        assert running.output() == TEXTS[0][:end]
        assert sum(len(c.token_ids) for c in running.all(StepCommitted)) == end


def test_one_sequence_of_a_batch_stops_and_the_others_go_on() -> None:
    eos = TEXTS[0][1]
    running = running_of(
        "toy", gamma=4, batch=5, tokenizer=ToyTokenizer(24, eos_ids=frozenset({eos}))
    )
    running.run(*PROMPTS)
    for index, text in enumerate(TEXTS):
        end = text.index(eos) + 1 if eos in text else len(text)
        assert running.outputs()[index] == text[:end]


# --- targets that give no law --------------------------------------------------------------------


@pytest.mark.parametrize("value", [NAN, INF])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("column", [0, -1])
def test_a_non_finite_target_is_an_error_and_no_token(
    value: float, temperature: float, column: int
) -> None:
    def change(logits: torch.Tensor, batch: Any, n_forward: int) -> torch.Tensor:
        logits = logits.clone()
        if n_forward == 4:  # prefill, two steps, then this
            logits[:, column, 5] = value
        return logits

    running = RunningEngine(
        Patched(TARGET, change), DRAFT, gamma=4, temperature=temperature, max_new_tokens=50
    )
    running.submit(PROMPTS[0])
    running.step()
    running.step()
    before = running.output()
    with pytest.raises(NonFiniteTarget, match=r"non-finite logits after .* of sequence 0"):
        running.step()
    assert running.output() == before
    assert len(running.verified()) == len(running.all(StepCommitted)) == 2
    running.engine.abandon()
    assert running.target_cache.pool.n_free == running.target_cache.n_blocks


def test_a_target_that_forbids_everything_is_an_error() -> None:
    target = Patched(TARGET, lambda logits, batch, n: torch.full_like(logits, -INF))
    running = RunningEngine(target, gamma=0)
    running.submit([1])
    with pytest.raises(NonFiniteTarget):
        running.step()
    assert running.output() == []


@pytest.mark.parametrize("temperature", [0.0, 1e-40, 1.0])
def test_masked_and_huge_logits_are_a_law(temperature: float) -> None:
    """-inf for some tokens, and the largest number there is for two others."""

    def change(logits: torch.Tensor, batch: Any, n: int) -> torch.Tensor:
        logits = logits.clone()
        logits[..., ::2] = -INF
        logits[..., 3] = logits[..., 7] = 3e38
        return logits

    running = RunningEngine(
        Patched(TARGET, change), DRAFT, gamma=3, temperature=temperature, max_new_tokens=60
    )
    running.run([1, 2])
    expected = {3} if temperature == 0.0 else {3, 7}
    assert set(running.output()) == expected


# --- resting points ------------------------------------------------------------------------------


class Halt(BaseException):
    """As a shutdown ends a step."""


def test_a_step_rests_between_draft_and_verdict_and_after_the_commit() -> None:
    seen: list[tuple[str, str]] = []

    def rest(point: str) -> None:
        kinds = [e for e in running.events if not isinstance(e, (SpansMeasured, LogEmitted))]
        seen.append((point, type(kinds[-1]).__name__))

    running = running_of("toy", gamma=2, max_new_tokens=9, rest=rest)
    running.submit(PROMPTS[0])
    running.step()
    assert seen == [("draft", "DraftProposed"), ("commit", "StepCommitted")]


def test_a_halt_after_the_draft_leaves_what_was_committed_and_frees_all() -> None:
    n_rests = 0

    def rest(point: str) -> None:
        nonlocal n_rests
        n_rests += 1
        if n_rests == 5:  # the draft of the third step
            raise Halt

    running = running_of("toy", gamma=4, batch=2, rest=rest)
    running.submit(PROMPTS[0])
    running.submit(PROMPTS[2])
    running.step()
    running.step()
    with pytest.raises(Halt):
        running.step()
    running.engine.abandon()
    running.check()
    for index in (0, 1):
        assert running.finished(index).reason is FinishReason.STOPPED
        assert running.output(index) == TEXTS[2 * index][: len(running.output(index))]
    assert len(running.all(DraftProposed)) == len(running.all(DraftVerified)) + 2


def test_origins_tell_where_tokens_came_from() -> None:
    running = running_of("toy", gamma=4)
    running.run(PROMPTS[0])
    for verified, commit in zip(running.verified(), running.all(StepCommitted), strict=True):
        *accepted, last = commit.origins
        assert set(accepted) <= {Origin.ACCEPTED}
        is_rejected = Fate.REJECTED in verified.fates
        assert last is (Origin.RECOVERED if is_rejected else Origin.BONUS)
