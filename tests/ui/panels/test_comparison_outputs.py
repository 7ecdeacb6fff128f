"""The outputs of several sessions side by side, and where they part."""

import pytest
from pytestqt.qtbot import QtBot

from tests.sessions.scripted import baseline, folded, speculative
from tests.support.event_script import EventScript
from tests.ui.panels.compared import moment, shown, three
from ui.moment import View
from ui.panels.base import Empty
from ui.panels.comparison_outputs import (
    ComparedOutputs,
    ComparisonOutputsPanel,
    Place,
    html_of,
)
from ui.theme import DARK, LIGHT
from ui.view_state import ViewState

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # offscreen, for every window


def test_the_first_difference_is_marked_in_both_and_what_is_behind_it_compared() -> None:
    plain = speculative(text="xy")  # drafts, so it is the baseline only for being first
    digest = ComparisonOutputsPanel.digest(
        moment(("one", plain), ("two", speculative(text="xz"))), View()
    )
    assert isinstance(digest, ComparedOutputs)
    (beside,) = digest.besides
    assert (beside.name, beside.finding) == ("two", "leaves it at token 2 of 6")
    base, own = beside.lines
    assert (base.name, own.name) == ("one", "two")
    assert base.texts == ("x", "y", "!", "x", "y", "!")
    assert own.texts == ("x", "z", "!", "x", "z", "!")
    expected = (Place.SHARED, Place.PARTING, Place.SAME, Place.SAME, Place.DIFFERENT, Place.SAME)
    assert own.places == base.places == expected
    assert digest.n_parting == 2


def test_outputs_that_agree_say_so() -> None:
    digest = ComparisonOutputsPanel.digest(
        moment(("one", speculative()), ("two", speculative())), View()
    )
    assert isinstance(digest, ComparedOutputs)
    (beside,) = digest.besides
    assert (beside.is_same, beside.finding) == (True, "the same, 6 tokens")
    assert set(beside.lines[0].places) == {Place.SHARED}
    assert digest.n_parting == 0


def test_so_far_is_said_while_more_may_come(qtbot: QtBot) -> None:
    panel = shown(ComparisonOutputsPanel, three(), qtbot)
    notes: list[str] = []
    panel.noted.connect(notes.append)
    same, script = speculative(("ab",)), EventScript()
    script.step(script.sequence("ab"), drafted=2, accepted=2, text="xy")
    for other in (same, folded(script.events)):
        what = moment(("one", same), ("two", other))
        panel.show_digest(panel.digest(what, panel.state.now))
    assert notes[-2:] == ["all 1 the same", "all 1 the same so far"]


def test_a_prompt_is_chosen_for_all_cards(qtbot: QtBot) -> None:
    state = ViewState()
    panel = shown(ComparisonOutputsPanel, three(), qtbot, state=state)
    assert panel.prompts.count() == 2
    assert panel.prompts.itemText(0).startswith("≠ ab")
    panel.prompts.activated.emit(1)
    assert state.now.sequence_id == 1
    panel.show_digest(panel.digest(three(), state.now))
    assert panel.prompts.currentIndex() == 1


def test_without_a_prompt_in_common_it_says_so() -> None:
    digest = ComparisonOutputsPanel.digest(
        moment(("plain", baseline(("ab",))), ("b", speculative(("zz",)))), View()
    )
    assert isinstance(digest, Empty)


def test_the_text_has_a_shape_beside_its_colour_and_hides_nothing(qtbot: QtBot) -> None:
    panel = shown(ComparisonOutputsPanel, three(), qtbot)
    digest = panel.digested
    assert "leaves it at token" in panel.text.toPlainText()
    for theme in (DARK, LIGHT):
        html = html_of(digest, theme)
        assert "text-decoration:underline" in html
        assert theme.warning in html
    odd = speculative(text="<\n")
    html = html_of(
        ComparisonOutputsPanel.digest(moment(("a", speculative()), ("b", odd)), View()), DARK
    )
    assert "&lt;" in html
    assert "↵</span>\n" in html
