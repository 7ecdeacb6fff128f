"""Acceptance by place: counts by hand, kinds, one sequence, and what is on the screen."""

import numpy as np
import pytest

from tests.sessions.played import drafted
from tests.support.event_script import EventScript
from tests.ui.panels.moments import EVERYTHING, in_both_themes, moment_of, plain, shown, two_kinds
from ui.look import Look
from ui.moment import View
from ui.panels.acceptance_position import ByPosition, PositionPanel
from ui.panels.base import Empty
from ui.view_state import ViewState


def digest_of(moment: object, view: View = EVERYTHING) -> ByPosition:
    digest = PositionPanel.digest(moment, view)  # type: ignore[arg-type]
    assert isinstance(digest, ByPosition)
    return digest


def test_bars_are_given_reached_and_dashes_of_drafts_long_enough() -> None:
    digest = digest_of(moment_of(drafted([0, 2, 4], 4)))
    assert digest.position.tolist() == [1, 2, 3, 4]
    assert digest.n_tested.tolist() == [3, 2, 2, 1]
    assert digest.n_accepted.tolist() == [2, 2, 1, 1]
    assert digest.conditional == pytest.approx([2 / 3, 1.0, 1 / 2, 1.0])
    assert digest.reached == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1 / 3])
    assert (digest.low < digest.conditional).all()


def test_drafts_of_a_smaller_gamma_before_do_not_pull_the_later_places_down() -> None:
    script = EventScript()
    script.sequence()
    for gamma in (1, 1, 1, 1, 2, 2):
        script.step(drafted=gamma, accepted=gamma)
    digest = digest_of(moment_of(script.events))
    assert digest.reached.tolist() == [1.0, 1.0]
    assert digest.n_long_enough.tolist() == [6, 2]


def test_a_place_that_was_never_reached_has_no_bar() -> None:
    digest = digest_of(moment_of(drafted([0, 0], 2)))
    assert np.isnan(digest.conditional[1])
    assert digest.reached[1] == 0.0


def test_kinds_stand_beside_each_other_unless_one_sequence_is_looked_at() -> None:
    moment = moment_of(two_kinds().events)
    kinds = {kind.label: kind.conditional for kind in digest_of(moment).kinds}
    assert kinds["json"] == pytest.approx([1.0, 1.0, 0.5, 1.0])
    assert kinds["code"][:2] == pytest.approx([0.5, 0.0])
    assert np.isnan(kinds["code"][2:]).all()
    one = digest_of(moment, View(only_sequence_id=1))
    assert one.kinds == ()
    assert one.n_tested.tolist() == [2, 1, 0, 0]


def test_what_is_on_the_screen(qtbot: object, look: Look, state: ViewState) -> None:
    panel = PositionPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    panel.resize(500, 300)
    panel.show()
    notes = shown(panel, moment_of(two_kinds().events))
    assert notes == ["bars: given reached · dashes: of drafts long enough"]
    for _ in in_both_themes(panel, look):
        assert panel.plot.bar_item.opts["height"] == pytest.approx([3 / 4, 2 / 3, 1 / 2, 1.0])
        assert panel.plot.line.getData()[1] == pytest.approx([3 / 4, 2 / 4, 1 / 4, 1 / 4])
        assert panel.plot.bar_item.opts["brush"].name().upper() == look.theme.accepted
    assert panel.plot.caption_texts() == ["4", "3", "2", "1"]
    assert panel.kinds.labels.texts == ["◆ json", "▲ code"]
    assert len(panel.kinds.items) == 2
    ticks = [text for _, text in panel.plot.getPlotItem().getAxis("bottom")._tickLevels[0]]
    assert ticks == ["1", "2", "3", "4"]
    assert panel._read(1.9, 0.5).startswith("position 2\ngiven reached 0.667")
    assert panel._read(9.0, 0.5) == ""
    lines = panel.plot.csv().splitlines()
    assert lines[0].startswith(
        "position,n_tested,n_accepted,given_reached,low,high,of_drafts_long_enough"
    )
    assert len(lines) == 5
    shown(panel, moment_of(drafted([1], 2)))
    assert panel.kinds.items == ()


def test_without_a_draft_it_says_why(qtbot: object, look: Look, state: ViewState) -> None:
    assert PositionPanel.digest(moment_of([]), EVERYTHING) is None
    assert isinstance(PositionPanel.digest(moment_of(plain()), EVERYTHING), Empty)
    panel = PositionPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    assert shown(panel, moment_of(plain())) == [""]
    assert panel.is_empty
