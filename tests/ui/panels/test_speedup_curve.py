"""The curve over gamma: the what-if's numbers, the two y axes, the marks."""

from dataclasses import replace

import pytest

from sessions.findings import find
from sessions.metrics.over_time import tokens_per_second
from sessions.what_if import by_formula, gamma_what_if
from tests.sessions.played import drafted, iid_lengths, snapshot_of
from tests.ui.panels.moments import EVERYTHING, in_both_themes, moment_of, plain, shown
from ui.look import Look
from ui.moment import Moment
from ui.panels.base import Empty
from ui.panels.speedup_curve import CurvePanel, SpeedupCurve, note
from ui.view_state import ViewState

MS = 1_000_000


def calibrated(*, baseline: bool = False) -> Moment:
    events = drafted([2, 1, 0, 2], 2, draft_ns=MS // 10, target_ns=[MS, MS, MS], with_spans=True)
    return moment_of(events, baseline=snapshot_of(plain()) if baseline else None)


def test_it_is_the_what_if_of_the_session() -> None:
    moment = calibrated()
    digest = CurvePanel.digest(moment, EVERYTHING)
    what_if = gamma_what_if(moment.snapshot)
    assert isinstance(digest, SpeedupCurve)
    assert what_if is not None
    assert digest.speedup.tolist() == [option.speedup for option in what_if.options]
    assert digest.formula.tolist() == list(by_formula(what_if))
    assert digest.is_guessed.tolist() == [gamma > 2 for gamma in range(17)]
    assert (digest.best, digest.recorded) == (what_if.best_seen.gamma, 2.0)
    assert digest.measured_per_second == tokens_per_second(moment.snapshot)
    assert digest.measured_speedup is None


def test_the_speed_up_is_measured_only_against_a_baseline() -> None:
    digest = CurvePanel.digest(calibrated(baseline=True), EVERYTHING)
    assert isinstance(digest, SpeedupCurve)
    assert digest.measured_speedup is not None


def test_what_is_on_the_screen(qtbot: object, look: Look, state: ViewState) -> None:
    panel = CurvePanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    (said,) = shown(panel, calibrated())
    digest = panel.digested
    assert said == f"what if · best γ {digest.best} by these drafts · run at γ 2"  # noqa: RUF001
    for _ in in_both_themes(panel, look):
        assert panel.plot.known.getData()[1].tolist() == digest.speedup[:3].tolist()
        assert panel.plot.guessed.getData()[1].tolist() == digest.speedup[2:].tolist()
        assert panel.plot.compared.getData()[1].tolist() == digest.formula.tolist()
    assert panel.plot.marks.data["symbol"].tolist() == ["star"]
    assert "speed-up" in panel._read(2.1, 0.0)
    assert panel._read(40.0, 0.0) == ""


def test_no_gamma_is_called_best_by_what_nobody_saw() -> None:
    digest = CurvePanel.digest(calibrated(), EVERYTHING)
    assert isinstance(digest, SpeedupCurve)
    assert not digest.is_guessed[digest.best]
    longer = replace(digest, may_longer_pay=True)
    assert f"best γ {digest.best} of those seen, longer may pay" in note(longer)  # noqa: RUF001


@pytest.mark.parametrize(
    ("rate", "gamma", "n", "draft_ns"),
    [
        (0.8, 2, 200, 50),  # gamma 4 is worth a try
        (0.8, 2, 10, 50),  # on evidence too thin for that
        (0.75, 4, 300, 80),  # a longer one is better by a hair alone
        (0.5, 8, 200, 100),  # a shorter one is better
    ],
)
def test_longer_drafts_may_pay_where_the_findings_say_so(
    rate: float, gamma: int, n: int, draft_ns: int
) -> None:
    lengths = iid_lengths(rate, gamma, n)
    events = drafted(lengths, gamma, draft_ns=draft_ns, target_ns=[1000] * 17)
    moment = moment_of(events)
    digest = CurvePanel.digest(moment, EVERYTHING)
    assert isinstance(digest, SpeedupCurve)
    tried = [each.key for each in find(moment.snapshot) if "try_gamma" in each.values]
    assert digest.may_longer_pay == bool(tried)
    assert digest.may_longer_pay == (draft_ns == 50 and n == 200)


def test_the_other_axis_shows_the_measured_speed(
    qtbot: object, look: Look, state: ViewState
) -> None:
    panel = CurvePanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    shown(panel, calibrated())
    (button,) = [each for each in panel.choices.buttons() if each.text() == "tokens/s"]
    button.click()
    digest = panel.digested
    assert panel.plot.known.getData()[1].tolist() == digest.per_second[:3].tolist()
    assert panel.plot.compared.getData()[1] == pytest.approx(digest.formula * digest.per_second[0])
    marks = panel.plot.marks.data
    assert marks["symbol"].tolist() == ["star", "d"]
    assert (marks["x"][1], marks["y"][1]) == (2.0, digest.measured_per_second)


def test_each_speed_up_says_which_one_it_is(qtbot: object, look: Look, state: ViewState) -> None:
    panel = CurvePanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    shown(panel, calibrated(baseline=True))
    assert [name.toPlainText() for name in panel.plot.names][1].endswith("vs baseline")
    assert "geometric mean over prompts" in panel.explanation


def test_a_curve_of_doubted_timing_is_shown_and_says_so() -> None:
    events = drafted([2, 1] * 30, 2, draft_ns=MS // 10, target_ns=[MS // 100] * 3, with_spans=True)
    digest = CurvePanel.digest(moment_of(events), EVERYTHING)
    assert isinstance(digest, SpeedupCurve)
    assert note(digest).startswith("in doubt · what if")


def test_each_silence_has_its_reason() -> None:
    assert CurvePanel.digest(moment_of([]), EVERYTHING) is None
    for events, words in (
        (plain(), "Nothing was drafted"),
        (drafted([1], 2), "neither calibrated"),
    ):
        digest = CurvePanel.digest(moment_of(events), EVERYTHING)
        assert isinstance(digest, Empty)
        assert words in digest.reason
