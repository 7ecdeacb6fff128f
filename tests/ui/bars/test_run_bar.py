"""The run bar: what is in force, the engine's buttons, changes while it runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from engine.wire.commands import Pause, Resume, SetGamma, SetSampling, StepOnce
from engine.wire.config import RunConfig
from engine.wire.events import EngineState, SettingsChanged
from sessions.opening import open_session
from sessions.recorder import Recorder
from sessions.synthetic import synthetic_events
from tests.sessions.scripted import with_settings
from tests.support.event_script import EventScript
from tests.support.scripted_sessions import ScriptedEngine, ScriptedWorkshop
from ui.bars.run_bar import RunBar
from ui.look import Look
from ui.open_session import OpenSession
from ui.run_order import OrderedPrompt, RunOrder
from ui.session_controller import SessionController
from ui.workshop import Started

ORDER = RunOrder(configs=(RunConfig(),), prompts=(OrderedPrompt("a"),), is_recorded=False)


class Bar:
    def __init__(self, qtbot: QtBot) -> None:
        self.workshop = ScriptedWorkshop()
        self.controller = SessionController(self.workshop)
        self.bar = RunBar(self.controller, Look("dark"))
        qtbot.addWidget(self.bar)
        self.script = EventScript()
        self.engine: ScriptedEngine | None = None

    def run(self, n_events: int | None = None) -> None:
        self.engine = ScriptedEngine([self.script])
        self.workshop.engines.append(self.engine)
        self.controller.run(ORDER)
        self.tick()
        self.engine.say(n_events)
        self.tick()

    def tick(self) -> None:
        self.controller.advance(10.0)
        self.bar.show_moment(self.controller.moment())

    @property
    def sent(self) -> list[object]:
        assert self.engine is not None
        return list(self.engine.sent)


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[Bar]:
    bar = Bar(qtbot)
    yield bar
    bar.controller.close()


def test_at_first_there_is_run_alone(bar: Bar) -> None:
    asked: list[int] = []
    bar.bar.run_wanted.connect(lambda: asked.append(1))
    assert bar.bar.pause_button.isHidden()
    bar.bar.run_button.click()
    assert asked == [1]


def test_a_running_engine_can_be_paused_stepped_and_stopped(bar: Bar) -> None:
    bar.run()
    assert bar.bar.run_button.text() == "Stop"
    assert not bar.bar.step_button.isEnabled()
    bar.bar.pause_button.click()
    assert bar.sent == [Pause()]


def test_a_paused_engine_steps_and_goes_on(bar: Bar) -> None:
    bar.script.state(EngineState.PAUSED)
    bar.run()
    assert bar.bar.pause_button.text() == "Resume engine"
    bar.bar.step_button.click()
    bar.bar.pause_button.click()
    assert bar.sent == [StepOnce(), Resume()]


def test_stop_asks_the_engine_to_end(bar: Bar) -> None:
    bar.run()
    bar.bar.run_button.click()
    assert bar.engine is not None
    assert bar.engine.is_hung_up


def test_loading_shows_progress_and_can_be_cancelled(bar: Bar) -> None:
    bar.script.state(EngineState.LOADING, detail="loading the target")
    bar.run()
    assert bar.bar.run_button.text() == "Cancel"
    assert not bar.bar.progress.isHidden()
    assert bar.bar.state.text() == "loading the target"
    assert bar.bar.state.toolTip() == "The engine is process 1."


def test_changed_settings_are_shown_and_sent(bar: Bar) -> None:
    bar.script.say(SettingsChanged(gamma="7", temperature=0.5, top_k=9, top_p=0.8))
    bar.run()
    bar.bar._fill_boxes()
    assert bar.bar.gamma_box.value() == 7
    assert bar.bar.top_k_box.value() == 9
    bar.bar.gamma_box.setValue(-1)
    bar.bar._send_gamma()
    bar.bar.temperature_box.setValue(0.9)
    bar.bar._send_sampling()
    assert bar.sent == [
        SetGamma(gamma="auto"),
        SetSampling(temperature=0.9, top_k=9, top_p=0.8),
    ]


def test_enter_sends_what_was_typed_over_the_number(bar: Bar) -> None:
    bar.script.state(EngineState.PAUSED)
    bar.run()
    bar.bar.show()
    menu = bar.bar.gamma.menu()
    menu.popup(QPoint())
    assert bar.bar.gamma_box.hasFocus()
    assert bar.bar.gamma_box.lineEdit().selectedText() == bar.bar.gamma_box.text()
    QTest.keyClicks(QApplication.focusWidget(), "7\r")
    assert not menu.isVisible()
    assert bar.sent == [SetGamma(gamma=7)]
    menu = bar.bar.sampling.menu()
    menu.popup(QPoint())
    assert bar.bar.temperature_box.hasFocus()
    QTest.keyClicks(QApplication.focusWidget(), "0.5\r")
    assert not menu.isVisible()
    assert bar.sent[1:] == [SetSampling(temperature=0.5)]


def test_escape_closes_and_sends_nothing(bar: Bar) -> None:
    bar.script.state(EngineState.PAUSED)
    bar.run()
    bar.bar.show()
    for chip in (bar.bar.gamma, bar.bar.sampling):
        chip.menu().popup(QPoint())
        QTest.keyClicks(QApplication.focusWidget(), "7")
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
        assert not chip.menu().isVisible()
    assert bar.sent == []


def test_a_gamma_that_is_too_large_is_said_and_not_sent(bar: Bar) -> None:
    bar.script.state(EngineState.PAUSED)
    bar.run()
    bar.bar.show()
    menu = bar.bar.gamma.menu()
    menu.popup(QPoint())
    QTest.keyClicks(bar.bar.gamma_box, "99\r")
    assert "99 is too large: 0 to 32, or auto." in [
        label.text() for label in menu.findChildren(QLabel) if label.isVisible()
    ]
    assert menu.isVisible()
    QTest.keyClicks(bar.bar.gamma_box, "9\r")
    assert bar.sent == [SetGamma(gamma=9)]


def test_what_was_sent_is_shown_until_it_is_in_force(bar: Bar) -> None:
    bar.script.say(SettingsChanged(gamma="4", temperature=0.0, top_k=0, top_p=1.0))
    n_events = len(bar.script.events)
    bar.script.say(SettingsChanged(gamma="7", temperature=0.0, top_k=0, top_p=1.0))
    bar.run(n_events)
    bar.bar.gamma_box.setValue(7)
    bar.bar._send_gamma()
    assert bar.bar.gamma.text() == "γ 4 → 7"  # noqa: RUF001
    bar.tick()
    assert bar.bar.gamma.text() == "γ 4 → 7"  # noqa: RUF001
    assert bar.engine is not None
    bar.engine.say()
    bar.tick()
    assert bar.bar.gamma.text() == "γ 7"  # noqa: RUF001


def test_a_run_that_is_not_recorded_says_so(bar: Bar) -> None:
    bar.run()
    assert bar.bar.recording.text() == "not recorded"


def test_a_long_recording_says_how_far_it_is(
    bar: Bar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    recorder = Recorder(tmp_path / "a.specscope")
    recorder.consume(list(synthetic_events(8000)))
    recorder.close()
    session = open_session(tmp_path / "a.specscope")
    bar.controller.take(OpenSession(Started("a", session, None)))
    bar.bar.show_moment(bar.controller.moment())
    assert bar.bar.state.text() == "reading the recording: 0%"
    while not session.is_over:
        bar.tick()
    bar.tick()
    assert bar.bar.state.text() == ""
    assert bar.bar.progress.isHidden()


def test_keys_of_the_engine_are_answered_when_there_is_none(bar: Bar) -> None:
    said: list[str] = []
    bar.bar.said.connect(said.append)
    bar.bar.toggle_engine()
    bar.bar.step_engine()
    bar.bar.record_kernels()
    assert ["Ctrl+R" in word or "F8" in word for word in said] == [True] * 3
    bar.run()
    bar.bar.step_engine()
    assert "Only a paused engine steps" in said[-1]
    assert bar.sent == []


def test_chips_are_left_out_rather_than_cut(bar: Bar) -> None:
    bar.script.events[:] = with_settings(bar.script.events, seed=1)
    bar.run()
    bar.bar.setMinimumWidth(1)  # as in a window, whose width is its own
    bar.bar.show()
    bar.bar.resize(2000, 40)
    assert all(chip.isVisible() for chip in bar.bar._spare)
    least = bar.bar.sizeHint().width()
    bar.bar.resize(least - 1, 40)
    assert not bar.bar.batch.isVisible()
    assert bar.bar.device.isVisible()
    assert bar.bar.sizeHint().width() <= bar.bar.width()
    bar.bar.resize(400, 40)
    assert not bar.bar.device.isVisible()
    assert bar.bar.target.isVisible()
