"""When a sequence stops, and where its random numbers come from."""

from typing import Any

import pytest
import torch

from engine.sequence import Commit, Sequence, StopRules
from engine.wire.events import FinishReason, Origin
from tests.support.toy_model import ToyTokenizer

ACC, BONUS = Origin.ACCEPTED, Origin.BONUS
STOP = 99


def sequence_of(
    *,
    prompt: list[int] | None = None,
    eos: tuple[int, ...] = (),
    stops: tuple[str, ...] = (),
    context_length: int = 1000,
    max_new_tokens: int = 100,
    seed: int = 0,
) -> Sequence:
    return Sequence(
        0,
        [65] if prompt is None else prompt,
        prompt_text="A",
        label="",
        max_new_tokens=max_new_tokens,
        seed=seed,
        rules=StopRules(frozenset(eos), stops, context_length),
        tokenizer=ToyTokenizer(256),
    )


def commit(sequence: Sequence, tokens: str | list[int]) -> Commit:
    token_ids = list(tokens.encode()) if isinstance(tokens, str) else tokens
    return sequence.commit(token_ids, [ACC] * (len(token_ids) - 1) + [BONUS])


CHUNK = [10, 11, STOP, 20, 21, 22]


@pytest.mark.parametrize(
    ("limit", "kept", "reason"),
    [
        (5, [10, 11, STOP], FinishReason.EOS),  # inside the budget
        (3, [10, 11, STOP], FinishReason.EOS),  # exactly at its end
        (2, [10, 11], FinishReason.LENGTH),
        (1, [10], FinishReason.LENGTH),
    ],
)
def test_stop_and_budget(limit: int, kept: list[int], reason: FinishReason) -> None:
    sequence = sequence_of(eos=(STOP,), max_new_tokens=limit)
    done = commit(sequence, CHUNK)
    assert (list(done.token_ids), done.finish_reason) == (kept, reason)
    assert sequence.output_ids == kept
    assert sequence.n_output == len(kept)
    assert sequence.n_cached == len(kept)  # one prompt token, and all but the newest
    assert len(done.texts) == len(done.origins) == len(kept)


def test_the_budget_of_later_steps_counts_earlier_ones() -> None:
    sequence = sequence_of(max_new_tokens=6)
    assert commit(sequence, "abcd").finish_reason is None
    done = commit(sequence, "efgh")
    assert (bytes(sequence.output_ids), done.finish_reason) == (b"abcdef", FinishReason.LENGTH)
    assert bytes(done.token_ids) == b"ef"


def test_origins_are_cut_with_the_tokens() -> None:
    done = commit(sequence_of(eos=(STOP,)), [10, STOP, 12])
    assert done.origins == (ACC, ACC)
    assert commit(sequence_of(eos=(12,)), [10, 12]).origins == (ACC, BONUS)


def test_eos_in_the_prompt_does_not_stop() -> None:
    assert commit(sequence_of(prompt=[STOP, STOP], eos=(STOP,)), [1]).finish_reason is None


@pytest.mark.parametrize(
    ("steps", "stops", "text", "stop"),
    [
        (["abcd"], ("bc",), "abc", "bc"),
        (["ab", "cd"], ("bc",), "abc", "bc"),  # straddles two steps
        (["a", "b", "c", "d"], ("abcd",), "abcd", "abcd"),
        (["aab", "aac"], ("aabaac",), "aabaac", "aabaac"),
        (["aaab"], ("aab",), "aaab", "aab"),  # the first try fails, an overlapping one holds
        (["aaaa"], ("aa",), "aa", "aa"),  # at its first full match
        (["xyz"], ("z", "y"), "xy", "y"),
        (["abc"], ("c", "abc"), "abc", "c"),
        (["a"], ("a",), "a", "a"),
        (["x", "y"], ("longer than all", "y"), "xy", "y"),
        (["\u4e16\u754c"], ("\u754c",), "\u4e16\u754c", "\u754c"),
    ],
)
def test_stop_strings(steps: list[str], stops: tuple[str, ...], text: str, stop: str) -> None:
    sequence = sequence_of(stops=stops)
    for step in steps:
        done = commit(sequence, step)
        if done.finish_reason is not None:
            break
    assert (done.finish_reason, done.detail) == (FinishReason.STOP_STRING, stop)
    assert bytes(sequence.output_ids).decode() == text


