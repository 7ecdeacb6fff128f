"""Prompts in, settings that change while it runs."""

import contextlib
import random

import pytest
import torch

from engine.control import DeviceFull
from engine.wire.config import ConfigError
from engine.wire.events import (
    CalibrationMeasured,
    FinishReason,
    KernelsRecorded,
    SequenceFinished,
    SequenceStarted,
    SettingsChanged,
    StepCommitted,
)
from tests.support.running_engine import Patched, RunningEngine, greedy
from tests.support.toy_model import ToyModel, ToyTokenizer

TARGET = ToyModel(24, seed=1, context_length=64)
ALIKE = ToyModel(24, seed=1, context_length=64, sharpness=1.0)
PROMPT = [3, 1, 4, 1, 5]
TEXT = greedy(TARGET, PROMPT, 40)


def running_of(**settings: object) -> RunningEngine:
    return RunningEngine(TARGET, ALIKE, **{"gamma": 4, "max_new_tokens": 40, **settings})


def test_sequences_are_numbered_and_seeded_in_turn() -> None:
    running = running_of(seed=100, max_new_tokens=3, batch=3)
    assert running.submit(PROMPT) == 0
    assert running.submit(PROMPT, seed=7, label="json") == 1
    assert running.submit(PROMPT, max_new_tokens=5) == 2
    running.run()
    starts = running.all(SequenceStarted)
    assert [event.seed for event in starts] == [100, 7, 102]
    assert [event.label for event in starts] == ["", "json", ""]
    assert [event.max_new_tokens for event in starts] == [3, 3, 5]
    assert starts[0].prompt_token_ids == tuple(PROMPT)
    assert starts[0].prompt_token_texts == ("d", "b", "e", "b", "f")
    assert [len(running.output(index)) for index in range(3)] == [3, 3, 5]


@pytest.mark.parametrize(("n_prompt", "is_refused"), [(63, False), (64, True), (65, True)])
def test_a_prompt_must_leave_room_for_a_token(n_prompt: int, is_refused: bool) -> None:
    running = running_of()
    prompt = [1] * n_prompt
    if is_refused:
        with pytest.raises(ConfigError, match=f"has {n_prompt} tokens and toy-1 holds 64"):
            running.submit(prompt)
        assert not running.engine.has_work
    else:
        running.run(prompt)
        assert running.output() == greedy(TARGET, prompt, 1)
        assert running.finished().reason is FinishReason.CONTEXT


def test_a_refused_prompt_uses_no_number() -> None:
    running = running_of(max_new_tokens=1)
    with pytest.raises(ConfigError):
        running.submit([1] * 64)
    with pytest.raises(ConfigError):
        running.submit(PROMPT, max_new_tokens=-1)
    assert running.submit(PROMPT) == 0
    running.run()


def test_gamma_can_change_between_steps() -> None:
    running = running_of()
    running.submit(PROMPT)
    running.step()
    for gamma in (0, 1, 8, "auto"):
        running.engine.set_gamma(gamma)
        running.step()
    running.run()
    assert [event.gamma for event in running.proposed()][:4] == [4, 0, 1, 8]
    assert running.proposed()[4].gamma_alpha is not None
    assert [event.gamma for event in running.all(SettingsChanged)] == ["0", "1", "8", "auto"]
    assert running.output() == TEXT


def test_kernels_of_steps_asked_for() -> None:
    running = running_of()
    running.submit(PROMPT)
    running.step()
    running.engine.record_kernels(2)
    running.run()
    recorded = running.all(KernelsRecorded)
    assert [event.step for event in recorded] == [1, 2]
    marks = [event.step for event in running.all(StepCommitted) if event.is_profiled]
    assert marks == [1, 2]
    for event in recorded:
        assert "aten::softmax" in event.names or "aten::argmax" in event.names
        assert len(event.names) > len([index for index in event.span_indexes if index < 0])
        assert event.recording_ns > 0
    assert running.output() == TEXT, "looking changes nothing"


def test_kernels_of_every_second_step() -> None:
    running = running_of(kernels_every=2)
    running.run(PROMPT)
    steps = [event.step for event in running.all(KernelsRecorded)]
    assert steps == list(range(1, len(running.all(StepCommitted)), 2))


def test_sampling_can_change_between_steps() -> None:
    running = running_of()
    running.submit(PROMPT)
    running.step()
    running.engine.set_sampling(0.7, top_k=3, top_p=0.9)
    running.step()
    running.engine.set_sampling(0.0, top_k=0, top_p=1.0)
    running.run()
    changed = [(e.temperature, e.top_k, e.top_p) for e in running.all(SettingsChanged)]
    assert changed == [(0.7, 3, 0.9), (0.0, 0, 1.0)]
    first, second, *rest = running.verified()
    assert set(first.target_probs) <= {0.0, 1.0}
    assert set(second.target_probs) - {0.0, 1.0}
    assert all(set(event.target_probs) <= {0.0, 1.0} for event in rest)


@pytest.mark.parametrize("gamma", [-1, 33, "four"])
def test_a_gamma_out_of_range_is_refused_and_changes_nothing(gamma: int | str) -> None:
    running = running_of()
    with pytest.raises(ConfigError):
        running.engine.set_gamma(gamma)
    assert running.all(SettingsChanged) == []
    running.run(PROMPT)
    assert running.proposed()[0].gamma == 4


