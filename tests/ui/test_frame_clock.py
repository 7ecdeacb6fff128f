"""The clock: what is drawn when, and what one panel's error does to the others."""

import time
from collections.abc import Sequence
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from sessions.session import Session
from tests.support.event_script import EventScript
from tests.support.scripted_sessions import script_of, session_of
from ui.frame_clock import FrameClock
from ui.look import Look
from ui.moment import Moment, View
from ui.panels.base import Panel
from ui.view_state import ViewState


class Steps(Panel):
    key, title, reads = "steps-seen", "Steps", ("steps",)

    def build(self) -> None:
        self.drawn: list[Any] = []

    @staticmethod
    def digest(moment: Moment, view: View) -> Any:
        return len(moment.snapshot.steps)

    def draw(self, digest: Any) -> None:
        self.drawn.append(digest)


class Slow(Steps):
    key, frames_per_draw = "slow-text", 6


class Broken(Steps):
    key = "broken"

    @staticmethod
    def digest(moment: Moment, view: View) -> Any:
        raise ValueError("a fault of the panel")


class Undrawable(Steps):
    key = "undrawable"

    def draw(self, digest: Any) -> None:
        raise ValueError("a fault of the panel")


class Scene:
    """Panels over a session that is taken in by hand."""

    def __init__(self, *panels: Panel) -> None:
        self.script = EventScript()
        self.script.sequence()
        self.session: Session | None = None
        self.baseline: Session | None = None
        self.panels: Sequence[Panel] = panels
        self.is_live = False
        self.n_painted = 0

    def show(self) -> None:
        self.session = session_of(self.script)

    def advance(self, budget_ms: float) -> bool:
        return self.session is not None

    def moment(self) -> Moment | None:
        if self.session is None:
            return None
        snapshot = self.session.snapshot()
        baseline = self.baseline.snapshot() if self.baseline is not None else None
        return Moment(snapshot=snapshot, newest=snapshot, baseline=baseline, is_live=self.is_live)

    def visible_panels(self) -> Sequence[Panel]:
        return self.panels

    def paint(self) -> None:
        self.n_painted += 1


@pytest.fixture
def parts(qtbot: QtBot) -> tuple[ViewState, Look]:
    return ViewState(), Look("dark")


def clock_of(scene: Scene, state: ViewState) -> FrameClock:
    clock = FrameClock(scene, state)
    return clock


def test_a_panel_is_drawn_when_its_tables_have_grown(parts: tuple[ViewState, Look]) -> None:
    state, look = parts
    panel = Steps(state, look)
    scene = Scene(panel)
    clock = clock_of(scene, state)
    scene.script.step()
    scene.show()
    clock.tick()
    clock.tick()
    assert panel.drawn == [1]
    scene.script.step()
    scene.show()
    clock.tick()
    assert panel.drawn == [1, 2]


def test_a_baseline_draws_when_it_has_grown_not_when_its_snapshot_is_made_anew(
    parts: tuple[ViewState, Look],
) -> None:
    state, look = parts
    panel = Steps(state, look)
    scene = Scene(panel)
    clock = FrameClock(scene, state)
    scene.show()
    for n_steps in (2, 2, 3):
        scene.baseline = session_of(script_of(n_steps))
        clock.tick()
    assert panel.drawn == [0, 0]
    clock.stop()


def test_when_all_is_closed_no_figure_stays(parts: tuple[ViewState, Look]) -> None:
    state, look = parts
    panel = Steps(state, look)
    scene = Scene(panel)
    scene.script.step()
    scene.show()
    clock = clock_of(scene, state)
    clock.tick()
    scene.session = None
    clock.tick()
    clock.tick()
    assert panel.drawn == [1, 0]
    scene.show()
    clock.tick()
    assert panel.drawn == [1, 0, 1]


def test_a_panel_hidden_while_it_was_digested_is_drawn_when_it_is_seen_again(
    parts: tuple[ViewState, Look],
) -> None:
    state, look = parts
    panel = Steps(state, look)
    scene = Scene(panel)
    scene.show()
    clock = clock_of(scene, state)
    clock.tick()
    clock.analyst._cost_ms[panel.key] = 1000.0  # so the next is made on the thread
    scene.script.step()
    scene.show()
    clock.tick()
    scene.panels = ()
    deadline = time.monotonic() + 10.0
    while clock.analyst.is_busy(panel.key) and time.monotonic() < deadline:
        clock.tick()
        time.sleep(0.002)
    scene.panels = (panel,)
    while panel.drawn != [0, 1] and time.monotonic() < deadline:
        clock.tick()
        time.sleep(0.002)
    assert panel.drawn == [0, 1]
    clock.stop()


def test_a_panel_is_drawn_when_the_view_has_changed(parts: tuple[ViewState, Look]) -> None:
    state, look = parts
    panel = Steps(state, look)
    scene = Scene(panel)
    scene.show()
    clock = clock_of(scene, state)
    clock.tick()
    state.select_step(3)
    clock.tick()
    assert panel.drawn == [0, 0]


