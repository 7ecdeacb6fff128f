"""Acceptance by place in the draft and by the target's entropy."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from engine.wire.events import DraftVerified
from sessions.metrics.breakdown import acceptance_by_entropy, acceptance_by_position
from sessions.snapshot import Snapshot
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import EventScript


def test_a_place_not_reached_or_not_drafted_is_neither_accepted_nor_rejected() -> None:
    script = EventScript()
    script.sequence("ab")
    for n_drafted, n_accepted in ((3, 1), (3, 3), (1, 1), (0, 0)):
        script.step(drafted=n_drafted, accepted=n_accepted)
    places = acceptance_by_position(snapshot_of(script.events))
    assert [place.draft_index for place in places] == [0, 1, 2]
    assert [place.n_drafted for place in places] == [3, 2, 2]
    assert [place.conditional.n_of for place in places] == [3, 2, 1]
    assert [place.conditional.value for place in places] == [1.0, 0.5, 1.0]
    assert [place.unconditional.n_of for place in places] == [3, 3, 3]
    assert [place.unconditional.value for place in places] == [1.0, 1 / 3, 1 / 3]


def test_the_published_example_of_a_server() -> None:
    places = acceptance_by_position(snapshot_of(drafted([0] * 39 + [1] + [3] * 3, 3)))
    assert [place.unconditional.n for place in places] == [4, 3, 3]
    assert [place.unconditional.value for place in places] == [4 / 43, 3 / 43, 3 / 43]
    assert [place.conditional.value for place in places] == [4 / 43, 3 / 4, 1.0]
    low, high = places[0].conditional.low, places[0].conditional.high
    assert low is not None
    assert high is not None
    assert low < 4 / 43 < high


def test_a_place_that_was_drafted_and_never_reached_has_no_conditional_rate() -> None:
    places = acceptance_by_position(snapshot_of(drafted([0, 0], 2)))
    assert places[1].conditional.value is None
    assert places[1].unconditional.value == 0.0


def test_nothing_drafted_has_no_places() -> None:
    assert acceptance_by_position(snapshot_of(drafted([0], 0))) == ()
    assert acceptance_by_position(snapshot_of([])) == ()


def with_entropies(entropies: Sequence[float]) -> Snapshot:
    """One draft as long as ``entropies``, refused at its last token."""
    (event,) = [
        event for event in drafted([len(entropies) - 1], len(entropies))
        if isinstance(event, DraftVerified)
    ]  # fmt: skip
    return snapshot_of([replace(event, target_entropies=tuple(entropies))])


def test_bins_hold_their_lower_edge_and_the_last_is_open() -> None:
    bins = acceptance_by_entropy(with_entropies([0.0, 0.4, 0.5, 2.0, 9.0]), edges=(0.0, 0.5, 2.0))
    assert [(bin_.low, bin_.high) for bin_ in bins] == [(0.0, 0.5), (0.5, 2.0), (2.0, None)]
    assert [bin_.acceptance.n_of for bin_ in bins] == [2, 1, 2]
    assert [bin_.acceptance.value for bin_ in bins] == [1.0, 1.0, 0.5]
    assert bins[2].expected == pytest.approx(0.7)
    assert [bin_.mean_entropy for bin_ in bins] == pytest.approx([0.2, 0.5, 5.5])


def test_a_bin_without_tokens_has_no_rate() -> None:
    bins = acceptance_by_entropy(snapshot_of([]), edges=(0.0, 1.0))
    assert [bin_.acceptance.value for bin_ in bins] == [None, None]
    assert [bin_.expected for bin_ in bins] == [None, None]
    assert [bin_.mean_entropy for bin_ in bins] == [None, None]
