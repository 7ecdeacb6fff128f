"""Sessions side by side."""

import pytest

from sessions.compare import compare, divergences
from sessions.metrics.speedup import measured_speedup
from tests.sessions.scripted import baseline, folded, speculative, with_settings
from tests.support.event_script import EventScript


def test_the_baseline_comes_first_and_the_rest_by_speed() -> None:
    columns = compare([("fast", speculative()), ("plain", baseline()), ("again", speculative())])
    assert [column.name for column in columns] == ["plain", "fast", "again"]
    assert [column.is_baseline for column in columns] == [True, False, False]
    assert [column.rank for column in columns] == [3, 1, 2]
    assert columns[0].speedup is None


def test_the_speedup_is_measured_against_the_baseline() -> None:
    fast, plain = speculative(), baseline()
    (_, column) = compare([("fast", fast), ("plain", plain)])
    expected = measured_speedup(fast, plain)
    assert expected is not None
    assert column.speedup == expected
    assert column.metrics["measured_speedup"] == expected.value
    assert len(expected.prompts) == 2


def test_a_lower_acceptance_at_a_higher_gamma_ranks_by_speed_alone() -> None:
    slow = EventScript()
    slow.sequence("ab")
    for _ in range(4):
        slow.step(drafted=1, accepted=1)
    slow.finish()
    wide = EventScript()
    wide.sequence("ab")
    for _ in range(4):
        wide.step(drafted=8, accepted=5)
    wide.finish()
    columns = compare(
        [
            ("narrow", folded(with_settings(slow.events, draft="d", gamma=1))),
            ("wide", folded(with_settings(wide.events, draft="d", gamma=8))),
        ]
    )
    assert [column.name for column in columns] == ["wide", "narrow"]
    rates = [column.metrics["acceptance_rate"] for column in columns]
    assert rates[0] is not None
    assert rates[1] is not None
    assert rates[0] < rates[1]
    assert all(column.speedup is None for column in columns)  # there is no baseline


def test_outputs_are_aligned_and_the_first_difference_is_told() -> None:
    one, other = speculative(text="xy"), speculative(text="xz")
    found = divergences(one, other)
    assert [(each.prompt, each.position) for each in found] == [("ab", 1), ("cd", 1)]
    assert (found[0].before, found[0].text, found[0].baseline_text) == ("x", "y", "z")


def test_equal_outputs_have_no_position_and_a_shorter_one_parts_at_its_end() -> None:
    assert [each.position for each in divergences(speculative(), speculative())] == [None, None]
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=2, accepted=2, text="xy")
    script.finish()
    (each,) = divergences(folded(script.events), speculative())
    assert (each.position, each.text, each.baseline_text) == (3, "", "x")
    assert (each.n_tokens, each.n_baseline_tokens) == (3, 6)


def test_prompts_not_in_common_are_left_out() -> None:
    assert divergences(speculative(("ab", "zz")), baseline(("ab",)))[0].prompt == "ab"
    assert divergences(speculative(("zz",)), baseline(("ab",))) == ()


@pytest.mark.parametrize("n_sessions", [1, 4])
def test_any_number_of_sessions(n_sessions: int) -> None:
    columns = compare([(str(i), speculative()) for i in range(n_sessions)])
    assert len(columns) == n_sessions


def test_an_output_that_is_not_as_far_yet_does_not_part() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=2, accepted=2)
    half = folded(script.events)
    script.step(drafted=2, accepted=2)
    script.finish()
    whole = folded(script.events)
    assert [each.position for each in divergences(half, whole)] == [None]
    assert [each.position for each in divergences(whole, half)] == [None]
