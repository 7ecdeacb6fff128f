from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.drafters.base import DraftRequest
from engine.drafters.ngram import NO_MATCH, NgramDrafter, NgramIndex
from engine.sampling import SamplingParams
from tests.support.running_engine import RunningEngine, greedy
from tests.support.toy_model import ToyModel


def continuation(token_ids: list[int], n_wanted: int, sizes: tuple[int, int] = (2, 4)) -> list[int]:
    return NgramIndex(*sizes).continuation(token_ids, n_wanted)


@pytest.mark.parametrize(
    ("token_ids", "expected"),
    [
        ([1, 2, 3, 4, 9, 1, 2], [3, 4, 9]),
        ([1, 2, 5, 1, 2, 6, 1, 2], [6, 1, 2]),  # the latest occurrence
        ([1, 2, 3, 7, 9, 2, 3, 8, 1, 2, 3], [7, 9, 2]),  # a longer match before a later one
        ([5, 5, 5], [5]),  # overlapping the end: what follows it is one token
        ([5, 5], []),  # its own occurrence is none
        ([1, 2, 1, 2, 1, 2], [1, 2]),
        ([1, 2, 3, 4], []),
        ([1], []),
        ([3, 1, 2, 3], []),  # one token matches, and two are asked for
    ],
)
def test_continuations(token_ids: list[int], expected: list[int]) -> None:
    assert continuation(token_ids, 3) == expected


def test_the_shortest_match_can_be_one_token() -> None:
    assert continuation([3, 1, 2, 3], 2, sizes=(1, 4)) == [1, 2]


def brute_force(token_ids: list[int], n_wanted: int, shortest: int, longest: int) -> list[int]:
    for size in range(longest, shortest - 1, -1):
        suffix = token_ids[-size:]
        for start in range(len(token_ids) - size - 1, -1, -1):
            if len(suffix) == size and token_ids[start : start + size] == suffix:
                return token_ids[start + size : start + size + n_wanted]
    return []


@given(
    chunks=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=12),
    shortest=st.integers(1, 3),
    more=st.integers(0, 3),
    n_wanted=st.integers(1, 8),
    asked=st.lists(st.booleans(), min_size=12, max_size=12),
)
@settings(max_examples=200, deadline=None)
def test_the_growing_index_equals_a_search(
    chunks: list[list[int]], shortest: int, more: int, n_wanted: int, asked: list[bool]
) -> None:
    """Asked now and then while the text grows."""
    index, token_ids = NgramIndex(shortest, shortest + more), []
    for chunk, is_asked in zip(chunks, asked, strict=False):
        token_ids += chunk
        if is_asked:
            found = index.continuation(token_ids, n_wanted)
            assert found == brute_force(token_ids, n_wanted, shortest, shortest + more)
    expected = brute_force(token_ids, n_wanted, shortest, shortest + more)
    assert index.continuation(token_ids, n_wanted) == expected


# --- the drafter ---------------------------------------------------------------------------------


class FakeSequence:
    def __init__(self, sequence_id: int, token_ids: list[int]) -> None:
        self.sequence_id = sequence_id
        self.token_ids = token_ids


def propose(drafter: NgramDrafter, *requests: tuple[Any, int]) -> Any:
    wanted = [DraftRequest(sequence, gamma, [0.5] * gamma) for sequence, gamma in requests]
    return drafter.propose(wanted, SamplingParams(temperature=1.0))


def test_drafts_of_a_batch() -> None:
    drafter = NgramDrafter(shortest=2, longest=4)
    texts = ([1, 2, 3, 4, 1, 2], [1, 2, 3, 4], [1, 2, 3, 1, 2])
    sequences: list[Any] = [FakeSequence(i, text) for i, text in enumerate(texts)]
    for sequence in sequences:
        drafter.open(sequence)
    full, empty, plain = propose(drafter, *zip(sequences, (2, 2, 0), strict=True))
    assert (full.token_ids, full.note, full.logits) == ([3, 4], "", None)
    assert full.probs is None
    assert full.token_probs() == [1.0, 1.0]
    assert (empty.token_ids, empty.note, empty.drafter) == ([], NO_MATCH, "ngram")
    assert (plain.token_ids, plain.note) == ([], "")
    (short,) = propose(drafter, (sequences[2], 8))
    assert (short.token_ids, short.note) == ([3, 1, 2], "the match is followed by fewer tokens")


def test_a_sequence_that_comes_back_is_indexed_anew() -> None:
    drafter = NgramDrafter(shortest=2, longest=4)
    sequence: Any = FakeSequence(0, [1, 2, 3, 1, 2])
    drafter.open(sequence)
    propose(drafter, (sequence, 4))
    drafter.close(0)
    other: Any = FakeSequence(0, [4, 5, 6, 7, 4, 5])
    drafter.open(other)
    (draft,) = propose(drafter, (other, 4))
    assert draft.token_ids == [6, 7, 4, 5]
    other.token_ids += [1, 2]  # seen by the former sequence of that number only
    assert propose(drafter, (other, 4))[0].token_ids == []


def test_a_repetitive_prompt_is_accepted_where_the_target_repeats() -> None:
    model = ToyModel(32, seed=3)
    text = greedy(model, [7], 40)
    running = RunningEngine(model, draft="ngram", gamma=4, max_new_tokens=40)
    running.run([7])
    assert running.output() == text
    drafted = [event for event in running.verified() if event.token_ids]
    assert all(event.draft_probs == (1.0,) * len(event.token_ids) for event in drafted)


def test_a_prompt_without_repetition_is_plain_decoding() -> None:
    """Nothing drafted is no error, and no division by it."""
    model = ToyModel(32, seed=4)
    running = RunningEngine(
        model, draft="ngram", gamma=4, max_new_tokens=9, ngram_min=4, ngram_max=4
    )
    running.run(list(range(20)))
    assert running.proposed()[0].reason == f"fixed; {NO_MATCH}"
    assert all(event.token_ids == () for event in running.verified())
    assert len(running.output()) == len(running.verified()) == 9
