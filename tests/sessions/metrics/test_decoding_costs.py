"""Calibrated costs as the steps that followed bear them out."""

import pytest
from msgspec.structs import replace

from engine.wire.events import Event, SpansMeasured
from sessions.metrics.costs import measured_costs
from sessions.metrics.decoding_costs import decoding_costs
from sessions.metrics.time_split import time_split
from sessions.snapshot import Snapshot
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import EventScript

MS = 1_000_000


def decoded(calibrated_ms: tuple[float, ...], *, verify_ms: float, draft_ms: float = 1) -> Snapshot:
    """Drafts of two; one span for both draft forwards."""
    took = tuple(round(ms * MS) for ms in (20, 3, draft_ms, verify_ms, 1, 1))
    events: list[Event] = [
        replace(event, host_ns=took) if isinstance(event, SpansMeasured) else event
        for event in drafted(
            [1] * 20, 2, draft_ns=7, target_ns=[round(ms * MS) for ms in calibrated_ms],
            with_spans=True,
        )
    ]  # fmt: skip
    return snapshot_of(events)


@pytest.mark.parametrize(
    ("calibrated_ms", "verify_ms", "expected_ms"),
    [
        ((4, 5, 6), 6, (4, 5, 6)),  # as it was timed
        ((4, 5, 6), 8, (4, 6, 8)),  # what is over one token's time is stretched
        ((4, 5, 6), 12, (8, 10, 12)),  # too much longer to be the width's alone
        ((4, 5, 6), 5, (4, 4.5, 5)),  # or shrunk
        ((4, 5, 6), 3, (2, 2.5, 3)),  # timed on a busier machine than it decoded on
        ((4, 4, 4), 5, (4, 5, 5)),  # timed as free, and was not
        ((4, 6, 5), 7, (4, 7, 7)),  # evened out before
    ],
)
def test_verifications_take_what_they_took(
    calibrated_ms: tuple[float, ...], verify_ms: float, expected_ms: tuple[float, ...]
) -> None:
    costs = decoding_costs(decoded(calibrated_ms, verify_ms=verify_ms))
    assert costs is not None
    assert costs.target_ns == pytest.approx([ms * MS for ms in expected_ms])
    assert costs.verify_ns(3) == pytest.approx(verify_ms * MS)
    assert costs.draft_ns == pytest.approx(MS)


def test_costs_timed_within_the_steps_are_stretched_to_their_mean() -> None:
    """Half of the steps had no draft: medians of 2 and 3 ms; one of each took ten times so long."""
    script = EventScript(n_blocks=4096)
    script.sequence("ab")
    for index in range(60):
        script.step(drafted=2 * (index % 2), accepted=0, gamma=2, drafter="ngram")
    script.finish()
    n_seen, events = 0, []
    for event in script.events:
        if isinstance(event, SpansMeasured):
            ms = (2 + n_seen % 2) * (10 if n_seen < 2 else 1)
            host_ns = [ms * MS if name == "verify" else 0 for name in event.names]
            event = replace(event, host_ns=(100 * MS, *host_ns[1:]))
            n_seen += 1
        events.append(event)
    snapshot = snapshot_of(events)
    measured, costs = measured_costs(snapshot), decoding_costs(snapshot)
    assert measured is not None
    assert costs is not None
    assert measured.source == costs.source == "spans"
    assert measured.target_ns == (2 * MS, 3 * MS)
    assert costs.target_ns == pytest.approx([2.6 * MS, 3.9 * MS])


def test_a_split_at_hand_is_used() -> None:
    snapshot = decoded((4, 5, 6), verify_ms=10)
    assert decoding_costs(snapshot, split=time_split(snapshot)) == decoding_costs(snapshot)


def test_without_measured_steps_or_costs_nothing_is_changed_or_known() -> None:
    plain = decoding_costs(snapshot_of(drafted([1], 2, draft_ns=7, target_ns=[4, 6, 5])))
    assert plain is not None
    assert plain.target_ns == (4.0, 5.5, 5.5)
    assert plain.draft_ns == 7.0
    assert decoding_costs(snapshot_of([])) is None
