"""The budget: what fits into a frame, and that what costs too much is drawn all the same."""

from collections.abc import Callable

import pytest

from ui.draw_budget import UNKNOWN_MS, DrawBudget


class Frames:
    """A budget of 20 ms over a clock that is moved by hand."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.budget = DrawBudget(20.0, lambda: self.now_s)

    def takes(self, ms: float) -> Callable[[], bool]:
        def act() -> bool:
            self.now_s += ms / 1e3
            return True

        return act

    def frame(self, costs: dict[str, tuple[float, float]]) -> list[str]:
        """Which were drawn, of all that are due; a cost is drawing and painting, in ms."""
        self.budget.begin()
        drawn = []
        for key, (draw_ms, _) in costs.items():
            if self.budget.has_room(key):
                self.budget.draw(key, self.takes(draw_ms))
                drawn.append(key)
        self.budget.paint(lambda: self.takes(sum(costs[key][1] for key in drawn))() and None)
        return drawn


def test_unknown_panels_are_taken_to_cost_the_usual() -> None:
    frames = Frames()
    costs = dict.fromkeys("abcdefg", (UNKNOWN_MS, 0.0))
    assert frames.frame(costs) == ["a", "b", "c", "d"]


def test_cheap_ones_are_drawn_all_once_they_are_known() -> None:
    frames = Frames()
    costs = dict.fromkeys("abcdefgh", (1.0, 0.5))
    frames.frame(costs)
    assert frames.frame(costs) == list("abcdefgh")


def test_what_costs_more_than_a_frame_is_drawn_alone() -> None:
    frames = Frames()
    costs = {"huge": (50.0, 0.0), "small": (1.0, 0.0)}
    assert frames.frame(costs) == ["huge"]
    assert frames.frame(costs) == ["huge"]


def test_painting_is_learned_from_frames_that_differ() -> None:
    frames = Frames()
    a, b = {"a": (1.0, 8.0)}, {"b": (1.0, 2.0)}
    for _ in range(20):
        frames.frame(a | b)
        frames.frame(a)
        frames.frame(b)
    assert frames.budget.cost_ms("a") == pytest.approx(9.0, abs=0.1)
    assert frames.budget.cost_ms("b") == pytest.approx(3.0, abs=0.1)


def test_painting_to_come_counts() -> None:
    frames = Frames()
    dear = dict.fromkeys("abc", (0.5, 9.0))
    for _ in range(20):
        frames.frame(dear)
    assert frames.frame(dear) == ["a", "b"]


def test_what_was_taken_before_counts() -> None:
    frames = Frames()
    costs = dict.fromkeys("abc", (2.0, 0.0))
    frames.frame(costs)
    frames.budget.begin()
    frames.takes(17.0)()  # taking events in
    frames.budget.draw("a", frames.takes(2.0))
    assert not frames.budget.has_room("b")


def test_what_only_ordered_a_digest_is_no_cost() -> None:
    frames = Frames()
    frames.budget.begin()
    frames.budget.draw("a", lambda: False)
    assert frames.budget.cost_ms("a") == UNKNOWN_MS
    frames.takes(50.0)()
    assert frames.budget.has_room("b")  # still the first one


def test_costs_are_forgotten() -> None:
    frames = Frames()
    frames.frame({"a": (1.0, 1.0)})
    frames.budget.forget()
    assert frames.budget.cost_ms("a") == UNKNOWN_MS
