"""A function on a thread: its progress, its end, its error, and that it can be stopped."""

import threading
import time
from collections.abc import Callable

import pytest

from ui.background_task import BackgroundTask, TaskState

PATIENCE_S = 10.0


def ended(task: BackgroundTask[int]) -> TaskState[int]:
    deadline = time.monotonic() + PATIENCE_S
    while not task.poll().is_over:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return task.close()


def test_its_result_is_there_when_it_is_over() -> None:
    task = BackgroundTask(lambda tell, stop: 7)
    state = ended(task)
    assert (state.is_over, state.result, state.error) == (True, 7, None)


def test_it_works_elsewhere_and_tells_how_far_it_is() -> None:
    told, go_on = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def work(tell: Callable[[int], None], stop: Callable[[], bool]) -> int:
        threads.append(threading.current_thread())
        tell(3)
        told.set()
        go_on.wait(PATIENCE_S)
        return 1

    task = BackgroundTask(work, name="worker")
    told.wait(PATIENCE_S)
    state = task.poll()
    assert (state.is_over, state.progress, state.is_stopping) == (False, 3, False)
    go_on.set()
    assert ended(task).progress == 3
    assert threads[0] is not threading.current_thread()
    assert threads[0].name == "worker"


def test_an_error_is_its_end() -> None:
    def work(tell: object, stop: object) -> int:
        raise OSError("no room")

    state = ended(BackgroundTask(work))
    assert isinstance(state.error, OSError)
    assert state.result is None


@pytest.mark.parametrize("by_closing", [False, True])
def test_it_is_asked_to_stop_and_waited_for(by_closing: bool) -> None:
    def work(tell: object, stop: Callable[[], bool]) -> int:
        deadline = time.monotonic() + PATIENCE_S
        while not stop() and time.monotonic() < deadline:
            time.sleep(0.001)
        return 5 if stop() else 0

    task = BackgroundTask(work)
    if not by_closing:
        task.stop()
        assert task.poll().is_stopping or task.poll().is_over
    state = task.close()
    assert (state.is_over, state.result, state.is_stopping) == (True, 5, True)
    assert task.close() == state
