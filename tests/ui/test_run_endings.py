"""Runs that are stopped or closed at any moment, and what is waited for then."""

import threading
import time
from pathlib import Path

from pytestqt.qtbot import QtBot

from sessions.recorder_status import RecorderProgress
from tests.support.scripted_sessions import ScriptedEngine, ScriptedWorkshop, script_of
from tests.ui.controlled_run import ORDER, heard, running
from ui.run_order import RunOrder
from ui.session_controller import SessionController


def test_stopping_before_the_engine_is_up_ends_the_run(
    qtbot: QtBot, controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    changes: list[bool] = []
    controller.sessions_changed.connect(lambda: changes.append(controller.is_running))
    engine = ScriptedEngine([script_of()], is_up=False)
    workshop.engines.append(engine)
    controller.run(ORDER)
    heard(controller)
    assert controller.is_starting
    controller.stop()
    heard(controller)
    assert not controller.is_running
    assert changes[-1] is False
    qtbot.waitUntil(lambda: engine.is_closed)


def test_stopping_between_two_sessions_ends_the_run(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    engine = running(controller, workshop, script_of(), script_of())
    engine.is_up = False  # the second has not come yet
    engine.say()
    heard(controller)
    assert controller.is_starting
    controller.stop()
    heard(controller)
    assert not controller.is_running
    assert controller.shown is controller.sessions[0]


def test_running_again_and_closing_do_not_wait_for_an_engine(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    for is_up in (False, True):
        engine = ScriptedEngine([script_of()], is_up=is_up)
        engine.may_close.clear()
        workshop.engines.append(engine)
        timer = threading.Timer(5.0, engine.may_close.set)
        timer.start()
        controller.run(ORDER)
        controller.advance(1.0)
        begun = time.monotonic()
        running(controller, workshop)
        assert time.monotonic() - begun < 1.0
        assert not engine.is_closed
        timer.cancel()
        engine.may_close.set()


def test_the_live_session_is_closed_without_waiting_and_heard_to_its_end(
    qtbot: QtBot, controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    engine = running(controller, workshop)
    engine.say(10)
    heard(controller)
    session = controller.live
    assert session is not None
    controller.close_session(session)
    assert not controller.is_running
    assert controller.sessions == ()
    qtbot.waitUntil(lambda: engine.is_closed and len(session.newest().ends) == 1)


def test_the_window_closes_within_two_seconds_of_an_engine_that_hangs(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    engine = running(controller, workshop)
    engine.may_close.clear()
    timer = threading.Timer(6.0, engine.may_close.set)
    timer.start()
    begun = time.monotonic()
    controller.close()
    assert 1.0 < time.monotonic() - begun < 4.0
    timer.cancel()
    engine.may_close.set()


def test_the_window_waits_for_a_report_of_nsight_systems(
    controller: SessionController, workshop: ScriptedWorkshop, tmp_path: Path
) -> None:
    engine = ScriptedEngine([script_of()])
    engine.may_close.clear()
    workshop.engines.append(engine)
    controller.run(profiled(tmp_path))
    controller.advance(1.0)
    threading.Timer(2.5, engine.may_close.set).start()
    controller.close()
    assert engine.is_closed


def profiled(folder: Path) -> RunOrder:
    return RunOrder(
        configs=ORDER.configs,
        prompts=ORDER.prompts,
        is_recorded=False,
        nsys_report=folder / "a.nsys-rep",
    )


def test_a_recording_that_fails_at_its_end_is_told(
    qtbot: QtBot, controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    told: list[str] = []
    controller.problem_told.connect(told.append)
    engine = running(controller, workshop)
    session = controller.live
    assert session is not None
    progress = RecorderProgress(Path("a.specscope"))
    progress.give_up("The disk is full.")
    engine.say()
    engine.recording = progress.status()
    heard(controller)
    qtbot.waitUntil(lambda: controller.advance(1.0) and bool(told))
    assert "The disk is full." in told[0]
    assert session.recording is not None
    assert session.recording.error
