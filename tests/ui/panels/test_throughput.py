"""Speed over time: tokens per second and per step, pauses, the baseline, a click selects."""

import pytest

from engine.wire.events import EngineState
from tests.sessions.played import drafted, snapshot_of
from tests.support.event_script import EventScript
from tests.ui.panels.moments import EVERYTHING, in_both_themes, moment_of, plain, shown
from ui.look import Look
from ui.moment import View
from ui.panels.throughput import Throughput, ThroughputPanel
from ui.view_state import ViewState


def paused() -> EventScript:
    """Two sequences decoded together; a pause between two steps."""
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    script.step(0, drafted=4, accepted=4, more=True)
    script.step(1, drafted=4, accepted=0)
    script.state(EngineState.PAUSED)
    script.state(EngineState.RUNNING)
    script.step(0, drafted=4, accepted=2)
    return script


def digest_of(moment: object, view: View = EVERYTHING) -> Throughput:
    digest = ThroughputPanel.digest(moment, view)  # type: ignore[arg-type]
    assert isinstance(digest, Throughput)
    return digest


def test_sequences_decoded_together_count_together() -> None:
    moment = moment_of(paused().events)
    digest = digest_of(moment)
    ns = moment.snapshot.steps["step_ns"].tolist()
    assert digest.per_second == pytest.approx([6e9 / ns[1], 9e9 / (ns[1] + ns[2])])
    assert digest.per_step.tolist() == [6 / 2, 9 / 3]
    assert digest.step.tolist() == [0, 1]
    assert digest.mean_per_second == pytest.approx(digest.per_second[-1])


def test_pauses_and_the_one_that_lasts() -> None:
    script = paused()
    script.state(EngineState.PAUSED)
    script.step(1, drafted=0, accepted=0)
    moment = moment_of(script.events)
    states = moment.snapshot.states["t_ns"] / 1e9
    digest = digest_of(moment)
    assert digest.pauses_s[0] == pytest.approx([states[-3], states[-2]])
    assert digest.pauses_s[1] == pytest.approx([states[-1], moment.snapshot.t_ns / 1e9])


def test_one_sequence_and_the_baseline() -> None:
    baseline = snapshot_of(plain())
    moment = moment_of(paused().events, baseline=baseline)
    one = digest_of(moment, View(only_sequence_id=1, step=0))
    assert one.per_step.tolist() == [1.0]
    assert one.cursor_s == one.t_s[0]
    ns = int(baseline.steps["step_ns"].sum())
    assert one.baseline_per_second == pytest.approx(3e9 / ns)
    assert ThroughputPanel.digest(moment, View(only_sequence_id=9)) is None
    assert ThroughputPanel.digest(moment_of([]), EVERYTHING) is None


def test_what_is_on_the_screen(qtbot: object, look: Look, state: ViewState) -> None:
    panel = ThroughputPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    baseline = snapshot_of(plain())
    (note,) = shown(panel, moment_of(paused().events, baseline=baseline))
    digest = panel.digested
    assert note == (
        f"mean {digest.mean_per_second:.1f} tokens/s · 3.00 tokens/step"
        f" · ┄ baseline {digest.baseline_per_second:.1f}"
    )
    for _ in in_both_themes(panel, look):
        assert panel.speed.curves[0].getData()[1].tolist() == digest.per_second.tolist()
        assert panel.tokens.curves[0].getData()[1].tolist() == [3.0, 3.0]
        assert panel.speed.level.value() == digest.baseline_per_second
        assert len(panel.speed.shades.bars) == len(panel.tokens.shades.bars) == 1
    panel.tokens.clicked.emit(float(digest.t_s[1]), 1.0)
    assert state.now.step == 1
    assert "3.000 tokens/step" in panel._read(0.0, 0.0)
    shown(panel, moment_of(drafted([1], 2)))
    assert not panel.speed.level.isVisible()
