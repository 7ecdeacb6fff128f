"""Names of a comparison's columns are short, and no two are alike."""

import pytest

from sessions.compare_names import MOST_CHARACTERS, column_heads, numbered
from sessions.run_facts import RunFacts

LONG = "2026-11-30_05-30-12_bundled-target+bundled-draft"


def ran(draft: str, gamma: int | str = 4) -> RunFacts:
    return RunFacts(
        settings={"draft": draft, "gamma": gamma},
        device_name="",
        torch_version="",
        target=None,
        draft=None,
    )


def test_short_names_stay() -> None:
    assert column_heads(["fast", "plain"], [ran("small"), ran("none")]) == ["fast", "plain"]
    assert column_heads([], []) == []


@pytest.mark.parametrize(
    ("names", "heads"),
    [
        (["a run: none", "a run: ngram"], ["none", "ngram"]),
        (["a run: none", "another: none"], ["a run: none", "another: none"]),
        (["none", "none: x"], ["none", "none: x"]),
    ],
)
def test_what_all_begin_with_is_left_out(names: list[str], heads: list[str]) -> None:
    assert column_heads(names, [ran("none"), ran("ngram")]) == heads


def test_before_anything_is_known_of_one_names_stay() -> None:
    assert column_heads([LONG, LONG], [ran("none"), None]) == [LONG, f"{LONG} #2"]


def test_long_ones_become_the_drafts() -> None:
    facts = [ran("org/small-draft"), ran("ngram"), ran("none")]
    names = [LONG, LONG + "-2", "plain"]
    assert column_heads(names, facts) == ["small-draft", "ngram", "none"]


def test_the_same_draft_is_told_apart_by_gamma_and_then_by_number() -> None:
    facts = [ran("small"), ran("small", 8), ran("small"), ran("small", "auto"), ran("none")]
    heads = column_heads(["run"] * 5, facts)
    assert heads == [
        "small gamma 4", "small gamma 8", "small gamma 4 #2", "small gamma auto", "none"
    ]  # fmt: skip


def test_two_baselines_have_numbers() -> None:
    assert column_heads(["run", "run"], [ran("none"), ran("none")]) == ["none", "none #2"]


def test_a_long_draft_shows_its_end() -> None:
    (head,) = column_heads([LONG], [ran("/models/" + "x" * 50 + "-draft.gguf")])
    assert len(head) == MOST_CHARACTERS
    assert head.endswith("-draft.gguf")
    assert column_heads([LONG], [ran("/")]) == ["/"]


def test_numbers_meet_no_other_name() -> None:
    assert numbered(["a", "a #2", "a", "b", "a"]) == ["a", "a #2", "a #3", "b", "a #4"]
