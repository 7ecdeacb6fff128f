"""An answer is kept while its sessions stay as they are, and no longer."""

from engine.wire.events import Event
from sessions.model import SessionModel
from sessions.snapshot_memo import AT_ONCE_S, REST, Named, SnapshotMemo
from tests.sessions.played import model_of
from tests.sessions.recorded import script


class Slow:
    """A function that counts how often it was asked, and takes ``cost_s`` on its own clock."""

    def __init__(self, cost_s: float = 0.0) -> None:
        self.cost_s, self.now, self.n = cost_s, 100.0, 0

    def clock(self) -> float:
        return self.now

    def make(self, sessions: Named) -> list[int]:
        self.n += 1
        self.now += self.cost_s
        return [len(snapshot.steps) for _, snapshot in sessions]


def half() -> tuple[SessionModel, list[Event]]:
    events = script(10)
    return model_of(events[: len(events) // 2]), events[len(events) // 2 :]


def test_the_same_sessions_are_asked_about_once() -> None:
    slow, model = Slow(), model_of(script(3))
    memo = SnapshotMemo(slow.make, clock=slow.clock)
    first = memo([("a", model.snapshot())])
    assert memo([("a", model.snapshot())]) is first == [3]
    assert slow.n == 1
    memo([("b", model.snapshot())])
    assert slow.n == 2


def test_others_of_the_same_lengths_are_others() -> None:
    slow = Slow()
    memo = SnapshotMemo(slow.make, clock=slow.clock)
    for _ in range(5):
        memo([("a", model_of(script(3)).snapshot())])
    assert slow.n == 5


def test_a_session_that_grew_is_asked_about_again() -> None:
    slow, (model, rest) = Slow(), half()
    memo = SnapshotMemo(slow.make, clock=slow.clock)
    before = memo([("a", model.snapshot())])
    model.consume(rest)
    assert memo([("a", model.snapshot())]) != before
    assert memo([("a", model.snapshot())]) == [10]
    assert (slow.n, memo.is_behind) == (2, False)


def test_an_earlier_moment_is_another() -> None:
    slow, model = Slow(), model_of(script(10))
    memo = SnapshotMemo(slow.make, clock=slow.clock)
    assert memo([("a", model.snapshot())]) == [10]
    assert memo([("a", model.snapshot(60_000_000))])[0] < 10


def test_a_slow_answer_rests_before_it_is_made_anew() -> None:
    slow, (model, rest) = Slow(cost_s=2 * AT_ONCE_S), half()
    memo = SnapshotMemo(slow.make, clock=slow.clock)
    before = memo([("a", model.snapshot())])
    model.consume(rest)
    assert memo([("a", model.snapshot())]) is before
    assert (slow.n, memo.is_behind) == (1, True)
    slow.now += REST * slow.cost_s + 0.01
    assert memo([("a", model.snapshot())]) == [10]
    assert (slow.n, memo.is_behind) == (2, False)


def test_other_sessions_do_not_wait() -> None:
    slow = Slow(cost_s=10.0)
    memo = SnapshotMemo(slow.make, clock=slow.clock)
    memo([("a", model_of(script(3)).snapshot())])
    assert memo([("a", model_of(script(4)).snapshot())]) == [4]
