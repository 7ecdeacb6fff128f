"""Acceptance by entropy: bins, a sample that stays, and what is on the screen."""

import numpy as np
import pytest
from msgspec.structs import replace

from engine.wire.events import DraftVerified, Event
from sessions.metrics.selection import Selection
from tests.sessions.played import drafted, snapshot_of
from tests.ui.panels.moments import EVERYTHING, in_both_themes, moment_of, plain, shown, two_kinds
from ui.look import Look
from ui.moment import View
from ui.panels.acceptance_entropy import MAX_POINTS, ByEntropy, EntropyPanel, sampled
from ui.panels.base import Empty
from ui.view_state import ViewState


def with_entropies(events: list[Event], entropies: tuple[float, ...]) -> list[Event]:
    return [
        replace(event, target_entropies=entropies[: len(event.fates)])
        if isinstance(event, DraftVerified)
        else event
        for event in events
    ]


def test_tested_tokens_are_points_and_the_bins_a_line() -> None:
    moment = moment_of(with_entropies(drafted([1, 3], 3), (0.2, 0.3, 2.5)))
    digest = EntropyPanel.digest(moment, EVERYTHING)
    assert isinstance(digest, ByEntropy)
    # The first draft: 0.2 accepted, 0.3 rejected, 2.5 never tested; the second: all accepted.
    assert sorted(digest.accepted_x.tolist()) == [0.2, 0.2, 0.3, 2.5]
    assert digest.rejected_x.tolist() == [0.3]
    assert (digest.accepted_y >= 0.94).all()
    assert (digest.rejected_y <= 0.06).all()
    assert digest.bins.entropy == pytest.approx([0.2, 0.3, 2.5])
    assert digest.bins.acceptance == pytest.approx([1.0, 0.5, 1.0])
    assert digest.bins.expected == pytest.approx([0.7, 0.7, 0.7])
    assert (digest.alpha_sure, digest.alpha_unsure) == (3 / 4, 1.0)


def test_a_long_session_is_sampled_alike_each_time_and_loses_points_only() -> None:
    events = drafted([3] * 2000, 4)  # 8000 tested
    whole, half = snapshot_of(events), snapshot_of(events[: len(events) // 2])
    rows = sampled(whole, Selection())
    assert MAX_POINTS / 4 < len(rows) <= MAX_POINTS
    assert rows.tolist() == sampled(whole, Selection()).tolist()
    earlier = set(sampled(half, Selection()).tolist())
    last = len(half.draft_tokens)
    assert {row for row in rows.tolist() if row < last} <= earlier


def test_kinds_and_one_sequence() -> None:
    moment = moment_of(two_kinds().events)
    digest = EntropyPanel.digest(moment, EVERYTHING)
    assert isinstance(digest, ByEntropy)
    found = {label: line.acceptance.tolist() for label, line in digest.kinds}
    assert found == {"json": [6 / 7], "code": [1 / 3]}
    one = EntropyPanel.digest(moment, View(only_sequence_id=1))
    assert isinstance(one, ByEntropy)
    assert one.kinds == ()
    assert len(one.accepted_x) == 1
    assert len(one.rejected_x) == 2


def test_what_is_on_the_screen(qtbot: object, look: Look, state: ViewState) -> None:
    panel = EntropyPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    moment = moment_of(with_entropies(drafted([1, 3], 3), (0.2, 0.3, 2.5)))
    assert shown(panel, moment) == ["α 0.75 below 0.5 nats, 1.00 above 2"]  # noqa: RUF001
    for _ in in_both_themes(panel, look):
        assert len(panel.accepted.data) == 4
        assert panel.rejected.data["x"].tolist() == [0.3]
        assert panel.line.getData()[1] == pytest.approx([1.0, 0.5, 1.0])
        assert panel.expected.getData()[1] == pytest.approx([0.7, 0.7, 0.7])
    assert "about 0.30 nats, 2 tested" in panel._read(0.31, 0.5)
    assert panel.plot.csv().startswith("mean_entropy_nats,n_tested,acceptance,low,high,expected\n")
    assert np.isfinite(panel.whiskers.getData()[1]).all()


def test_without_a_draft_it_says_why() -> None:
    assert EntropyPanel.digest(moment_of([]), EVERYTHING) is None
    assert isinstance(EntropyPanel.digest(moment_of(plain()), EVERYTHING), Empty)
    moment = moment_of(drafted([1], 2))
    assert isinstance(EntropyPanel.digest(moment, View(only_sequence_id=9)), Empty)
