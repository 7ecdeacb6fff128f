"""Several sessions side by side in the window: figures, outputs, charts."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from sessions.model import SessionModel
from sessions.snapshot import Snapshot
from tests.sessions.played import model_of, snapshot_of
from tests.sessions.recorded import script
from tests.sessions.scripted import baseline, speculative
from ui.comparison_rows import Row
from ui.look import Look
from ui.moment import Moment, NamedSnapshot, View
from ui.panels.base import Empty, Panel
from ui.panels.comparison import Comparison, ComparisonPanel
from ui.panels.comparison_charts import Charts, ComparisonChartsPanel
from ui.panels.comparison_outputs import (
    ComparedOutputs,
    ComparisonOutputsPanel,
    Place,
    html_of,
)
from ui.theme import DARK, LIGHT
from ui.view_state import ViewState

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # offscreen, for every window
AnyPanel = TypeVar("AnyPanel", bound=Panel)


def moment(*others: tuple[str, Snapshot], shown: int = -1) -> Moment:
    snapshot = others[shown][1] if others else speculative()
    named = tuple(NamedSnapshot(name, each) for name, each in others)
    return Moment(snapshot=snapshot, newest=snapshot, others=named)


def three() -> Moment:
    """The baseline, one that agrees with it nowhere, one that is like the second."""
    return moment(("plain", baseline()), ("xy", speculative()), ("xz", speculative(text="xz")))


def shown(
    make: Callable[..., AnyPanel], what: Moment, qtbot: QtBot, *, state: ViewState | None = None
) -> AnyPanel:
    panel = make(state or ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(700, 400)
    panel.show()
    panel.show_digest(panel.digest(what, panel.state.now))
    return panel


def cells(rows: tuple[Row, ...], name: str) -> list[str]:
    return next([cell.text for cell in row.cells] for row in rows if row.name == name)


@pytest.mark.parametrize("make", [ComparisonPanel, ComparisonOutputsPanel, ComparisonChartsPanel])
def test_one_session_alone_says_how_to_get_here(make: Callable[..., Panel], qtbot: QtBot) -> None:
    panel = shown(make, moment(), qtbot)
    assert panel.is_empty
    assert "Compare" in panel._placeholder.text()


# --- figures -------------------------------------------------------------------------------------


def test_the_baseline_is_first_and_the_others_stay_in_their_order(qtbot: QtBot) -> None:
    slow, fast, plain = ("slow", speculative(("ab",))), ("fast", speculative()), baseline()
    panel = shown(ComparisonPanel, moment(slow, fast, ("plain", plain)), qtbot)
    digest = panel.digested
    assert isinstance(digest, Comparison)
    assert digest.names == ("baseline · plain", "slow", "fast")
    assert cells(digest.rows, "drafts with") == ["none", "small", "small"]
    model = panel.table.model_
    assert [model.headerData(i, panel.table.horizontalHeader().orientation()) for i in (1, 2, 3)] \
        == list(digest.names)  # fmt: skip
    assert model.index(0, 1).data() == "none"
    assert panel.table.as_text().splitlines()[1] == "drafts with\tnone\tsmall\tsmall"


def test_names_that_are_alike_are_told_apart() -> None:
    digest = ComparisonPanel.digest(moment(("a", speculative()), ("a", speculative())), View())
    assert isinstance(digest, Comparison)
    assert sorted(digest.names) == ["a", "a (2)"]


def test_it_says_which_is_fastest_and_redresses(qtbot: QtBot) -> None:
    told: list[str] = []
    panel = ComparisonPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.noted.connect(told.append)
    panel.show_digest(panel.digest(three(), View()))
    assert told[-1] in ("fastest: xy", "fastest: xz")
    dark = panel.table.model_.index(3, 0).data(9)  # ForegroundRole
    panel.look.choose("light")
    assert (dark.name().upper(), panel.table.model_.index(3, 0).data(9).name().upper()) == (
        DARK.dim,
        LIGHT.dim,
    )
    panel.look.choose("dark")


def test_what_sets_the_sessions_apart_is_said_first(qtbot: QtBot) -> None:
    panel = shown(
        ComparisonPanel, moment(("plain", baseline(("ab",))), ("fast", speculative())), qtbot
    )
    digest = panel.digested
    assert isinstance(digest, Comparison)
    assert any("prompts differ" in note for note in digest.notes)
    assert panel.words.text().index("prompts differ") < panel.words.text().index("</p>")


def test_before_the_first_step_there_is_nothing_to_compare() -> None:
    early, nothing = baseline(), SessionModel().snapshot()
    digest = ComparisonPanel.digest(moment(("a", nothing), ("b", nothing)), View())
    assert isinstance(digest, Empty)
    digest = ComparisonChartsPanel.digest(moment(("a", nothing), ("b", nothing)), View())
    assert isinstance(digest, Empty)
    assert isinstance(ComparisonPanel.digest(moment(("a", early), ("b", nothing)), View()),
                      Comparison)  # fmt: skip


# --- outputs -------------------------------------------------------------------------------------


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


# --- charts --------------------------------------------------------------------------------------


def test_acceptance_is_on_shared_axes_and_steps_on_shared_time(qtbot: QtBot) -> None:
    panel = shown(ComparisonChartsPanel, three(), qtbot)
    digest = panel.digested
    assert isinstance(digest, Charts)
    plain, one, _ = digest.charts
    assert len(plain.position) == 0
    np.testing.assert_array_equal(one.position, [1.0, 2.0])
    np.testing.assert_array_equal(one.acceptance, [1.0, 1.0])
    assert len(panel.lines.items) == 2
    x, y = panel.lines.items[0].getData()
    np.testing.assert_array_equal(x, [1.0, 2.0])
    np.testing.assert_array_equal(y, [1.0, 1.0])
    np.testing.assert_array_equal(one.steps.n_tokens, [3, 3, 3, 3])
    np.testing.assert_array_equal(plain.steps.n_tokens, np.ones(12))
    assert (one.steps.end > one.steps.start).all()
    assert panel.timeline.highest == 3.0
    # All are over: the whole of the longest is shown.
    (x0, x1), _ = panel.timeline.getPlotItem().getViewBox().viewRange()
    assert x0 == pytest.approx(0.0, abs=1e-9)
    assert x1 == pytest.approx(1.02 * max(c.steps.end[-1] for c in digest.charts))


def test_while_they_play_the_newest_steps_are_followed() -> None:

    model = model_of(script(200))
    half = model.snapshot(1_000_000_000)
    digest = ComparisonChartsPanel.digest(moment(("a", half), ("b", half)), View())
    assert isinstance(digest, Charts)
    end = digest.charts[0].steps.end[-1]
    assert digest.x[1] == pytest.approx(end)
    assert 0 < digest.x[0] < end
    assert digest.charts[0].steps.playhead == pytest.approx(
        1.0 - model.snapshot().sequences["t_ns"][0] / 1e9
    )
    zoomed = ComparisonChartsPanel.digest(
        moment(("a", half), ("b", half)), View(window_ns=(500_000_000, 600_000_000))
    )
    assert isinstance(zoomed, Charts)
    assert zoomed.x[1] - zoomed.x[0] == pytest.approx(0.1)


def test_many_steps_share_blocks_that_are_their_mean() -> None:

    whole = snapshot_of(script(700))
    digest = ComparisonChartsPanel.digest(moment(("a", whole), ("b", whole)), View())
    assert isinstance(digest, Charts)
    steps = digest.charts[0].steps
    assert (len(steps.end), steps.n_steps) == (350, 2)
    np.testing.assert_allclose(steps.n_tokens, 3.0)
    assert (np.diff(steps.start) > 0).all()


def test_both_plots_copy_what_they_show_and_redress(qtbot: QtBot) -> None:
    panel = shown(ComparisonChartsPanel, three(), qtbot)
    header, *lines = panel.acceptance.csv().splitlines()
    assert header == "session,position,n_tested,acceptance"
    assert lines[0] == "xy,1,4,1.0"
    assert panel.timeline.csv().splitlines()[1].startswith("plain,")
    assert "xy 1.000 of 4" in panel._read(1.1, 0.5)
    panel.look.choose("light")
    assert panel.timeline.curves[0].opts["pen"].color().name().upper() == LIGHT.accepted
    panel.look.choose("dark")