def test_text_is_drawn_at_five_a_second(parts: tuple[ViewState, Look]) -> None:
    state, look = parts
    panel = Slow(state, look)
    scene = Scene(panel)
    clock = clock_of(scene, state)
    for _ in range(13):
        scene.script.step()
        scene.show()
        clock.tick()
    assert panel.drawn == [1, 7, 13]


def test_a_click_is_answered_at_once_by_slow_text_too(parts: tuple[ViewState, Look]) -> None:
    state, look = parts
    panel = Slow(state, look)
    scene = Scene(panel)
    scene.show()
    clock = clock_of(scene, state)
    clock.tick()
    state.select_sequence(0)
    clock.tick()
    assert len(panel.drawn) == 2


@pytest.mark.parametrize("kind", [Broken, Undrawable])
def test_a_broken_panel_says_so_and_the_others_go_on(
    parts: tuple[ViewState, Look], kind: type[Steps]
) -> None:
    state, look = parts
    broken, panel = kind(state, look), Steps(state, look)
    scene = Scene(broken, panel)
    scene.show()
    clock_of(scene, state).tick()
    assert scene.n_painted == 1
    assert panel.drawn == [0]
    assert broken.is_empty
    assert "a fault of the panel" in broken.digested.reason


@pytest.mark.parametrize("kind", [Broken, Undrawable])
def test_errors_are_raised_where_they_are_wanted(
    parts: tuple[ViewState, Look], kind: type[Steps]
) -> None:
    state, look = parts
    scene = Scene(kind(state, look))
    scene.show()
    clock = clock_of(scene, state)
    clock.raises = True
    with pytest.raises(ValueError, match="a fault of the panel"):
        clock.tick()


def slow_panels(
    parts: tuple[ViewState, Look], costs_ms: Sequence[float]
) -> tuple[list[Steps], Scene, FrameClock]:
    """Panels that take so long to draw, by a clock that only they move."""
    state, look = parts
    now = [0.0]

    def draw(self: Steps, digest: Any) -> None:
        self.drawn.append(digest)
        now[0] += self.cost_ms / 1e3

    panels = []
    for n, cost_ms in enumerate(costs_ms):
        body = {"key": f"steps-{n}", "cost_ms": cost_ms, "draw": draw}
        panels.append(type(f"Steps{n}", (Steps,), body)(state, look))
    scene = Scene(*panels)
    scene.show()
    return panels, scene, FrameClock(scene, state, clock=lambda: now[0])


def test_as_many_panels_are_drawn_as_fit_into_a_frame(parts: tuple[ViewState, Look]) -> None:
    panels, _, clock = slow_panels(parts, [6.0] * 7)
    n_drawn = []
    for _ in range(4):
        clock.tick()
        n_drawn.append(sum(len(panel.drawn) for panel in panels))
    assert n_drawn == [3, 6, 7, 7]


def test_none_is_left_out_though_all_want_more_than_there_is(
    parts: tuple[ViewState, Look],
) -> None:
    costs_ms = [60.0, 12.0, 12.0, 12.0, 1.0]
    panels, scene, clock = slow_panels(parts, costs_ms)
    for _ in range(60):
        scene.script.step()
        scene.show()
        clock.tick()
    n_drawn = [len(panel.drawn) for panel in panels]
    assert min(n_drawn) >= 12  # each fifth frame at least: the one that waited longest is first
    assert n_drawn[4] > n_drawn[0]


def test_each_frame_is_painted_once(parts: tuple[ViewState, Look]) -> None:
    _, scene, clock = slow_panels(parts, [1.0, 1.0])
    clock.tick()
    clock.tick()
    assert scene.n_painted == 2


def test_only_panels_that_show_time_follow_the_window(parts: tuple[ViewState, Look]) -> None:
    state, look = parts
    panel = Steps(state, look)
    follower = type("Follower", (Steps,), {"key": "follower", "follows_window": True})(state, look)
    scene = Scene(panel, follower)
    scene.show()
    clock = clock_of(scene, state)
    clock.tick()
    state.look_at((0, 10))
    clock.tick()
    assert (len(panel.drawn), len(follower.drawn)) == (1, 2)


def test_what_is_to_be_done_later_is_done_once(qtbot: QtBot) -> None:
    now = [0.0]
    clock = FrameClock(Scene(), ViewState(), clock=lambda: now[0])
    done: list[int] = []
    clock.after(1.0, lambda: done.append(1))
    clock.tick()
    assert done == []
    now[0] = 1.0
    clock.tick()
    clock.tick()
    assert done == [1]


def test_a_moment_of_a_real_script_is_told_to_the_bars(qtbot: QtBot) -> None:
    scene = Scene()
    scene.script = script_of(3)
    scene.show()
    clock = FrameClock(scene, ViewState())
    told: list[Any] = []
    clock.ticked.connect(told.append)
    clock.tick()
    assert len(told[0].snapshot.steps) == 3


def test_beside_an_engine_nothing_is_drawn_more_often_than_at_ten_a_second(
    parts: tuple[ViewState, Look],
) -> None:
    state, look = parts
    panel = Steps(state, look)
    scene = Scene(panel)
    scene.is_live = True
    clock = clock_of(scene, state)
    for _ in range(7):
        scene.script.step()
        scene.show()
        clock.tick()
    assert panel.drawn == [1, 4, 7]
