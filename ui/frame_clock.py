"""FrameClock: the only timer. Thirty times a second: take events in, move the playhead, redraw what
changed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from sessions.snapshot import Snapshot
from ui.analyst import Analyst, Digested
from ui.draw_budget import DrawBudget
from ui.moment import Moment, View, nothing_yet
from ui.panels.base import Empty, Panel
from ui.view_state import ViewState

FRAME_MS = 33
TAKE_IN_MS = 8.0
"""Of a frame: for taking events in. The rest is for drawing."""
DRAW_MS = 20.0
"""Of a frame, from its beginning: until then panels are drawn and painted. Those that do not fit
are drawn in the next. The rest is for what was not foreseen."""
LONG_ROWS = 50_000
"""Tokens above which a digest of unknown cost is not tried on the GUI thread."""
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

    def paint(self) -> None:
        """Put on the screen what was drawn."""
        ...


class _Seen(NamedTuple):
    """What a panel's picture depends on: it is out of date when this differs."""

    view: View
    has_baseline: bool
    lengths: tuple[tuple[int, ...], ...]
    """Of the tables it reads, session by session, the baseline last. Not the snapshots' identity:
    one of a moment is made anew for every frame."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What a panel was last drawn from, and in which frame."""

    seen: _Seen
    frame: int


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
        self._is_cleared = False  # whether the panels show that nothing is open
        self._waiting: dict[str, Digested] = {}  # made, and to be shown in the next frames
        self._budget = DrawBudget(DRAW_MS, clock)
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
        self._budget.forget()
        self._drawn.clear()
        self._waiting.clear()

    def after(self, seconds: float, act: Callable[[], None]) -> None:
        """Call ``act`` at the first tick ``seconds`` from now."""
        self._later.append((self._clock() + seconds, act))

    def tick(self) -> None:
        """One frame."""
        begun = self._clock()
        self._budget.begin()
        self._frame += 1
        self._run_due(begun)
        self._scene.advance(TAKE_IN_MS)
        moment = self._scene.moment()
        if moment is not None:
            self._draw(moment)
            self._is_cleared = False
        elif not self._is_cleared:
            self._clear()
        self.ticked.emit(moment)
        self._budget.paint(self._scene.paint)
        self.frame_ms = (self._clock() - begun) * 1e3

    def _run_due(self, now: float) -> None:
        due = [act for moment, act in self._later if moment <= now]
        if due:
            self._later = [each for each in self._later if each[0] > now]
            for act in due:
                act()

    def _draw(self, moment: Moment) -> None:
        """As many panels as fit into the frame. The one whose picture is oldest comes first, so
        that none starves when time is short."""
        panels = {panel.key: panel for panel in self._scene.visible_panels()}
        self._waiting |= {digested.key: digested for digested in self.analyst.collect()}
        for key in self._waiting.keys() - panels.keys():  # hidden meanwhile: drawn when seen again
            del self._waiting[key]
            self._drawn.pop(key, None)
        for key in sorted(panels, key=self._age):
            if self.analyst.is_busy(key) or not self._budget.has_room(key):
                continue
            if key in self._waiting or self._is_due(panels[key], moment):
                self._budget.draw(key, partial(self._renew, panels[key], moment))

    def _age(self, key: str) -> int:
        """The frame in which a panel was last drawn, or asked for its digest."""
        drawn = self._drawn.get(key)
        return -1 if drawn is None else drawn.frame

    def _renew(self, panel: Panel, moment: Moment) -> bool:
        """Show the digest that was waited for, or have the next one made; whether one was shown."""
        digested = self._waiting.pop(panel.key, None)
        if digested is None:
            self._drawn[panel.key] = _Drawn(self._seen_by(panel, moment), self._frame)
            panel.is_awaited = moment.is_live and not len(moment.newest.sequences)
            make = panel.order(moment, self._state.now)
            is_long = not panel.is_brief and _n_rows(moment) > LONG_ROWS
            digested = self.analyst.ask(panel.key, make, is_long=is_long)
        if digested is not None:
            self._show(panel, digested)
        return digested is not None

    def _clear(self) -> None:
        """Nothing is open: no figure of what was shall stay."""
        self.analyst.collect()
        self.forget()
        moment = nothing_yet(is_live=False)
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
        seen = self._seen_by(panel, moment)
        if seen == drawn.seen:
            return False
        is_told = seen.view != drawn.seen.view
        least = LIVE_FRAMES_PER_DRAW if moment.is_live else 1
        return is_told or self._frame - drawn.frame >= max(panel.frames_per_draw, least)

    def _seen_by(self, panel: Panel, moment: Moment) -> _Seen:
        view = self._state.now
        if not panel.follows_window and view.window_ns is not None:
            view = replace(view, window_ns=None)
        snapshots = [moment.snapshot, *(other.snapshot for other in moment.others)]
        if moment.baseline is not None:
            snapshots.append(moment.baseline)
        lengths = tuple(_lengths(snapshot, panel.reads) for snapshot in snapshots)
        return _Seen(view, moment.baseline is not None, lengths)

    def _show(self, panel: Panel, digested: Digested) -> None:
        """An error of one panel, also in drawing, is that panel's: the others go on."""
        error = digested.error
        if error is None:
            try:
                panel.show_digest(digested.digest)
            except Exception as failure:
                error = failure
        if error is None:
            return
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
