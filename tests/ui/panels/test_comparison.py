"""Several sessions side by side in the window: their figures."""

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from sessions.model import SessionModel
from tests.sessions.scripted import baseline, speculative
from tests.ui.panels.compared import moment, shown, three
from ui.compare.comparison_rows import Row
from ui.look import Look
from ui.moment import View
from ui.panels.base import Empty, Panel
from ui.panels.comparison import Comparison, ComparisonPanel
from ui.panels.comparison_charts import ComparisonChartsPanel
from ui.panels.comparison_outputs import ComparisonOutputsPanel
from ui.theme import DARK, LIGHT
from ui.view_state import ViewState

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # offscreen, for every window


def cells(rows: tuple[Row, ...], name: str) -> list[str]:
    return next([cell.text for cell in row.cells] for row in rows if row.name == name)


@pytest.mark.parametrize("make", [ComparisonPanel, ComparisonOutputsPanel, ComparisonChartsPanel])
def test_one_session_alone_says_how_to_get_here(make: Callable[..., Panel], qtbot: QtBot) -> None:
    panel = shown(make, moment(), qtbot)
    assert panel.is_empty
    assert "Compare" in panel._placeholder.text()


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
