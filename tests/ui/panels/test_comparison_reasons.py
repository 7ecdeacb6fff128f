"""Why sessions side by side are slower than the fastest, as the card says it."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from sessions.model import SessionModel
from sessions.speed_reasons import ReasonKind, speed_reasons
from tests.sessions.scripted import baseline, speculative
from tests.ui.panels.compared import moment, shown
from ui.look import Look
from ui.moment import View
from ui.panels.base import Empty
from ui.panels.comparison_reasons import ComparisonReasonsPanel, Reasons, page
from ui.theme import DARK
from ui.view_state import ViewState

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # offscreen, for every window

NAMED = [("plain", baseline()), ("fast <b>", speculative())]


def test_the_terminals_sentence_is_shown_and_whom_it_is_against(qtbot: QtBot) -> None:
    told: list[str] = []
    panel = ComparisonReasonsPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.noted.connect(told.append)
    panel.show_digest(panel.digest(moment(*NAMED), View()))
    (reason,) = speed_reasons(NAMED)
    assert panel.browser.toPlainText() == reason.sentence
    assert "0.33 times the speed of fast <b>" in reason.sentence
    assert told == ["against fast &lt;b&gt;, the fastest"]


def test_the_caption_calls_none_the_fastest_that_is_the_fastest_only_of_some() -> None:
    others = [*NAMED, ("other", speculative(("x", "y"), text="longer"))]
    slow = ("slow", baseline(("x", "y")))
    for named, caption in (
        ([*NAMED, ("part", speculative(("ab",)))], "against fast <b>, the fastest"),
        ([*others, slow], "each against the fastest that did the same work"),
    ):
        digest = ComparisonReasonsPanel.digest(moment(*named), View())
        assert isinstance(digest, Reasons)
        assert digest.caption == caption


def test_one_session_alone_says_how_to_get_here(qtbot: QtBot) -> None:
    panel = shown(ComparisonReasonsPanel, moment(), qtbot)
    assert panel.is_empty
    assert "Compare" in panel.hint


def test_while_one_alone_has_decoded_there_is_none_to_be_slower_than() -> None:
    nothing = SessionModel().snapshot()
    digest = ComparisonReasonsPanel.digest(moment(("a", baseline()), ("b", nothing)), View())
    assert isinstance(digest, Empty)


def test_doubt_is_marked_and_what_is_no_reason_is_dim() -> None:
    (reason,) = speed_reasons(NAMED)
    html = page(Reasons((replace(reason, is_doubted=True),)), DARK)
    assert f'<span style="color:{DARK.warning}">in doubt:</span> <b>plain</b> has 0.33' in html
    assert f"color:{DARK.text}" in html
    other = replace(reason, kind=ReasonKind.OTHER_WORK)
    assert f"color:{DARK.dim}" in page(Reasons((other,)), DARK)


def test_another_theme_is_taken_and_the_place_in_the_text_stays(qtbot: QtBot) -> None:
    many = [(f"plain {i}", baseline()) for i in range(12)]
    panel = shown(ComparisonReasonsPanel, moment(*many, NAMED[1]), qtbot)
    panel.resize(300, 120)
    qtbot.wait(20)
    bar = panel.browser.verticalScrollBar()
    bar.setValue(bar.maximum())
    place = bar.value()
    assert place > 0
    panel.look.choose("light")
    assert bar.value() == place
    panel.look.choose("dark")
