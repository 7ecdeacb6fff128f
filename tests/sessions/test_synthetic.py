"""A made-up session obeys the grammar of real ones."""

import pytest

from engine.wire.codec import decode_event, encode
from engine.wire.events import DraftVerified
from sessions.synthetic import synthetic_events
from tests.support.stream_rules import check_stream


@pytest.mark.parametrize(("n", "gamma"), [(1, 1), (1000, 4), (2500, 7)])
def test_it_obeys_the_grammar(n: int, gamma: int) -> None:
    events = list(synthetic_events(n, gamma=gamma))
    check_stream(events)
    n_drafted = sum(len(e.token_ids) for e in events if isinstance(e, DraftVerified))
    assert n <= n_drafted < n + gamma
    assert [decode_event(encode(event)) for event in events] == events


def test_it_is_the_same_every_time() -> None:
    assert list(synthetic_events(100)) == list(synthetic_events(100))
    assert list(synthetic_events(100)) != list(synthetic_events(100, seed=1))
