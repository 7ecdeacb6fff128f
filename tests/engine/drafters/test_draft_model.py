"""What the draft model's cache holds, step by step, and what stops a draft."""

from typing import Any

import pytest
import torch

from engine.drafters.draft_model import CONTEXT_FULL, NO_BLOCKS, NON_FINITE
from engine.wire.events import Fate, FinishReason, KvAdvanced, Origin, Role
from tests.support.running_engine import Patched, RunningEngine, greedy
from tests.support.toy_model import ToyModel

NAN, INF = float("nan"), float("inf")
TARGET = ToyModel(16, seed=1)
PROMPT = [3, 1, 4, 1, 5]


@pytest.mark.parametrize("gamma", range(1, 9))
def test_the_target_as_its_own_draft_is_always_accepted(gamma: int) -> None:
    """200 tokens: a draft cache that loses or repeats a position would show."""
    running = RunningEngine(TARGET, TARGET, gamma=gamma, max_new_tokens=200)
    running.run(PROMPT)
    fates = [fate for event in running.verified() for fate in event.fates]
    assert set(fates) == {Fate.ACCEPTED}
    assert len(running.output()) == 200
    n_steps = -(-200 // (gamma + 1))
    assert len(running.verified()) == n_steps
    assert [event.gamma for event in running.proposed()][:-1] == [gamma] * (n_steps - 1)


def scripted(n_accepted: int) -> tuple[Any, list[int]]:
    """A draft that guesses the target's greedy text right ``n_accepted`` times in each step of
    gamma 4, and the widths of its forwards."""
    text = [*PROMPT, *greedy(TARGET, PROMPT, 60)]
    widths: list[int] = []

    def guess(logits: torch.Tensor, batch: Any, n_forward: int) -> torch.Tensor:
        widths.append(batch.widths[0])
        logits = torch.full_like(logits, -5.0)
        if n_forward > 1:  # after the prefill
            place = batch.context_lengths[0]
            is_right = (n_forward - 2) % 4 < n_accepted
            logits[..., text[place] if is_right else (text[place] + 1) % 16] = 5.0
        return logits

    return Patched(ToyModel(16, seed=2), guess), widths


@pytest.mark.parametrize(("n_accepted", "rolled_back"), [(0, 3), (1, 2), (2, 1), (3, 0), (4, 0)])
def test_rows_kept_in_the_draft_cache(n_accepted: int, rolled_back: int) -> None:
    """Of the four rows written (the newest token and all drafts but the last), a + 1 stay: 1, 2,
    3, 4; when all are accepted the last draft token is written first of all in the next step."""
    draft, widths = scripted(n_accepted)
    running = RunningEngine(TARGET, draft, gamma=4, max_new_tokens=30)
    running.submit(PROMPT)
    sequence = running.scheduler.waiting[0]
    running.step()
    for _ in range(3):
        held = running.draft_cache.length(0)
        assert held == sequence.n_cached - (1 if n_accepted == 4 else 0)
        n_forwards = len(widths)
        running.step()
        assert widths[n_forwards:] == [2 if n_accepted == 4 else 1, 1, 1, 1]
        advanced = running.all(KvAdvanced)
        last = [event for event in advanced if event.role is Role.DRAFT][-1]
        assert last.n_written == (5 if n_accepted == 4 else 4)
        assert last.n_rolled_back == rolled_back
        assert running.target_cache.length(0) == sequence.n_cached
    running.run()
    assert running.output() == greedy(TARGET, PROMPT, 30)
    assert {event.n_accepted for event in running.verified()[:4]} == {n_accepted}


# --- non-finite rows -----------------------------------------------------------------------------


def spoil(row: str) -> Any:
    def change(logits: torch.Tensor) -> torch.Tensor:
        logits = logits.clone()
        match row:
            case "nan":
                logits[:] = NAN
            case "one nan":
                logits[..., 3] = NAN
            case "one inf":
                logits[..., 3] = INF
            case "all -inf":
                logits[:] = -INF
        return logits

    return change


ROWS = ["nan", "one nan", "one inf", "all -inf"]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_an_unusable_row_ends_the_draft_and_is_counted(row: str, temperature: float) -> None:
    """The third forward of every draft is spoilt: two tokens are proposed."""
    change = spoil(row)
    draft = Patched(
        ToyModel(16, seed=2),
        lambda logits, batch, n: change(logits) if n > 1 and (n - 2) % 3 == 2 else logits,
    )
    running = RunningEngine(TARGET, draft, gamma=4, max_new_tokens=20, temperature=temperature)
    running.run(PROMPT)
    proposed = [event for event in running.proposed() if event.gamma >= 3]
    assert len(proposed) >= 4
    for event in proposed:
        assert (len(event.token_ids), event.n_non_finite_draft) == (2, 1)
        assert event.reason == f"fixed; {NON_FINITE}" or "budget" in event.reason
    verified = running.verified()
    assert sum(event.n_non_finite_draft for event in verified) >= len(proposed)
    if temperature == 0.0:
        assert running.output() == greedy(TARGET, PROMPT, 20)


@pytest.mark.parametrize("row", ROWS)
def test_a_draft_that_breaks_in_the_middle_costs_no_text(row: str) -> None:
    """From its tenth forward on it gives nothing usable; the target's text goes on."""
    change = spoil(row)
    draft = Patched(TARGET, lambda logits, batch, n: change(logits) if n >= 10 else logits)
    running = RunningEngine(TARGET, draft, gamma=4, max_new_tokens=40)
    running.run(PROMPT)
    assert running.output() == greedy(TARGET, PROMPT, 40)
    verified = running.verified()
    assert verified[0].n_accepted == 4
    broken = [event for event in verified if event.n_non_finite_draft]
    assert len(broken) >= 15
    assert all(event.token_ids == () for event in broken[1:])
    assert all(event.extra_origin is Origin.BONUS for event in broken[1:])


def test_one_broken_row_of_a_batch_leaves_the_others() -> None:
    def change(logits: torch.Tensor, batch: Any, n_forward: int) -> torch.Tensor:
        logits = logits.clone()
        logits[batch.token_ids[:, -1] == 7] = NAN  # rows that ask what follows token 7
        return logits

    draft = Patched(ToyModel(16, seed=2), change)
    running = RunningEngine(TARGET, draft, gamma=4, max_new_tokens=30, batch=4)
    prompts = [[7], [1, 2, 3], [9, 7, 9], [15, 0, 7]]
    running.run(*prompts)
    for sequence_id, prompt in enumerate(prompts):
        assert running.output(sequence_id) == greedy(TARGET, prompt, 30)
    assert running.proposed(0)[0].n_non_finite_draft == 1
    assert running.proposed(1)[0].n_non_finite_draft == 0


class NanForAWhile(ToyModel):
    """Hidden states, and with them keys and values, of some forwards are NaN."""

    bad: range = range(0)

    def forward(self, batch: Any, store: Any, *, n_logits: int) -> torch.Tensor:
        is_bad = self.n_forwards in self.bad
        embed = self._embed
        if is_bad:
            self._embed = torch.full_like(embed, NAN)
        try:
            return super().forward(batch, store, n_logits=n_logits)
        finally:
            self._embed = embed


def test_sequences_drafted_for_after_a_spell_of_nan_are_drafted_for_again() -> None:
    """NaN keys of one forward must not reach sequences that started later."""
    draft = NanForAWhile(16, seed=1)
    running = RunningEngine(TARGET, draft, gamma=3, max_new_tokens=12, batch=2, block_size=16)
    draft.bad = range(2, 4)  # after both prefills
    running.submit(PROMPT, max_new_tokens=6)
    running.submit(PROMPT[:3], max_new_tokens=6)
    while running.engine.has_work:
        running.step()
    draft.bad = range(0)
    running.submit([2, 7, 1, 8, 2, 8], max_new_tokens=12)
    running.submit([2, 7, 1], max_new_tokens=12)
    running.run()
    for sequence_id, prompt in ((2, [2, 7, 1, 8, 2, 8]), (3, [2, 7, 1])):
        verified = running.verified(sequence_id)
        assert all(event.n_non_finite_draft == 0 for event in verified)
        assert {fate for event in verified for fate in event.fates} == {Fate.ACCEPTED}
        assert running.output(sequence_id) == greedy(TARGET, prompt, 12)


# --- too little room -----------------------------------------------------------------------------


def test_a_shorter_context_gives_way_to_plain_decoding() -> None:
    draft = ToyModel(16, seed=1, context_length=20)
    target = ToyModel(16, seed=5, context_length=64)
    running = RunningEngine(target, draft, gamma=4, max_new_tokens=40)
    running.run(PROMPT)
    assert running.output() == greedy(target, PROMPT, 40)
    for event in running.proposed():
        room = max(0, 20 - event.position + 1)  # the draft writes all but the last of its tokens
        left = len(PROMPT) + 40 - event.position - 1
        assert len(event.token_ids) == event.gamma == min(4, room, left)
        if room < min(4, left):
            assert event.reason == CONTEXT_FULL
    assert running.proposed()[-2].reason == CONTEXT_FULL
    assert {e.gamma for e in running.proposed() if e.position > 20} == {0}


@pytest.mark.parametrize("n_prompt", range(18, 24))
def test_prompts_about_as_long_as_the_draft_s_context(n_prompt: int) -> None:
    draft = ToyModel(16, seed=1, context_length=20)
    target = ToyModel(16, seed=5, context_length=64)
    prompt = [(7 * i) % 16 for i in range(n_prompt)]
    for allocation, n_blocks in (("paged", 4), ("contiguous", 8), ("paged", 2)):
        running = RunningEngine(
            target, draft, gamma=4, max_new_tokens=8, allocation=allocation, n_blocks=n_blocks
        )
        running.run(prompt)
        assert running.output() == greedy(target, prompt, 8)


@pytest.mark.parametrize("n_prompt", [17, 32, 33, 48, 49])
def test_a_prompt_of_the_draft_s_whole_context_needs_its_blocks(n_prompt: int) -> None:
    """It is prefilled, all but its newest token, so it must not be let in without blocks."""
    draft = ToyModel(16, seed=1, context_length=n_prompt)
    n_blocks = -(-n_prompt // 16)
    running = RunningEngine(TARGET, draft, gamma=2, max_new_tokens=4, batch=2, n_blocks=n_blocks)
    assert running.drafter.fits(n_prompt)
    pool = running.draft_cache.pool
    pool.allocate(99, 1, first_logical_block=0)
    assert not running.drafter.fits(n_prompt)
    assert running.drafter.fits(n_prompt + 1)  # which is not drafted for
    pool.free(99, [0])
    running.events.clear()
    prompts = [[(step * i) % 16 for i in range(n_prompt)] for step in (3, 5)]
    for prompt in prompts:
        running.submit(prompt)
    while running.engine.has_work:
        running.step()
    for sequence_id in (0, 1):
        assert running.finished(sequence_id).reason in (
            FinishReason.LENGTH,
            FinishReason.CACHE_FULL,
        )


def test_too_few_draft_blocks_lower_gamma_with_a_reason() -> None:
    running = RunningEngine(TARGET, ToyModel(16, seed=2), gamma=8, max_new_tokens=40, n_blocks=4)
    pool = running.draft_cache.pool
    pool.allocate(99, 3, first_logical_block=0)  # one block is left: 16 positions
    running.events.clear()
    running.submit(PROMPT)
    while running.engine.has_work:
        running.step()
    assert running.output() == greedy(TARGET, PROMPT, 40)
    proposed = [event for event in running.proposed() if event.position + event.gamma - 1 > 10]
    lowered = [event for event in proposed if event.reason == NO_BLOCKS]
    assert lowered
    assert all(e.position + e.gamma - 1 <= 16 or e.gamma == 0 for e in running.proposed())
    assert {event.gamma for event in proposed if event.position > 16} == {0}
