"""The transport bar: every way to a moment."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from sessions.playhead import Mode
from tests.support.scripted_sessions import ScriptedWorkshop
from ui.bars.transport_bar import TransportBar, clock_time, grouped, grouped_ms
from ui.look import Look
from ui.moment import TokenRef
from ui.open_session import OpenSession
from ui.session_controller import SessionController
from ui.view_state import ViewState


class Bar:
    """A bar over the example session: six steps of 0, 1, 2, 3, 4 and 0 accepted of four."""

    def __init__(self, qtbot: QtBot) -> None:
        self.ns = 0
        self.controller = SessionController(ScriptedWorkshop(), clock=lambda: self.ns)
        self.state = ViewState()
        self.bar = TransportBar(self.controller, self.state, Look("dark"))
        qtbot.addWidget(self.bar)
        self.said: list[str] = []
        self.bar.said.connect(self.said.append)
        self.controller.open([Path("example.specscope")])
        self.tick()
        self.tick()

    def tick(self, ns: int = 0) -> None:
        self.ns += ns
        self.controller.advance(10.0)
        self.bar.show_moment(self.controller.moment())

    @property
    def session(self) -> OpenSession:
        assert self.controller.shown is not None
        return self.controller.shown

    @property
    def n_steps(self) -> int:
        moment = self.controller.moment()
        assert moment is not None
        return len(moment.snapshot.steps)


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[Bar]:
    bar = Bar(qtbot)
    yield bar
    bar.controller.close()


def test_step_by_step_through_the_session(bar: Bar) -> None:
    bar.bar.go_first()
    assert bar.n_steps == 0
    seen = []
    for _ in range(6):
        bar.bar.step_forward()
        seen.append(bar.n_steps)
    assert seen == [1, 2, 3, 4, 5, 6]
    bar.bar.step_forward()
    assert bar.said == ["There is no step after this."]
    bar.bar.step_back()
    assert bar.n_steps == 5


def test_half_a_step_shows_a_draft_that_waits_for_its_verdict(bar: Bar) -> None:
    bar.bar.go_first()
    bar.bar.half_step()
    moment = bar.controller.moment()
    assert moment is not None
    assert len(moment.snapshot.drafts) == 1
    assert len(moment.snapshot.verdicts) == 0


def test_to_the_next_rejection(bar: Bar) -> None:
    bar.bar.go_first()
    places = []
    for _ in range(5):
        bar.bar.to_rejection()
        places.append(bar.n_steps)
    assert places == sorted(places)
    assert 5 not in places[1:]  # step 4 (the fifth) accepted its whole draft
    bar.bar.to_rejection()
    assert bar.said == ["No rejection after this moment."]


def test_playing_passes_session_time_at_the_speed_chosen(bar: Bar) -> None:
    bar.bar.go_first()
    begin = bar.session.playhead.t_ns
    bar.bar.speed.setCurrentIndex(bar.bar.speed.findData(0.5))
    bar.bar.toggle_play()
    bar.tick()
    bar.tick(20_000_000)
    assert bar.session.playhead.t_ns == begin + 10_000_000
    bar.bar.change_speed(1)
    bar.tick(10_000_000)
    assert bar.session.playhead.t_ns == begin + 20_000_000
    bar.bar.toggle_play()
    assert bar.session.playhead.mode is Mode.PAUSED


def test_playing_from_the_end_begins_anew(bar: Bar) -> None:
    bar.bar.go_last()
    bar.tick()
    bar.bar.toggle_play()
    assert bar.session.playhead.t_ns == bar.session.begin_ns


def test_one_press_holds_a_live_picture(bar: Bar) -> None:
    bar.session.is_live = True
    bar.bar.go_last()
    bar.tick()
    bar.bar.toggle_play()
    assert bar.session.playhead.mode is Mode.PAUSED
    assert bar.session.playhead.t_ns == bar.session.end_ns
    bar.bar.toggle_play()
    assert bar.session.playhead.mode is Mode.PLAYING


def test_follow_keeps_to_the_end(bar: Bar) -> None:
    bar.bar.go_first()
    bar.bar.toggle_follow()
    bar.tick()
    assert bar.session.playhead.t_ns == bar.session.end_ns
    assert bar.bar.follow.isChecked()
    bar.bar.toggle_follow()
    assert bar.session.playhead.mode is Mode.PAUSED


def test_scrubbing_goes_to_a_share_of_the_session(bar: Bar) -> None:
    bar.bar.slider.setValue(bar.bar.slider.maximum() // 2)
    middle = (bar.session.begin_ns + bar.session.end_ns) / 2
    assert bar.session.playhead.t_ns == pytest.approx(middle, abs=2)
    assert bar.session.playhead.mode is Mode.PAUSED


def test_bookmarks_are_set_found_and_lifted(bar: Bar) -> None:
    bar.bar.go_first()
    bar.bar.step_forward()
    mark = bar.session.playhead.t_ns
    bar.bar.bookmark()
    bar.bar.step_forward()
    bar.bar.to_bookmark(-1)
    assert bar.session.playhead.t_ns == mark
    bar.tick()
    assert len(bar.bar.slider.marks) == 1
    bar.bar.bookmark()
    assert bar.session.bookmarks == []
    bar.bar.to_bookmark()
    assert bar.said[-1] == "No bookmark there: B sets one."


def test_to_the_worst_step(bar: Bar) -> None:
    bar.bar.go_first()
    bar.bar.to_worst()
    moment = bar.controller.moment()
    assert moment is not None
    steps = moment.snapshot.steps
    newest = bar.session.newest().steps
    cost = newest["step_ns"] / newest["n_committed"]
    worst = int(newest["step"][cost.argmax()])
    assert int(steps["step"][-1]) == worst
    took_ms = newest["step_ns"][worst] / 1e6
    assert bar.said == [f"Step {worst}: {took_ms:.1f} ms for 1 token, the most per token."]


def test_the_numbers_follow(bar: Bar) -> None:
    bar.bar.go_first()
    bar.bar.step_forward()
    bar.tick()
    assert bar.bar.step_chip.text() == "step 0 (6 steps)"
    bar.bar.half_step()  # the next is drafted and waits, as the Step card has it
    bar.tick()
    assert bar.bar.step_chip.text() == "step 1 (6 steps)"


def test_a_zoomed_timeline_is_taken_along_by_every_jump(bar: Bar) -> None:
    act = bar.bar
    act.go_last()
    bar.tick()
    act.bookmark()
    end = bar.session.end_ns
    jumps = (
        act.go_first, act.to_rejection, act.go_first, act.to_worst, act.go_first, act.step_forward,
        act.half_step, act.to_bookmark, act.go_first, act.go_last,
        lambda: act.slider.setValue(act.slider.maximum() // 2),
    )  # fmt: skip
    for jump in jumps:
        here = bar.session.playhead.t_ns
        bar.state.look_at((here - 200, here + 200))
        jump()
        bar.tick()
        window = bar.state.now.window_ns
        assert window is not None
        assert window[1] - window[0] == 400
        assert bar.session.playhead.t_ns != here
        assert window[0] <= bar.session.playhead.t_ns <= window[1]
    assert bar.session.playhead.t_ns < end
    bar.state.look_at(None)
    act.go_first()
    assert bar.state.now.window_ns is None


def test_a_token_is_looked_at_where_one_is_and_gone_to_when_asked(bar: Bar) -> None:
    token = TokenRef(sequence_id=0, step=2, draft_index=1)
    for is_live in (False, True):
        bar.session.is_live = is_live
        bar.bar.go_last()
        bar.tick()
        n_steps = bar.n_steps
        bar.state.select_token(token)
        assert bar.n_steps == n_steps > 3
        bar.state.go_to_token(token)
        bar.tick()
        assert bar.n_steps == 3
        assert bar.state.now.token == token
        assert bar.bar.step_chip.text().startswith("step 2 ")
    bar.state.go_to_token(TokenRef(sequence_id=0, step=99))
    assert bar.n_steps == 3


def test_without_a_session_the_bar_is_out_of_use(qtbot: QtBot) -> None:
    controller = SessionController(ScriptedWorkshop())
    bar = TransportBar(controller, ViewState(), Look("dark"))
    qtbot.addWidget(bar)
    for act in (bar.toggle_play, bar.toggle_follow, bar.go_first, bar.go_last, bar.step_forward,
                bar.half_step, bar.to_rejection, bar.to_worst, bar.bookmark,
                bar.to_bookmark):  # fmt: skip
        act()
    assert not bar.isEnabled()


def test_numbers_in_words() -> None:
    assert grouped(1204) == "1\u202f204"
    assert grouped_ms(1_203_440_000) == "1\u202f203.4 ms"
    assert clock_time(83_456_000_000) == "1:23.46"
    assert clock_time(59_999_000_000) == "1:00.00"
