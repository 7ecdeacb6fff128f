"""A step selected elsewhere is brought into the timeline's sight."""

from engine.wire.events import EngineState
from sessions.playhead import step_ends
from tests.support.event_script import TICK_NS
from tests.support.scripted_sessions import script_of, session_of
from ui.step.in_sight import STEPS_BESIDE, window_up_to, window_with

SNAPSHOT = session_of(script_of(40)).snapshot()
ENDS = step_ends(SNAPSHOT)


def test_an_early_step_is_shown_with_those_beside_it() -> None:
    window = window_with(SNAPSHOT, 15, None)
    assert window == (ENDS[15 - STEPS_BESIDE], ENDS[15 + STEPS_BESIDE])


def test_one_of_the_newest_is_in_sight_already() -> None:
    assert window_with(SNAPSHOT, 38, None) is None


def test_a_chosen_window_keeps_its_width() -> None:
    width = int(ENDS[3] - ENDS[0])
    window = window_with(SNAPSHOT, 30, (int(ENDS[0]), int(ENDS[3])))
    assert window is not None
    low, high = window
    assert low < ENDS[30] < high
    assert abs((high - low) - width) <= 1
    assert window_with(SNAPSHOT, 2, (int(ENDS[0]), int(ENDS[3]))) is None


def test_a_step_that_is_none_moves_nothing() -> None:
    assert window_with(SNAPSHOT, 999, None) is None


def test_a_rest_beside_a_step_is_left_out() -> None:
    script = script_of(20, is_finished=False)
    for _ in range(400):
        script.state(EngineState.PAUSED)
    script.state(EngineState.RUNNING)
    for _ in range(4):
        script.step(drafted=4, accepted=1)
    snapshot = session_of(script).snapshot()
    ends = step_ends(snapshot)
    window = window_with(snapshot, 18, None)  # of the newest, and before the rest
    assert window is not None
    assert window[0] < ends[18] < window[1] < ends[20] - 300 * TICK_NS
    assert window_with(snapshot, 21, None) is None


def test_a_chosen_window_follows_the_playhead_out_of_it() -> None:
    assert window_up_to(500, None) is None
    assert window_up_to(500, (400, 600)) is None
    assert window_up_to(2000, (400, 600)) == (1808, 2008)
    assert window_up_to(100, (400, 600)) == (-92, 108)
