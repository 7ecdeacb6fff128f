import threading
import time

import pytest

from engine.telemetry.emitter import Emitter
from engine.wire.events import Event, LogEmitted


def log(message: str = "x") -> LogEmitted:
    return LogEmitted(level="info", message=message)


def test_stamps_ordinals_and_times() -> None:
    said: list[Event] = []
    ticks = iter([1000, 1005, 1005, 1020, 1030])
    emitter = Emitter(said.append, clock=lambda: next(ticks))
    for _ in range(3):
        emitter.say(log())
    assert [(event.ordinal, event.t_ns) for event in said] == [(0, 5), (1, 5), (2, 20)]
    assert emitter.now_ns() == 30


def test_the_wall_clock_is_read_once_at_the_start() -> None:
    before = time.time_ns()
    emitter = Emitter(lambda event: None)
    assert before <= emitter.started_unix_ns <= time.time_ns()


def test_an_event_is_said_once() -> None:
    emitter = Emitter(lambda event: None)
    event = log()
    emitter.say(event)
    with pytest.raises(ValueError, match="LogEmitted was already said, as number 0"):
        emitter.say(event)


def test_threads_speak_in_one_order() -> None:
    said: list[Event] = []
    emitter = Emitter(said.append)
    barrier = threading.Barrier(4)

    def speak() -> None:
        barrier.wait()
        for _ in range(500):
            emitter.say(log())

    threads = [threading.Thread(target=speak) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.ordinal for event in said] == list(range(2000))
    times = [event.t_ns for event in said]
    assert times == sorted(times)


def test_a_sink_that_fails_leaves_a_hole() -> None:
    said: list[Event] = []
    is_broken = True

    def sink(event: Event) -> None:
        if is_broken:
            raise OSError("full")
        said.append(event)

    emitter = Emitter(sink)
    with pytest.raises(OSError, match="full"):
        emitter.say(log())
    is_broken = False
    emitter.say(log())
    assert [event.ordinal for event in said] == [1]


def test_saying_costs_little() -> None:
    emitter = Emitter(lambda event: None)
    best_ns = None
    for _ in range(10):
        events = [log() for _ in range(1000)]
        start_ns = time.perf_counter_ns()
        for event in events:
            emitter.say(event)
        elapsed_ns = (time.perf_counter_ns() - start_ns) / 1000
        best_ns = elapsed_ns if best_ns is None else min(best_ns, elapsed_ns)
    assert best_ns is not None
    assert best_ns < 15_000  # 1 microsecond on a desk; far more only on a very busy machine
