"""Pools of every size: gamma is lowered, sequences wait, are set back and resumed, and the text is
the same; one that can never fit is over with a reason."""

from typing import Any

import pytest

from engine.wire.events import (
    BlocksAllocated,
    FinishReason,
    LogEmitted,
    SequenceFinished,
    SequenceSetBack,
    SequenceStarted,
    StepCommitted,
)
from tests.support.running_engine import RunningEngine, greedy
from tests.support.toy_model import ToyModel

TARGET = ToyModel(24, seed=1, context_length=96)
DRAFT = ToyModel(24, seed=2, context_length=96)
ALIKE = ToyModel(24, seed=1, context_length=96, sharpness=1.0)
PROMPTS = [
    [(step * i + 3) % 24 for i in range(n)] for step, n in ((5, 12), (7, 20), (11, 1), (1, 33))
]
N_NEW = 40
TEXTS = [greedy(TARGET, prompt, N_NEW) for prompt in PROMPTS]
LOWERED = "too few free blocks for the verification"


def blocks(n_positions: int) -> int:
    return -(-n_positions // 16)


def check_texts(running: RunningEngine, n_blocks: int) -> None:
    """Greedy text as far as it goes; the last token of all is not cached, so needs no place."""
    for index, (prompt, text) in enumerate(zip(PROMPTS, TEXTS, strict=True)):
        finished = running.finished(index)
        output = running.output(index)
        assert output == text[: len(output)]
        if blocks(len(prompt) + N_NEW - 1) <= n_blocks:
            assert finished.reason is FinishReason.LENGTH
            assert len(output) == N_NEW
        else:
            assert finished.reason is FinishReason.CACHE_FULL
            assert "do not fit the block pool" in finished.detail
            # It went on as far as the pool can hold it alone.
            assert len(prompt) + len(output) == max(n_blocks * 16 + 1, len(prompt))


@pytest.mark.parametrize("batch", [1, 2, 4])
@pytest.mark.parametrize(
    ("drafter", "n_blocks"),
    [
        *(("alike", n_blocks) for n_blocks in range(1, 15)),
        *(("toy", n_blocks) for n_blocks in (2, 3, 4, 6, 8)),
        *(("none", n_blocks) for n_blocks in (1, 4, 7)),
    ],
)
def test_every_pool_gives_the_same_text(drafter: str, n_blocks: int, batch: int) -> None:
    draft = {"alike": ALIKE, "toy": DRAFT}.get(drafter)
    running = RunningEngine(
        TARGET, draft, gamma=8, batch=batch, n_blocks=n_blocks, max_new_tokens=N_NEW
    )
    running.run(*PROMPTS)
    check_texts(running, n_blocks)
    for event in running.proposed():
        assert event.gamma == 8 or event.reason != "fixed" or drafter == "none"


@pytest.mark.parametrize("drafter", ["ngram", "composite"])
@pytest.mark.parametrize("n_blocks", [1, 2, 3, 5, 8])
def test_other_drafters_in_small_pools(drafter: str, n_blocks: int) -> None:
    running = RunningEngine(
        TARGET, DRAFT if drafter == "composite" else None, draft=drafter,
        gamma=8, batch=3, n_blocks=n_blocks, max_new_tokens=N_NEW,
    )  # fmt: skip
    running.run(*PROMPTS)
    check_texts(running, n_blocks)


@pytest.mark.parametrize("n_blocks", [5, 6, 7, 12, 13, 30])
@pytest.mark.parametrize("batch", [1, 4])
def test_contiguous_pools(n_blocks: int, batch: int) -> None:
    """A reservation is six blocks: fewer hold nobody, twelve hold two."""
    running = RunningEngine(
        TARGET, ALIKE, gamma=8, batch=batch, n_blocks=n_blocks, max_new_tokens=N_NEW,
        allocation="contiguous",
    )  # fmt: skip
    running.run(*PROMPTS)
    for index, text in enumerate(TEXTS):
        if n_blocks < 6:
            assert running.finished(index).reason is FinishReason.CACHE_FULL
            assert running.output(index) == []
        else:
            assert running.output(index) == text
    assert running.all(SequenceSetBack) == []
    together: dict[int, int] = {}
    for event in running.proposed():
        together[event.step] = together.get(event.step, 0) + 1
    assert max(together.values(), default=0) == min(batch, n_blocks // 6, 4)


def test_gamma_is_lowered_with_a_reason() -> None:
    """Two blocks and a prompt of 20: at 29 tokens there is room for three drafts."""
    running = RunningEngine(TARGET, ALIKE, gamma=8, n_blocks=2, max_new_tokens=N_NEW)
    running.run(PROMPTS[1])
    told = [(event.position, event.gamma, event.reason) for event in running.proposed()]
    assert told == [(20, 8, "fixed"), (29, 3, LOWERED)]
    assert running.finished().reason is FinishReason.CACHE_FULL
    assert running.output() == TEXTS[1][:13]


def test_the_youngest_is_set_back_and_comes_back() -> None:
    """Four blocks, two sequences that need four each in the end."""
    running = RunningEngine(TARGET, ALIKE, gamma=4, n_blocks=4, batch=2, max_new_tokens=N_NEW)
    running.run(PROMPTS[0], PROMPTS[1])
    (set_back,) = running.all(SequenceSetBack)
    assert set_back.sequence_id == 1
    starts = running.all(SequenceStarted, 1)
    assert [event.n_resumed for event in starts] == [0, set_back.n_output_tokens]
    assert set_back.n_output_tokens > 0
    first, second = running.all(SequenceFinished)
    assert (first.sequence_id, second.sequence_id) == (0, 1)
    assert starts[1].ordinal > first.ordinal
    (warning,) = running.all(LogEmitted)
    assert (warning.level, warning.sequence_id) == ("warning", 1)
    assert [running.output(index) for index in (0, 1)] == TEXTS[:2]
    assert second.elapsed_ns > 0
    assert second.n_output_tokens == N_NEW


def test_who_is_set_back_waits_before_those_who_never_ran() -> None:
    running = RunningEngine(TARGET, ALIKE, gamma=4, n_blocks=4, batch=2, max_new_tokens=N_NEW)
    running.run(PROMPTS[0], PROMPTS[1], PROMPTS[0])
    starts = [event.sequence_id for event in running.all(SequenceStarted)]
    assert starts[:4] == [0, 1, 1, 2]


@pytest.mark.parametrize("drafter", ["alike", "composite", "ngram"])
def test_text_and_seed_survive_a_set_back(drafter: str) -> None:
    """The stream of a sampled sequence goes on where it was: its numbers and half a character
    are kept. Gamma is 0 so that the pool changes no step."""
    texts = []
    for n_blocks in (4, 40):
        running = RunningEngine(
            TARGET, None if drafter == "ngram" else ALIKE,
            draft="toy" if drafter == "alike" else drafter, gamma=0, n_blocks=n_blocks, batch=2,
            max_new_tokens=N_NEW, temperature=1.0,
        )  # fmt: skip
        running.run(PROMPTS[0], PROMPTS[1])
        texts.append(running.outputs())
        assert bool(running.all(SequenceSetBack)) == (n_blocks == 4)
        for index in (0, 1):
            told = "".join(
                text for commit in running.all(StepCommitted, index) for text in commit.token_texts
            )
            assert told == running.finished(index).text
    assert texts[0] == texts[1]


def test_first_come_first_served() -> None:
    running = RunningEngine(TARGET, ALIKE, gamma=4, batch=2, max_new_tokens=10)
    running.run(*PROMPTS)
    order = [event.sequence_id for event in running.all(SequenceStarted)]
    assert order == [0, 1, 2, 3]


def test_a_large_prompt_in_front_is_not_overtaken() -> None:
    """The long one waits for blocks, and the short one behind it waits with it."""
    running = RunningEngine(TARGET, gamma=0, batch=3, n_blocks=4, max_new_tokens=4)
    running.run(PROMPTS[1], PROMPTS[3], PROMPTS[2])
    assert [event.sequence_id for event in running.all(SequenceStarted)] == [0, 1, 2]
    started = running.all(SequenceStarted, 1)[0].ordinal
    assert started > running.finished(0).ordinal


def test_what_never_fits_is_over_and_the_next_goes_on() -> None:
    running = RunningEngine(TARGET, ALIKE, gamma=4, batch=2, n_blocks=2, max_new_tokens=4)
    running.run(PROMPTS[3], PROMPTS[2])
    assert running.finished(0).reason is FinishReason.CACHE_FULL
    assert (running.finished(0).n_output_tokens, running.finished(0).text) == (0, "")
    assert running.all(BlocksAllocated, 0) == []
    assert running.output(1) == TEXTS[2][:4]


# --- stopped by command --------------------------------------------------------------------------


def test_stopping_a_running_and_a_waiting_sequence() -> None:
    running = RunningEngine(TARGET, ALIKE, gamma=4, batch=1, max_new_tokens=N_NEW)
    for prompt in PROMPTS[:3]:
        running.submit(prompt)
    running.step()
    running.engine.stop(0)
    running.engine.stop(1)
    running.run()
    assert [running.finished(index).reason for index in range(3)] == [
        FinishReason.STOPPED, FinishReason.STOPPED, FinishReason.LENGTH,
    ]  # fmt: skip
    assert running.output(0) == TEXTS[0][:5]
    assert running.output(1) == []
    assert running.output(2) == TEXTS[2]
    assert running.finished(1).elapsed_ns < running.finished(0).elapsed_ns


@pytest.mark.parametrize("how", ["stop", "abandon"])
def test_stopping_a_sequence_that_was_set_back(how: str) -> None:
    running = RunningEngine(TARGET, ALIKE, gamma=4, n_blocks=4, batch=2, max_new_tokens=N_NEW)
    running.submit(PROMPTS[0])
    running.submit(PROMPTS[1])
    while not running.all(SequenceSetBack):
        running.step()
    if how == "stop":
        running.engine.stop(1)
        running.run()
        assert running.output(0) == TEXTS[0]
    else:
        running.engine.abandon()
        running.check()
        assert running.finished(0).reason is FinishReason.STOPPED
    assert running.finished(1).reason is FinishReason.STOPPED
    n_output = running.all(SequenceSetBack)[0].n_output_tokens
    assert running.output(1) == TEXTS[1][:n_output]
    assert len(running.all(SequenceStarted, 1)) == 1


def test_abandoning_ends_all() -> None:
    running = RunningEngine(TARGET, ALIKE, gamma=4, batch=2, max_new_tokens=N_NEW)
    for prompt in PROMPTS:
        running.submit(prompt)
    running.step()
    running.engine.abandon()
    assert not running.engine.has_work
    running.check()
    reasons: list[Any] = [running.finished(index).reason for index in range(4)]
    assert reasons == [FinishReason.STOPPED] * 4


def test_every_way_out_is_told_to_whoever_remembers_the_sequence() -> None:
    running = RunningEngine(ToyModel(24, seed=1), max_new_tokens=4, batch=1)
    left: list[int] = []
    running.scheduler.on_finished = left.append
    running.run([3, 1, 4])
    running.submit([3, 1, 4])
    running.submit([3, 1, 4])
    running.step()
    running.engine.stop(1)
    running.engine.abandon()
    assert left == [0, 1, 2]