def test_a_stop_string_is_not_looked_for_in_the_prompt() -> None:
    sequence = sequence_of(prompt=[65, 66], stops=("BC",))
    assert commit(sequence, "C").finish_reason is None


def test_a_stop_string_at_the_end_of_the_budget_is_said_as_such() -> None:
    done = commit(sequence_of(stops=("ab",), max_new_tokens=2), "ab")
    assert done.finish_reason is FinishReason.STOP_STRING


def test_a_stop_string_waits_for_whole_characters() -> None:
    """Two of three bytes of a character are no character."""
    sequence = sequence_of(stops=("\u4e16",))
    first, second, third = "\u4e16".encode()
    assert commit(sequence, [first, second]).finish_reason is None
    assert commit(sequence, [third]).finish_reason is FinishReason.STOP_STRING


def test_context_ends_the_sequence() -> None:
    sequence = sequence_of(prompt=[1, 2, 3], context_length=5)
    done = commit(sequence, [4, 5, 6])
    assert (done.token_ids, done.finish_reason) == ((4, 5), FinishReason.CONTEXT)


@pytest.mark.parametrize(
    ("n_prompt", "limit", "context", "room"),
    [(1, 100, 1000, 99), (1, 1, 1000, 0), (1, 2, 1000, 1), (10, 100, 12, 1), (10, 100, 11, 0)],
)
def test_gamma_room(n_prompt: int, limit: int, context: int, room: int) -> None:
    sequence = sequence_of(prompt=[1] * n_prompt, max_new_tokens=limit, context_length=context)
    assert sequence.gamma_room() == room
    done = commit(sequence, [2] * (room + 1))  # what such a step commits at most just fits
    expected = FinishReason.LENGTH if room + 1 == limit else FinishReason.CONTEXT
    assert (len(done.token_ids), done.finish_reason) == (room + 1, expected)


# --- random numbers ------------------------------------------------------------------------------


def numbers(seed: int, *gammas: int) -> list[Any]:
    sequence = sequence_of(seed=seed)
    return [sequence.draw_uniforms(gamma) for gamma in gammas]


def test_a_seed_fixes_the_numbers() -> None:
    assert numbers(7, 4, 0, 8) == numbers(7, 4, 0, 8)
    assert numbers(7, 4) != numbers(8, 4)
    torch.manual_seed(1)
    before = numbers(7, 4)
    torch.manual_seed(2)  # the generator of everybody else does not matter
    assert numbers(7, 4) == before
    assert numbers(-(2**63), 2) != numbers(2**63 - 1, 2)


def test_steps_of_any_length_read_on_in_one_stream() -> None:
    steps = numbers(5, 4, 0, 8, 100, 1, 63, 4)
    drawn = [number for step in steps for number in (*step.draft, *step.test, step.extra)]
    stream = torch.rand(len(drawn), generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    assert drawn == stream.tolist()


@pytest.mark.parametrize("gamma", [0, 1, 4, 8])
def test_a_step_uses_two_numbers_per_token_and_one_more(gamma: int) -> None:
    """So the numbers of the next step do not depend on what was accepted."""
    (step,) = numbers(3, gamma)
    assert (len(step.draft), len(step.test)) == (gamma, gamma)
    drawn = [*step.draft, *step.test, step.extra]
    assert len(set(drawn)) == 2 * gamma + 1
    stream = torch.rand(
        2 * gamma + 1, generator=torch.Generator().manual_seed(3), dtype=torch.float64
    )
    assert drawn == stream.tolist()
    assert all(0.0 <= number < 1.0 for number in drawn)
