"""Acceptance over time: three lines, kinds beneath, a click selects."""

import pytest

from tests.sessions.played import drafted
from tests.ui.panels.moments import EVERYTHING, in_both_themes, moment_of, plain, shown, two_kinds
from ui.look import Look
from ui.moment import View
from ui.panels.acceptance_time import AcceptanceOverTime, AcceptanceTimePanel
from ui.panels.base import Empty
from ui.view_state import ViewState


def digest_of(moment: object, view: View = EVERYTHING) -> AcceptanceOverTime:
    digest = AcceptanceTimePanel.digest(moment, view)  # type: ignore[arg-type]
    assert isinstance(digest, AcceptanceOverTime)
    return digest


def test_observed_expected_and_so_far() -> None:
    moment = moment_of(drafted([4, 0], 4))
    digest = digest_of(moment)
    assert digest.observed.tolist() == digest.so_far.tolist() == [1.0, 4 / 5]
    assert digest.expected == pytest.approx([0.7, 0.7])
    assert digest.t_s == pytest.approx(moment.snapshot.verdicts["t_ns"] / 1e9)
    assert (digest.first_s, digest.last_s) == (digest.t_s[0], digest.t_s[-1])


def test_a_live_axis_has_room_to_grow_into() -> None:
    events = drafted([4, 0, 2], 4)
    digest = digest_of(moment_of(events, is_live=True))
    assert digest.last_s >= digest.t_s[-1]


def test_kinds_are_told_apart_beneath_unless_one_sequence_is_looked_at() -> None:
    moment = moment_of(two_kinds().events)
    digest = digest_of(moment)
    times = moment.snapshot.sequences["t_ns"] / 1e9  # start, finish, start, finish
    assert digest.kinds["json"].ravel() == pytest.approx(times[:2])
    assert digest.kinds["code"].ravel() == pytest.approx(times[2:])
    one = digest_of(moment, View(only_sequence_id=1, step=3))
    assert one.step.tolist() == [2, 3]
    assert one.kinds == {}
    assert one.cursor_s == one.t_s[1]
    assert digest_of(moment, View(step=99)).cursor_s is None


def test_what_is_on_the_screen(qtbot: object, look: Look, state: ViewState) -> None:
    panel = AcceptanceTimePanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    notes = shown(panel, moment_of(two_kinds().events))
    assert notes == ["last 32 drafts 0.70 · expected 0.70"]
    for _ in in_both_themes(panel, look):
        observed, expected, so_far = (curve.getData()[1] for curve in panel.chart.curves)
        assert observed.tolist() == so_far.tolist() == [1.0, 6 / 7, 6 / 8, 7 / 10]
        assert expected == pytest.approx([0.7] * 4)
    assert len(panel.lanes.blocks.bars) == 2
    assert not panel.lanes.isHidden()
    assert panel.chart.labels.texts == ["observed", "expected", "so far"]
    digest = panel.digested
    panel.chart.clicked.emit(float(digest.t_s[2]) + 1e-4, 0.5)
    assert state.now.step == 2
    assert "step 3" in panel._read(1e9, 0.5)
    assert len(panel.chart.csv().splitlines()) == 5
    shown(panel, moment_of(drafted([1], 2)))
    assert panel.lanes.isHidden()


def test_without_a_draft_it_says_why() -> None:
    assert AcceptanceTimePanel.digest(moment_of([]), EVERYTHING) is None
    assert isinstance(AcceptanceTimePanel.digest(moment_of(plain()), EVERYTHING), Empty)
