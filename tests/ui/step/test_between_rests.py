"""Work without the engine's rests."""

import numpy as np

from engine.wire.events import EngineState
from sessions.metrics.step_times import usual_step_ns
from sessions.snapshot import Snapshot
from tests.support.event_script import TICK_NS
from tests.support.scripted_sessions import script_of, session_of
from ui.step.between_rests import (
    behind_rests,
    last_worked,
    long_rests,
    usual_work_ns,
    without_rests,
)

NONE = np.zeros(0, np.int64)
RESTS = np.array([100, 500]), np.array([300, 900])


def rested(n_ticks: int) -> Snapshot:
    """Twelve steps, a rest before each of the last six."""
    script = script_of(6, is_finished=False)
    for _ in range(6):
        for _ in range(n_ticks):  # told again and again: one rest
            script.state(EngineState.PAUSED)
        script.state(EngineState.RUNNING)
        script.step(drafted=4, accepted=2)
    return session_of(script).snapshot()


def test_long_rests_are_told_once_and_short_ones_not_at_all() -> None:
    starts, ends = long_rests(rested(400))
    assert len(starts) == 6
    assert (ends - starts == 400 * TICK_NS).all()
    assert len(long_rests(rested(3))[0]) == 0
    assert len(long_rests(session_of(script_of(3)).snapshot())[0]) == 0


def test_a_usual_step_has_no_rest_in_it() -> None:
    snapshot = rested(400)
    usual = usual_work_ns(snapshot)
    assert usual is not None
    assert usual < 30 * TICK_NS
    steady = session_of(script_of(6)).snapshot()
    assert usual_work_ns(steady) == usual_step_ns(steady)
    one = session_of(script_of(1)).snapshot()
    assert usual_work_ns(one) == int(one.steps["step_ns"][0])
    assert usual_work_ns(session_of(script_of(0)).snapshot()) is None


def test_the_newest_spell_of_work() -> None:
    assert last_worked((NONE, NONE), 50) == (None, 50)
    assert last_worked(RESTS, 50) == (None, 50)
    assert last_worked(RESTS, 200) == (None, 100)  # in the first rest
    assert last_worked(RESTS, 400) == (300, 400)
    assert last_worked(RESTS, 900) == (300, 500)
    assert last_worked(RESTS, 1000) == (900, 1000)


def test_a_step_with_rests_in_it_begins_behind_the_last() -> None:
    starts, ends = np.array([10, 60, 320, 90]), np.array([50, 400, 400, 1000])
    assert behind_rests(RESTS, starts, ends).tolist() == [10, 300, 320, 900]
    assert behind_rests((NONE, NONE), starts, ends) is starts


def test_a_window_keeps_what_lies_between_two_rests() -> None:
    assert without_rests((NONE, NONE), (0, 1000), 400) == (0, 1000)
    assert without_rests(RESTS, (0, 1000), 400) == (292, 508)
    assert without_rests(RESTS, (350, 450), 400) == (350, 450)
    assert without_rests(RESTS, (0, 1000), 50) == (0, 104)
