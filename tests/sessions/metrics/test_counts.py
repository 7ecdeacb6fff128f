"""Counts and rates of scripted streams, against numbers worked out by hand."""

import pytest

from engine.theory.speedup import expected_draft_efficiency, expected_tokens_per_step
from sessions.metrics.counts import count
from tests.sessions.played import drafted, iid_lengths, snapshot_of
from tests.support.event_script import EventScript


def test_counts_and_rates_of_three_steps() -> None:
    counts = count(snapshot_of(drafted([2, 4, 0], 4)))
    assert (counts.n_drafted, counts.n_accepted, counts.n_rejected) == (12, 6, 2)
    assert (counts.n_discarded, counts.n_tested) == (4, 8)
    assert counts.acceptance_rate == counts.acceptance.value == 6 / 8
    assert counts.draft_efficiency == 6 / 12
    assert counts.expected_acceptance_rate == pytest.approx(0.7)
    assert (counts.n_steps, counts.n_committed, counts.tokens_per_step) == (3, 9, 3.0)
    assert (counts.n_recovered, counts.n_bonus) == (2, 1)
    assert counts.mean_draft_length == 4.0


def test_steps_without_a_draft_are_apart_from_those_with_one() -> None:
    script = EventScript()
    script.sequence("ab")
    for n_drafted, n_accepted in ((0, 0), (0, 0), (5, 5), (4, 2), (0, 0)):
        script.step(drafted=n_drafted, accepted=n_accepted, gamma=5)
    counts = count(snapshot_of(script.events))
    assert counts.draft_efficiency == pytest.approx(7 / 9)
    assert counts.acceptance_rate == 7 / 8
    assert (counts.n_steps_drafted, counts.n_steps) == (2, 5)
    assert counts.tokens_per_drafted_step == 4.5


def test_nothing_drafted_has_no_rate_and_one_token_a_step() -> None:
    counts = count(snapshot_of(drafted([0, 0, 0], 0)))
    assert counts.acceptance_rate is None
    assert counts.acceptance.low is None
    assert counts.expected_acceptance_rate is None
    assert counts.draft_efficiency is None
    assert counts.tokens_per_drafted_step is None
    assert counts.mean_draft_length is None
    assert counts.tokens_per_step == 1.0


def test_an_empty_session_divides_by_nothing() -> None:
    counts = count(snapshot_of([]))
    assert counts.n_steps == counts.n_engine_steps == 0
    assert counts.tokens_per_step is None


def test_the_published_example_of_a_server() -> None:
    counts = count(snapshot_of(drafted([0] * 39 + [1] + [3] * 3, 3)))
    assert (counts.n_steps, counts.n_drafted, counts.n_accepted) == (43, 129, 10)
    assert counts.draft_efficiency == pytest.approx(0.0775, abs=5e-5)
    assert counts.tokens_per_drafted_step == pytest.approx(1.233, abs=5e-4)
    assert counts.acceptance_rate == 10 / 50


@pytest.mark.parametrize("gamma", [1, 2, 4, 8, 16])
def test_efficiency_falls_with_gamma_where_acceptance_does_not(gamma: int) -> None:
    counts = count(snapshot_of(drafted(iid_lengths(0.8, gamma, 500), gamma)))
    assert counts.acceptance_rate == pytest.approx(0.8, abs=2e-3)
    assert counts.draft_efficiency == pytest.approx(expected_draft_efficiency(0.8, gamma), abs=2e-3)
    assert counts.tokens_per_step == pytest.approx(expected_tokens_per_step(0.8, gamma), abs=0.01)


def test_tokens_behind_a_stop_are_in_no_count() -> None:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=4, accepted=2, stop=True)
    counts = count(snapshot_of(script.events))
    assert (counts.n_drafted, counts.n_tested, counts.n_committed) == (2, 2, 2)
    assert (counts.n_recovered, counts.n_bonus) == (0, 0)


def test_sequences_decoded_together_share_an_engine_step() -> None:
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    for _ in range(3):
        script.step(0, more=True)
        script.step(1)
    counts = count(snapshot_of(script.events))
    assert (counts.n_steps, counts.n_engine_steps) == (6, 3)
