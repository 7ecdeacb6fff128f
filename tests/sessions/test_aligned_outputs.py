"""Outputs are laid beside the baseline's, prompt by prompt."""

import numpy as np
import pytest

from sessions.aligned_outputs import Aligned, Outputs, align, first_difference
from sessions.compare import divergences
from tests.sessions.scripted import baseline, folded, speculative
from tests.support.event_script import EventScript


@pytest.mark.parametrize(
    ("one", "other", "place"),
    [
        ([1, 2, 3], [1, 2, 3], None),
        ([1, 2, 3], [1, 9, 3], 1),
        ([1, 2], [1, 2, 3], 2),
        ([1, 2, 3], [1, 2], 2),
        ([], [], None),
        ([], [1], 0),
        ([5], [1], 0),
    ],
)
def test_where_two_part(one: list[int], other: list[int], place: int | None) -> None:
    assert first_difference(np.array(one, np.int32), np.array(other, np.int32)) == place


def test_prompts_are_paired_by_text_and_the_first_with_the_first() -> None:
    ours = Outputs(speculative(("cd", "ab", "ab"), text="xz"))
    theirs = Outputs(speculative(("ab", "zz", "ab", "ab"), text="xy"))
    assert align(ours, theirs) == {
        ("ab", 0): Aligned(1, 0, 6, 6, 1),
        ("ab", 1): Aligned(2, 2, 6, 6, 1),
    }
    assert ours.texts(1, 0, 3) == ["x", "z", "!"]
    assert theirs.texts(3, 1, 99) == ["y", "!", "x", "y", "!"]
    assert ours.texts(1, -4, 1) == ["x"]
    assert ours.texts(7, 0, 9) == []


def test_sequences_decoded_together_are_taken_apart() -> None:
    script = EventScript()
    first, second = script.sequence("ab"), script.sequence("cd")
    for text in ("xy", "zw"):
        script.step(first, drafted=2, accepted=2, text=text, more=True)
        script.step(second, drafted=2, accepted=2, text=text[::-1])
    script.finish()
    outputs = Outputs(folded(script.events))
    assert outputs.texts(first, 0, 9) == ["x", "y", "!", "z", "w", "!"]
    assert outputs.texts(second, 0, 9) == ["y", "x", "!", "w", "z", "!"]


def test_a_sequence_that_was_set_back_counts_once() -> None:
    script = EventScript()
    sequence = script.sequence("ab")
    script.step(sequence, drafted=2, accepted=2)
    script.set_back(sequence)
    script.resume(sequence)
    script.step(sequence, drafted=2, accepted=2)
    script.finish()
    assert Outputs(folded(script.events)).sequences == {("ab", 0): 0}


def test_it_agrees_with_the_comparison() -> None:
    for one, other in (
        (speculative(text="xy"), speculative(text="xz")),
        (speculative(("ab", "zz")), baseline(("zz", "ab"))),
        (speculative(), speculative()),
    ):
        found = align(Outputs(one), Outputs(other))
        assert [
            Aligned(d.sequence_id, d.baseline_id, d.n_tokens, d.n_baseline_tokens, d.position)
            for d in divergences(one, other)
        ] == list(found.values())