def test_a_run_that_cannot_draft_refuses_a_gamma() -> None:
    running = RunningEngine(TARGET, draft="none")
    with pytest.raises(ConfigError, match="has no drafter"):
        running.engine.set_gamma(2)
    running.engine.set_gamma(0)
    assert len(running.all(SettingsChanged)) == 1


def test_a_gamma_wider_than_calibrated_is_calibrated_again() -> None:
    running = running_of(calibrate=True, gamma=1)
    running.submit(PROMPT)
    running.step()
    running.engine.set_gamma(3)
    running.run()
    widths = [len(event.target_widths) for event in running.all(CalibrationMeasured)]
    assert widths == [2, 4]


def test_an_empty_budget_is_refused_and_not_replaced() -> None:
    with pytest.raises(ConfigError, match="max new tokens is 0"):
        running_of().submit(PROMPT, max_new_tokens=0)


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p"),
    [(-1.0, 0, 1.0), (float("nan"), 0, 1.0), (1.0, -1, 1.0), (1.0, 0, 0.0), (1.0, 0, 1.5)],
)
def test_sampling_out_of_range_is_refused(temperature: float, top_k: int, top_p: float) -> None:
    running = running_of()
    with pytest.raises(ConfigError):
        running.engine.set_sampling(temperature, top_k=top_k, top_p=top_p)
    assert running.all(SettingsChanged) == []


def test_stopping_what_is_not_there() -> None:
    running = running_of(max_new_tokens=2)
    with pytest.raises(ConfigError, match="no running or waiting sequence 0"):
        running.engine.stop(0)
    running.run(PROMPT)
    with pytest.raises(ConfigError):
        running.engine.stop(0)


# --- anything at any time -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_random_play_obeys_the_grammar(seed: int) -> None:
    """Prompts, stops and settings between the steps, in pools that are too small."""
    dice = random.Random(seed)
    drafter = dice.choice(["toy", "ngram", "composite", "none"])
    draft = ToyModel(24, seed=2, context_length=dice.choice([20, 64]))
    running = RunningEngine(
        TARGET, draft if drafter in ("toy", "composite") else None, draft=drafter,
        gamma=dice.choice([0, 3, 8, "auto"]), batch=dice.randint(1, 4),
        n_blocks=dice.randint(1, 12), allocation=dice.choice(["paged", "paged", "contiguous"]),
        max_new_tokens=30, temperature=dice.choice([0.0, 1.0]), seed=seed,
        stop_strings=dice.choice([(), ("ab", "c")]),
        tokenizer=ToyTokenizer(24, eos_ids=dice.choice([frozenset(), frozenset({5})])),
    )  # fmt: skip
    n_submitted = 0
    for _ in range(60):
        match dice.randrange(8):
            case 0 | 1 if n_submitted < 12:
                running.submit([dice.randrange(24) for _ in range(dice.randint(1, 40))])
                n_submitted += 1
            case 2 if n_submitted:
                with contextlib.suppress(ConfigError):
                    running.engine.stop(dice.randrange(n_submitted))
            case 3:
                with contextlib.suppress(ConfigError):  # nothing here can draft
                    running.engine.set_gamma(dice.choice([0, 1, 5, "auto"]))
            case 4:
                running.engine.set_sampling(dice.choice([0.0, 0.8]), top_k=5, top_p=0.9)
            case _ if running.engine.has_work:
                running.step()
    running.run()
    assert len(running.all(SequenceFinished)) == n_submitted


# --- calibration ---------------------------------------------------------------------------------


def test_calibrates_before_the_first_step_and_not_in_the_pool() -> None:
    running = running_of(calibrate=True, gamma="auto", max_gamma=3)
    running.submit(PROMPT)
    running.step()
    (measured,) = running.all(CalibrationMeasured)
    assert measured.context_length == len(PROMPT)
    assert measured.target_widths == (1, 2, 3, 4)
    assert len(measured.target_forward_ns) == 4
    assert measured.draft_forward_ns is not None
    assert measured.ordinal < running.proposed()[0].ordinal
    assert "measured c" in running.proposed()[0].reason
    running.engine.set_gamma("auto")  # what was measured is handed on
    running.run()
    assert "measured c" in running.proposed()[-2].reason or running.proposed()[-2].gamma < 3
    assert running.output() == TEXT
    assert len(running.all(CalibrationMeasured)) == 1


def test_calibrates_again_when_the_context_has_grown_much() -> None:
    target = ToyModel(24, seed=1, context_length=600)
    running = RunningEngine(target, gamma=0, calibrate=True, max_new_tokens=2)
    for prompt, n_measured in (([1, 2, 3], 1), ([1] * 20, 1), ([1] * 300, 2)):
        running.submit(prompt)
        while running.engine.has_work:
            running.step()
        assert len(running.all(CalibrationMeasured)) == n_measured
    running.check()
    lengths = [event.context_length for event in running.all(CalibrationMeasured)]
    assert lengths == [3, 300]
    assert all(event.draft_forward_ns is None for event in running.all(CalibrationMeasured))


def test_memory_that_is_used_up_is_a_sentence_about_what_to_change() -> None:
    def fill_up(logits: object, batch: object, n_forward: int) -> object:
        if n_forward == 2:
            raise torch.OutOfMemoryError("CUDA is full. Tried 2 GiB.\nSee more.")
        return logits

    running = RunningEngine(Patched(TARGET, fill_up), gamma=0, max_new_tokens=4)
    running.submit(PROMPT)
    with pytest.raises(DeviceFull, match=r"of cpu is used up \(CUDA is .* 2 GiB\): give"):
        running.step()
