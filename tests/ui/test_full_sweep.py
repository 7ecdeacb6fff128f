"""The collector's longest sweep waits until nothing moves."""

import gc
import linecache
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal

from sessions.playhead import Mode
from ui.full_sweep import LOADED_S, REST_S, FullSweep, sweep_rarely


class Controller(QObject):
    sessions_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.sessions: list[object] = []
        self.shown: Any = None
        self.is_running = False


class Clock:
    def __init__(self) -> None:
        self.later: list[tuple[float, Callable[[], None]]] = []

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        self.later.append((seconds, act))

    def run(self) -> None:
        due, self.later = self.later, []
        for _, act in due:
            act()


@pytest.fixture
def sweeps(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    swept: list[bool] = []
    monkeypatch.setattr(gc, "collect", lambda: swept.append(True))
    return swept


def test_a_closed_session_is_swept_up_when_nothing_moves(qtbot: object, sweeps: list[bool]) -> None:
    clock, controller = Clock(), Controller()
    FullSweep(clock, controller, parent=controller)  # type: ignore[arg-type]
    clock.later.clear()
    controller.sessions = [object(), object()]
    controller.sessions_changed.emit()
    assert not clock.later
    for _ in range(2):  # swept up together
        controller.sessions.pop()
        controller.sessions_changed.emit()
    assert [seconds for seconds, _ in clock.later] == [REST_S]
    controller.is_running = True
    clock.run()
    controller.is_running = False
    controller.shown = SimpleNamespace(playhead=SimpleNamespace(mode=Mode.PLAYING))
    clock.run()
    assert not sweeps
    controller.shown.playhead.mode = Mode.PAUSED
    clock.run()
    assert sweeps == [True]
    assert not clock.later


def test_lines_of_sources_are_not_kept(qtbot: object) -> None:
    clock, controller = Clock(), Controller()
    FullSweep(clock, controller, parent=controller)  # type: ignore[arg-type]
    assert linecache.getline(__file__, 1)
    assert __file__ in linecache.cache
    ((seconds, act),) = clock.later
    assert seconds == LOADED_S
    act()
    assert __file__ not in linecache.cache


def test_the_young_are_looked_at_as_before() -> None:
    before = gc.get_threshold()
    try:
        sweep_rarely()
        assert gc.get_threshold()[:2] == before[:2]
        assert gc.get_threshold()[2] >= 100
    finally:
        gc.set_threshold(*before)
