import pytest

from tests.support.running_engine import RunningEngine, greedy
from tests.support.toy_model import ToyModel

TARGET = ToyModel(16, seed=1)
DRAFT = ToyModel(16, seed=2)
REPEATS = [1, 2, 3, 4, 1, 2]


def test_a_match_goes_first_and_the_model_serves_the_rest() -> None:
    running = RunningEngine(TARGET, DRAFT, draft="composite", gamma=4, max_new_tokens=30, batch=2)
    running.run(REPEATS, [9, 8, 7])
    assert running.proposed(0)[0].drafter == "ngram"
    assert running.proposed(0)[0].token_ids == (3, 4, 1, 2)
    assert running.proposed(1)[0].drafter == "model"
    assert len(running.proposed(1)[0].token_ids) == 4
    assert running.output(0) == greedy(TARGET, REPEATS, 30)
    assert running.output(1) == greedy(TARGET, [9, 8, 7], 30)


def test_the_model_catches_up_on_what_it_was_not_asked_for() -> None:
    """The draft's cache stands still while n-grams match; the target as its own draft shows whether
    it then reads all of it."""
    text = [*REPEATS, *greedy(TARGET, REPEATS, 60)]
    running = RunningEngine(
        TARGET, TARGET, draft="composite", gamma=3, max_new_tokens=60, ngram_min=2
    )
    running.submit(REPEATS)
    while running.engine.has_work:
        running.step()
        if running.scheduler.running:
            sequence = running.scheduler.running[0]
            assert running.draft_cache.length(0) <= sequence.n_cached
            assert running.target_cache.length(0) == sequence.n_cached
    running.check()
    assert running.output() == text[len(REPEATS) :]
    drafters = {event.drafter for event in running.proposed()}
    assert drafters == {"ngram", "model"}
    by_step = {event.step: event.drafter for event in running.proposed()}
    model_steps = [e for e in running.verified() if by_step[e.step] == "model" and e.token_ids]
    assert model_steps
    assert all(event.n_accepted == len(event.token_ids) for event in model_steps)


def test_gamma_zero_asks_nobody() -> None:
    n_before = DRAFT.n_forwards
    running = RunningEngine(TARGET, DRAFT, draft="composite", gamma=0, max_new_tokens=5)
    running.run(REPEATS)
    assert all(event.token_ids == () for event in running.proposed())
    assert running.output() == greedy(TARGET, REPEATS, 5)
    assert DRAFT.n_forwards == n_before


@pytest.mark.parametrize("n_blocks", [2, 3, 4, 6])
def test_reasons_of_the_model_reach_the_draft(n_blocks: int) -> None:
    draft = ToyModel(16, seed=2, context_length=14)
    running = RunningEngine(
        TARGET, draft, draft="composite", gamma=4, max_new_tokens=20, n_blocks=n_blocks,
        ngram_min=6, ngram_max=8,
    )  # fmt: skip
    running.run([9, 8, 7, 6, 5])
    assert running.output() == greedy(TARGET, [9, 8, 7, 6, 5], 20)
    late = [e for e in running.proposed() if e.position > 15 and e.drafter == "model" and e.gamma]
    assert late
    assert all(e.reason.endswith("; the draft model's context is full") for e in late)
