"""One engine at work; those before are ended on threads."""

import time

from engine.wire.config import RunConfig
from engine.wire.events import EndReason
from sessions.tables import END_CODES
from tests.support.scripted_sessions import ScriptedEngine, script_of
from ui.engine_desk import EngineDesk
from ui.open_session import OpenSession
from ui.run_order import OrderedPrompt, RunOrder

ORDER = RunOrder(configs=(RunConfig(),), prompts=(OrderedPrompt("a"),))


def at_work(desk: EngineDesk) -> tuple[ScriptedEngine, OpenSession]:
    """An engine that has said the first of its session."""
    engine = ScriptedEngine([script_of()])
    desk.begin(engine, ORDER)
    started = engine.next_session()
    assert started is not None
    engine.say(20)
    return engine, OpenSession(started, is_live=True)


def test_ending_hears_the_session_to_its_end_and_closes_the_engine() -> None:
    desk = EngineDesk()
    engine, live = at_work(desk)
    desk.end(live)
    assert desk.engine is None
    desk.close()
    assert engine.is_closed
    assert live.newest().ends["reason"].tolist() == [END_CODES[EndReason.STOPPED]]


def test_an_engine_that_ended_by_itself_is_let_go() -> None:
    desk = EngineDesk()
    engine, _ = at_work(desk)
    desk.let_go()
    desk.close()
    assert engine.is_closed
    assert not engine.is_hung_up


def test_a_session_is_finished_while_its_engine_goes_on() -> None:
    desk = EngineDesk()
    engine, live = at_work(desk)
    engine.say()
    while not live.session.is_over:
        live.session.advance(10.0)
    desk.finish(live)
    deadline = time.monotonic() + 10.0
    while live.session.takes_commands and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not live.session.takes_commands  # closed
    assert desk.engine is engine
    assert not engine.is_closed
    assert desk.news() == []
    desk.end(None)
    desk.close()


def test_without_an_engine_nothing_happens() -> None:
    desk = EngineDesk()
    desk.end(None)
    desk.let_go()
    desk.close()
    assert desk.news() == []
