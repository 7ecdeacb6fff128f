"""Which sessions are open and shown; runs that end, crash, are stopped; sessions side by side."""

from pathlib import Path

import msgspec
from pytestqt.qtbot import QtBot

from engine.wire.commands import Pause
from engine.wire.config import RunConfig
from engine.wire.events import EndReason, EngineState
from sessions.playhead import Mode
from tests.support.event_script import EventScript
from tests.support.scripted_sessions import ScriptedEngine, ScriptedWorkshop, script_of
from tests.ui.controlled_run import ORDER, heard, running
from ui.session_controller import SessionController
from ui.side_by_side import MAX_SIDE_BY_SIDE


def test_nothing_is_shown_at_first(controller: SessionController) -> None:
    assert controller.moment() is None
    assert not controller.advance(1.0)


def test_a_stored_session_is_taken_in_and_shown(controller: SessionController) -> None:
    assert controller.open([Path("example.specscope")])
    heard(controller)
    moment = controller.moment()
    assert moment is not None
    assert len(moment.snapshot.steps) == 6
    assert not moment.is_live


def test_a_session_that_cannot_be_opened_is_told_and_what_was_open_stays(
    controller: SessionController,
) -> None:
    told: list[str] = []
    controller.problem_told.connect(told.append)
    controller.open([Path("example.specscope")])
    shown = controller.shown
    assert not controller.open([Path("example.specscope"), Path("missing.specscope")])
    assert controller.shown is shown
    assert "missing" in told[0]


