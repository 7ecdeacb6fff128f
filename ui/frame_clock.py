"""FrameClock: the only timer. Thirty times a second: take events in, move the playhead, redraw what
changed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from sessions.model import SessionModel
from sessions.snapshot import Snapshot
from ui.analyst import Analyst, Digested
from ui.moment import Moment
from ui.panels.base import Empty, Panel
from ui.view_state import ViewState

FRAME_MS = 33
TAKE_IN_MS = 8.0
"""Of a frame: for taking events in. The rest is for drawing."""
DRAW_MS = 14.0
"""Of a frame: for panels. Those that are left over are drawn in the next."""


LONG_ROWS = 50_000
"""Tokens above which a digest of unknown cost is not tried on the GUI thread."""
PANELS_A_FRAME = 3
LIVE_FRAMES_PER_DRAW = 3
"""While an engine speaks on this machine nothing is drawn more often than at 10 Hz: painting takes
the processor from what is measured. A click is answered at once all the same."""


class Scene(Protocol):
    """What the clock drives: the open sessions, the panels that can be seen."""

    def advance(self, budget_ms: float) -> bool:
        """Take in what is due and move the playheads; whether anything is open."""
        ...

    def moment(self) -> Moment | None:
        """What there is to show; None while nothing is open."""
        ...

    def visible_panels(self) -> Sequence[Panel]: ...


@dataclass(slots=True)
class _Drawn:
    """What a panel was last drawn from."""

    seen: object = None
    frame: int = -1000


class FrameClock(QObject):
    """Drives a scene. ``ticked`` follows every frame with the moment it showed, for the small
    things that are no panels."""

    ticked = Signal(object)  # Moment | None

    def __init__(
        self,
        scene: Scene,
        state: ViewState,
        *,
        clock: Callable[[], float] = time.perf_counter,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.analyst = Analyst()
        self.frame_ms: float = 0.0
        """How long the last tick took."""
        self._scene = scene
        self._state = state
        self._clock = clock
        self._frame = 0
        self._drawn: dict[str, _Drawn] = {}
        self._turn = 0
        self._is_cleared = False  # whether the panels show that nothing is open
        self._waiting: list[Digested] = []  # made, and to be shown in the next frames
        self._later: list[tuple[float, Callable[[], None]]] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self.tick)

    def start(self) -> None:
        self._timer.start()

    def stop(self) -> None:
        """Stop ticking, and wait for the digest at hand."""
        self._timer.stop()
        self.analyst.close()

    def forget(self) -> None:
        """Draw everything anew: another session is shown, of another length."""
        self.analyst.forget()
        self._drawn.clear()
        self._waiting.clear()

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Call ``act`` at the first tick ``seconds`` from now."""
        self._later.append((self._clock() + seconds, act))

    def tick(self) -> None:
        """One frame."""
        begun = self._clock()
        self._frame += 1
        self._run_due(begun)
        self._scene.advance(TAKE_IN_MS)
        moment = self._scene.moment()
        if moment is not None:
            self._draw(moment, self._clock() + DRAW_MS / 1e3)
            self._is_cleared = False
        elif not self._is_cleared:
            self._clear()
        self.ticked.emit(moment)
        self.frame_ms = (self._clock() - begun) * 1e3

    def _run_due(self, now: float) -> None:
        due = [act for moment, act in self._later if moment <= now]
        if due:
            self._later = [each for each in self._later if each[0] > now]
            for act in due:
                act()

    def _draw(self, moment: Moment, deadline: float) -> None:
        """A few panels a frame: Qt paints them all behind the tick, and that takes longer than
        drawing them."""
        panels = {panel.key: panel for panel in self._scene.visible_panels()}
        self._waiting += self.analyst.collect()
        for digested in self._waiting:
            if digested.key not in panels:  # hidden meanwhile: drawn when it is seen again
                self._drawn.pop(digested.key, None)
        self._waiting = [each for each in self._waiting if each.key in panels]
        now, self._waiting = self._waiting[:PANELS_A_FRAME], self._waiting[PANELS_A_FRAME:]
        for digested in now:
            self._show(panels[digested.key], digested)
        n_left = PANELS_A_FRAME - len(now)
        is_waiting = {each.key for each in self._waiting}
        names = list(panels)
        # Each frame begins with another panel, so that none starves when time is short.
        self._turn = (self._turn + 1) % max(1, len(names))
        for name in names[self._turn :] + names[: self._turn]:
            panel = panels[name]
            if self.analyst.is_busy(name) or name in is_waiting or not self._is_due(panel, moment):
                continue
            if n_left <= 0 or (n_left < PANELS_A_FRAME and self._clock() > deadline):
                break
            self._drawn[name] = _Drawn(self._seen_by(panel, moment), self._frame)
            panel.is_live = moment.is_live
            make = panel.order(moment, self._state.now)
            is_long = _n_rows(moment) > LONG_ROWS
            digested_at_once = self.analyst.ask(name, make, is_long=is_long)
            if digested_at_once is not None:
                self._show(panel, digested_at_once)
                n_left -= 1

    def _clear(self) -> None:
        """Nothing is open: no figure of what was shall stay."""
        self.analyst.collect()
        self.forget()
        nothing = SessionModel().snapshot()
        moment = Moment(snapshot=nothing, newest=nothing)
        for panel in self._scene.visible_panels():
            digested = self.analyst.now(panel.key, panel.order(moment, self._state.now))
            self._show(panel, digested)
        self._is_cleared = True

    def _is_due(self, panel: Panel, moment: Moment) -> bool:
        drawn = self._drawn.get(panel.key)
        if drawn is None:
            panel.has_moved()
            return True
        if panel.has_moved():
            return True
        if self._seen_by(panel, moment) == drawn.seen:
            return False
        is_told = isinstance(drawn.seen, tuple) and drawn.seen[0] != self._state.version
        least = LIVE_FRAMES_PER_DRAW if moment.is_live else 1
        return is_told or self._frame - drawn.frame >= max(panel.frames_per_draw, least)

    def _seen_by(self, panel: Panel, moment: Moment) -> tuple[object, ...]:
        snapshots = (moment.snapshot, *(other.snapshot for other in moment.others))
        lengths = tuple(_lengths(snapshot, panel.reads) for snapshot in snapshots)
        return (self._state.version, id(moment.baseline), lengths)

    def _show(self, panel: Panel, digested: Digested) -> None:
        """An error of one panel is that panel's: the others go on."""
        if digested.error is None:
            panel.show_digest(digested.digest)
            return
        error = digested.error
        panel.show_digest(Empty(f"This panel failed: {type(error).__name__}: {error}"))
        if self.raises:
            raise error

    raises = False
    """Whether a panel's error is raised, too: in tests."""


def _n_rows(moment: Moment) -> int:
    """How much there is to digest, by the longest table."""
    shown = (moment.snapshot, *(other.snapshot for other in moment.others))
    return sum(len(snapshot.draft_tokens) + len(snapshot.output_tokens) for snapshot in shown)


def _lengths(snapshot: Snapshot, tables: Sequence[str]) -> tuple[int, ...]:
    return tuple(len(snapshot.table(name)) for name in tables)
