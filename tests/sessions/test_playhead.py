"""Which moment is shown, by a clock that is told."""

import numpy as np
import pytest

from engine.wire.events import DraftProposed, SpansMeasured, StepCommitted
from sessions.playhead import Mode, Playhead, resting_points, step_ends
from tests.sessions.played import snapshot_of
from tests.support.event_script import EventScript

BIG = 1_700_000_000_123_456_789


def test_it_follows_the_end_until_told_otherwise() -> None:
    playhead = Playhead()
    assert [playhead.advance(i, end) for i, end in enumerate((5, 9, 9, 40))] == [5, 9, 9, 40]
    playhead.pause()
    assert playhead.advance(9, 100) == 40
    playhead.follow()
    assert playhead.advance(10, 100) == 100


@pytest.mark.parametrize(("speed", "passed"), [(1.0, 1000), (0.5, 500), (4.0, 4000)])
def test_it_plays_at_a_speed(speed: float, passed: int) -> None:
    playhead = Playhead()
    playhead.scrub(BIG)
    playhead.play(speed=speed)
    assert playhead.advance(7_000_000, 2 * BIG) == BIG  # the first look starts the clock
    assert playhead.advance(7_001_000, 2 * BIG) == BIG + passed
    assert (playhead.mode, playhead.speed) == (Mode.PLAYING, speed)


def test_a_new_speed_does_not_move_it() -> None:
    playhead = Playhead()
    playhead.scrub(0)
    playhead.play()
    playhead.advance(0, 10**9)
    playhead.advance(1000, 10**9)
    playhead.play(speed=2.0)
    assert playhead.advance(1100, 10**9) == 1200


def test_time_that_passed_while_it_rested_is_not_played() -> None:
    playhead = Playhead()
    playhead.scrub(0)
    playhead.play()
    playhead.advance(0, 10**9)
    playhead.pause()
    playhead.advance(500, 10**9)
    playhead.play()
    assert playhead.advance(900, 10**9) == 0
    assert playhead.advance(950, 10**9) == 50


def test_at_the_end_it_waits_for_more() -> None:
    playhead = Playhead()
    playhead.scrub(90)
    playhead.play()
    playhead.advance(0, 100)
    assert playhead.advance(5000, 100) == 100
    assert playhead.advance(5010, 200) == 110
    assert playhead.mode is Mode.PLAYING


def test_it_stays_within_the_session() -> None:
    playhead = Playhead()
    playhead.scrub(-5)
    assert playhead.t_ns == 0
    playhead.scrub(10**6)
    assert playhead.advance(0, 100) == 100
    assert playhead.mode is Mode.PAUSED
    with pytest.raises(ValueError, match="speed"):
        playhead.play(speed=0.0)
    playhead.play()
    playhead.advance(100, 100)
    assert playhead.advance(50, 100) == 100  # a clock that goes back moves nothing


def test_steps_forward_and_back() -> None:
    moments = np.array([10, 20, 30])
    playhead = Playhead()
    playhead.scrub(15)
    assert playhead.step(moments)
    assert (playhead.t_ns, playhead.mode) == (20, Mode.PAUSED)
    assert playhead.step(moments, n=-1)
    assert playhead.t_ns == 10
    assert not playhead.step(moments, n=-1)
    assert playhead.step(moments, n=2)
    assert playhead.t_ns == 30
    assert not playhead.step(moments)
    assert not playhead.step(np.zeros(0, np.int64))
    assert not playhead.step(moments, n=0)
    assert playhead.t_ns == 30


def test_resting_points_are_after_the_draft_and_after_the_step() -> None:
    script = EventScript()
    for prompt in ("ab", "cd"):
        script.sequence(prompt)
    script.step(0, more=True)
    script.step(1)
    script.step(0)
    times = {
        kind: [event.t_ns for event in script.events if isinstance(event, kind)]
        for kind in (DraftProposed, StepCommitted, SpansMeasured)
    }
    snapshot = snapshot_of(script.events)
    assert step_ends(snapshot).tolist() == times[SpansMeasured]
    drafts = times[DraftProposed]
    assert resting_points(snapshot).tolist() == sorted([*drafts[1:], *times[SpansMeasured]])
    unmeasured = [event for event in script.events if not isinstance(event, SpansMeasured)]
    assert step_ends(snapshot_of(unmeasured)).tolist() == times[StepCommitted][1:]
    assert resting_points(snapshot_of([])).tolist() == []