def test_a_run_is_shown_as_it_speaks(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    engine = running(controller, workshop)
    assert controller.live is controller.shown
    engine.say(20)
    heard(controller)
    moment = controller.moment()
    assert moment is not None
    assert moment.is_live
    n_steps = len(moment.snapshot.steps)
    engine.say()
    heard(controller)
    newest = controller.moment()
    assert newest is not None
    assert len(newest.snapshot.steps) > n_steps
    assert controller.live is None
    assert not controller.is_running


def test_until_something_is_heard_the_engine_is_starting(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    workshop.engines.append(ScriptedEngine([script_of()]))
    controller.run(ORDER)
    assert controller.is_starting
    controller.advance(1.0)
    assert not controller.is_starting
    assert controller.engine_state()[0] is EngineState.LOADING


def test_an_engine_that_does_not_start_says_why(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    told: list[str] = []
    controller.problem_told.connect(told.append)
    workshop.engines.append(ScriptedEngine([], problem="It ended with exit code 3."))
    controller.run(ORDER)
    controller.advance(1.0)
    assert told == ["It ended with exit code 3."]
    assert not controller.is_running


def test_a_killed_engine_is_told_with_its_last_words_and_the_session_stays(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    told: list[str] = []
    controller.problem_told.connect(told.append)
    engine = running(controller, workshop)
    engine.say(30)
    heard(controller)
    engine.die("was ended by SIGKILL")
    heard(controller)
    assert "was ended by SIGKILL" in told[0]
    assert controller.shown is not None
    assert len(controller.shown.newest().steps) > 0
    assert not controller.is_running


def test_stopping_ends_the_session_as_stopped(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    told: list[str] = []
    controller.problem_told.connect(told.append)
    engine = running(controller, workshop)
    engine.say(30)
    heard(controller)
    controller.stop()
    heard(controller)
    assert controller.shown is not None
    assert len(controller.shown.newest().ends) == 1
    assert told == []
    assert engine.is_hung_up


def test_closing_in_the_middle_keeps_what_was_said_and_ends_the_engine(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    engine = running(controller, workshop)
    engine.say(30)
    heard(controller)
    controller.close()
    assert engine.is_closed
    assert controller.sessions == ()


def test_commands_go_to_the_live_session_alone(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    controller.send(Pause())
    engine = running(controller, workshop)
    controller.send(Pause())
    assert engine.sent == [Pause()]


def baseline_script() -> EventScript:
    script = script_of()
    first = script.events[0]
    config = msgspec.json.encode(RunConfig(draft="none")).decode()
    script.events[0] = msgspec.structs.replace(first, config_json=config)  # type: ignore[type-var]
    return script


def test_several_drafts_come_one_after_the_other_and_stand_side_by_side(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    engine = running(controller, workshop, script_of(), baseline_script())
    engine.say()
    heard(controller)
    engine.say()
    heard(controller)
    assert len(controller.sessions) == 2
    moment = controller.moment()
    assert moment is not None
    assert [each.name for each in moment.others] == ["session 2", "session 1"]
    assert moment.baseline is controller.sessions[1].newest()
    assert controller.shown is controller.sessions[0]


def test_sessions_side_by_side_play_in_step(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    workshop.scripts["longer"] = script_of(20)
    controller.open([Path("example.specscope"), Path("longer.specscope")])
    heard(controller)
    shown = controller.shown
    assert shown is not None
    shown.playhead.scrub(shown.begin_ns + 40_000_000)
    moment = controller.moment()
    assert moment is not None
    times = [each.snapshot.t_ns for each in moment.others]
    starts = [int(each.snapshot.sequences["t_ns"][0]) for each in moment.others]
    assert [t - begin for t, begin in zip(times, starts, strict=True)] == [40_000_000] * 2


def test_a_stored_session_leaves_a_run_at_work(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    engine = running(controller, workshop)
    engine.say(10)
    heard(controller)
    controller.open([Path("example.specscope")])
    assert controller.live is not None
    assert controller.shown is not controller.live
    engine.say()
    heard(controller)
    assert len(controller.sessions) == 2


def test_a_new_run_takes_the_place_of_what_was_open(
    qtbot: QtBot, controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    controller.open([Path("example.specscope")])
    engine = running(controller, workshop)
    engine.say(5)
    second = running(controller, workshop)
    qtbot.waitUntil(lambda: engine.is_closed)
    assert not second.is_closed
    assert len(controller.sessions) == 1


def test_a_following_playhead_keeps_to_the_newest(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    engine = running(controller, workshop)
    for _ in range(4):
        engine.say(8)
        controller.advance(10.0)
        shown = controller.shown
        assert shown is not None
        assert shown.playhead.mode is Mode.FOLLOWING
        assert shown.playhead.t_ns == shown.end_ns


def test_closing_one_session_shows_another(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    workshop.scripts["other"] = script_of(2)
    controller.open([Path("example.specscope"), Path("other.specscope")])
    first, second = controller.sessions
    controller.close_session(first)
    assert controller.shown is second
    controller.close_session(second)
    assert controller.shown is None


def test_an_end_that_failed_is_told(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    told: list[str] = []
    controller.problem_told.connect(told.append)
    script = script_of(2, is_finished=False)
    script.finish(reason=EndReason.FAILED)
    engine = running(controller, workshop, script)
    engine.say()
    heard(controller)
    assert len(told) == 1


def test_an_order_that_is_refused_leaves_the_run_at_work(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    told: list[str] = []
    controller.problem_told.connect(told.append)
    engine = running(controller, workshop)
    workshop.refusal = "The library cannot be made."
    controller.run(ORDER)
    assert told == ["The library cannot be made."]
    assert controller.is_running
    assert controller.live is controller.shown
    assert not engine.is_hung_up


def test_the_shown_session_is_in_its_own_comparison(
    controller: SessionController, workshop: ScriptedWorkshop
) -> None:
    engine = running_beside(controller, workshop)
    engine.say()
    heard(controller)
    shown = controller.sessions[-1]
    controller.show(shown)
    assert controller.sessions.index(shown) == MAX_SIDE_BY_SIDE
    moment = controller.moment()
    assert moment is not None
    assert len(moment.others) == MAX_SIDE_BY_SIDE
    assert shown.newest() in [each.snapshot for each in moment.others]


def running_beside(controller: SessionController, workshop: ScriptedWorkshop) -> ScriptedEngine:
    """A run, and then as many stored sessions as stand side by side."""
    engine = running(controller, workshop)
    controller.open([Path("example.specscope")] * MAX_SIDE_BY_SIDE)
    return engine


def test_more_sessions_than_stand_side_by_side_are_told(controller: SessionController) -> None:
    told: list[str] = []
    controller.problem_told.connect(told.append)
    controller.open([Path("example.specscope")] * (MAX_SIDE_BY_SIDE + 1))
    assert len(controller.sessions) == MAX_SIDE_BY_SIDE
    assert len(told) == 1
    assert "5 sessions" in told[0]
