"""Why not faster: the bars join, the note names the largest losses, and each silence its reason."""

from itertools import pairwise

import pytest

from engine.wire.events import CalibrationMeasured
from sessions.metrics.waterfall import waterfall
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import EventScript
from tests.ui.panels.moments import EVERYTHING, in_both_themes, moment_of, plain, shown
from ui.look import Look
from ui.panels.base import Empty
from ui.panels.waterfall import IN_A_LINE, Losses, WaterfallPanel, note, signed
from ui.view_state import ViewState

MS = 1_000_000
COSTS = {"draft_ns": MS, "target_ns": [MS, MS, MS], "with_spans": True}


def losses(**changes: float) -> Losses:
    deltas = {"pattern": 0.0, "draft": 0.0, "verify_width": 0.0, **changes}
    afters, value = [], 4.0
    for delta in deltas.values():
        value += delta
        afters.append(value)
    return Losses(
        against_session=False, ideal=4.0, keys=tuple(deltas), deltas=tuple(deltas.values()),
        afters=tuple(afters), measured=value,
    )  # fmt: skip


def test_the_two_largest_losses_are_named_by_their_shares() -> None:
    digest = losses(pattern=-0.1, draft=-1.0, verify_width=-0.9)
    assert (
        note(digest) == "lost to drafting 26%, verify width 31% · mean step vs bare target forward"
    )
    assert note(losses(draft=0.5)) == "nothing lost · mean step vs bare target forward"
    assert [signed(value) for value in (-0.256, 0.256, 0.001)] == ["−0.26", "+0.26", "0"]  # noqa: RUF001


def test_it_is_the_metrics_waterfall() -> None:
    moment = moment_of(drafted([2, 1, 0, 2], 2, **COSTS))  # type: ignore[arg-type]
    digest = WaterfallPanel.digest(moment, EVERYTHING)
    found = waterfall(moment.snapshot)
    assert isinstance(digest, Losses)
    assert found is not None
    assert (digest.ideal, digest.measured) == (found.ideal, found.measured)
    assert digest.ideal + sum(digest.deltas) == pytest.approx(digest.measured)
    assert not digest.against_session


def test_what_is_on_the_screen(qtbot: object, look: Look, state: ViewState) -> None:
    panel = WaterfallPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    events = drafted([2, 1, 0, 2], 2, **COSTS)  # type: ignore[arg-type]
    (said,) = shown(panel, moment_of(events))
    assert said.endswith("vs bare target forward")
    digest = panel.digested
    for _ in in_both_themes(panel, look):
        bars = panel.chart.bars.bars
        assert len(bars) == 7
        assert (bars[0].x1, bars[-1].x1) == (digest.ideal, digest.measured)
        for before, after in pairwise(bars[:-1]):
            assert after.x0 == before.x1
        assert digest.measured < 1.0
        assert bars[-1].colour == look.theme.rejected
        losing = [bar for bar in bars[1:-1] if bar.x1 < bar.x0]
        assert losing
        assert all(bar.colour == look.theme.rejected and bar.hatch for bar in losing)
    assert [label.toPlainText() for label in panel.chart.labels][-1] == f"{digest.measured:.2f}×"  # noqa: RUF001
    assert panel._read(1.0, 0.1).startswith("ideal")
    assert panel._read(1.0, 6.0).endswith("vs bare target forward")
    assert panel._read(1.0, 2.0).startswith("draft cost")
    assert panel._read(1.0, 9.0) == ""
    assert len(panel.chart.csv().splitlines()) == 8
    (said,) = shown(panel, moment_of(events, baseline=snapshot_of(plain())))
    assert said.endswith("mean step vs baseline's mean step")


def test_doubted_timing_is_shown_with_the_sentence_that_doubts_it(
    qtbot: object, look: Look, state: ViewState
) -> None:
    panel = WaterfallPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    quick = drafted([2, 1] * 30, 2, draft_ns=MS, target_ns=[MS // 100] * 3, with_spans=True)
    (said,) = shown(panel, moment_of(quick))
    assert said.startswith("in doubt · ")
    assert len(panel.chart.bars.bars) == 7
    assert not panel.doubt.isHidden()
    assert "A verification took" in panel.doubt.text()
    panel.show()
    panel.resize(320, 180)  # a card in which the sentence would leave the chart no room
    assert panel.doubt.text() == IN_A_LINE
    assert "A verification took" in panel.doubt.toolTip()
    assert panel.chart.height() >= panel.chart.minimumHeight()
    panel.resize(120, 180)
    assert panel.doubt.text().startswith("⚠ In doubt")
    assert panel.doubt.text().endswith("…")
    panel.resize(320, 400)
    assert "A verification took" in panel.doubt.text()
    assert panel.doubt.toolTip() == ""
    shown(panel, moment_of(quick, baseline=snapshot_of(plain())))
    assert panel.doubt.isHidden()


def test_each_silence_has_its_reason() -> None:
    def reason(moment: object) -> str:
        digest = WaterfallPanel.digest(moment, EVERYTHING)  # type: ignore[arg-type]
        assert isinstance(digest, Empty)
        return digest.reason

    assert WaterfallPanel.digest(moment_of([]), EVERYTHING) is None
    assert "Nothing was drafted" in reason(moment_of(plain()))
    assert "without measurements" in reason(moment_of(drafted([1], 2)))
    assert "was not measured" in reason(moment_of(drafted([1], 2, with_spans=True)))
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    script.say(
        CalibrationMeasured(
            context_length=0, draft_forward_ns=MS, target_widths=(1,), target_forward_ns=(MS,)
        )
    )
    script.step(0, drafted=2, accepted=1, more=True)
    script.step(1, drafted=2, accepted=1)
    assert "decoded together" in reason(moment_of(script.events))
