"""SessionController: which sessions are open and which is shown; runs, opens and stops them."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from engine.wire.commands import Command
from engine.wire.events import EndReason, EngineState
from sessions.playhead import Playhead
from sessions.run_facts import run_facts
from sessions.session_errors import SessionFileError
from sessions.snapshot import Snapshot
from sessions.tables import END_CODES, STATE_CODES
from ui.moment import Moment, NamedSnapshot
from ui.open_session import OpenSession
from ui.run_order import RunOrder
from ui.workshop import RunningEngine, Started, Workshop

MAX_SIDE_BY_SIDE = 4
_STATES = {STATE_CODES[state]: state for state in EngineState}


class SessionController(QObject):
    """Holds the open sessions; ``advance`` is called by the clock and never blocks."""

    sessions_changed = Signal()
    """Another session is shown, or one came or went."""
    engine_changed = Signal()
    """The engine's state, or what it says of it."""
    problem_told = Signal(str)
    """Something went wrong, in sentences; what there was is kept."""

    def __init__(
        self, workshop: Workshop, *, clock: Callable[[], int] = time.perf_counter_ns
    ) -> None:
        super().__init__()
        self._workshop = workshop
        self._clock = clock
        self._sessions: list[OpenSession] = []
        self._shown: OpenSession | None = None
        self._engine: RunningEngine | None = None
        self._order: RunOrder | None = None
        self._told_state: object = None
        self._farewells: list[threading.Thread] = []  # recordings being finished

    # --- what is open ----------------------------------------------------------------------------

    @property
    def sessions(self) -> Sequence[OpenSession]:
        return tuple(self._sessions)

    @property
    def shown(self) -> OpenSession | None:
        return self._shown

    @property
    def live(self) -> OpenSession | None:
        """The session an engine speaks of now."""
        return next((each for each in self._sessions if each.is_live), None)

    @property
    def is_starting(self) -> bool:
        """Whether an engine was started of which nothing was heard yet."""
        return self._engine is not None and self.live is None

    @property
    def is_running(self) -> bool:
        return self._engine is not None

    @property
    def order(self) -> RunOrder | None:
        """What the engine was last told to run."""
        return self._order

    @property
    def engine_process_id(self) -> int | None:
        return None if self._engine is None else self._engine.process_id

    def engine_state(self) -> tuple[EngineState | None, str, float | None]:
        """The live engine's state, what it says of it, and how far it is (0 to 1) or None."""
        live = self.live
        if live is None:
            return None, "", None
        states = live.newest().states
        if not len(states):
            return EngineState.LOADING, "starting", None
        progress = float(states["progress"][-1])
        known = progress if progress == progress else None  # NaN is missing
        return _STATES[int(states["state"][-1])], states.text("detail", len(states) - 1), known

    # --- opening ---------------------------------------------------------------------------------

    def run(self, order: RunOrder) -> None:
        """Start an engine on ``order``. What was open is closed, a run at work ended first."""
        self._end_engine()
        try:
            engine = self._workshop.start(order)
        except SessionFileError as error:
            self.problem_told.emit(str(error))
            return
        self._close_sessions(self._sessions)
        self._engine, self._order = engine, order
        self.sessions_changed.emit()
        self.engine_changed.emit()

    def open(self, paths: Sequence[Path]) -> bool:
        """Show stored sessions, several side by side. A run at work goes on beside them. False,
        and all as it was, when one cannot be opened."""
        started: list[Started] = []
        for path in paths[:MAX_SIDE_BY_SIDE]:
            try:
                started.append(self._workshop.open(path))
            except SessionFileError as error:
                for each in started:
                    each.session.close()
                self.problem_told.emit(str(error))
                return False
        self._close_sessions([each for each in self._sessions if not each.is_live])
        opened = [OpenSession(each) for each in started]
        self._sessions = opened + self._sessions
        self._show(opened[0] if opened else None)
        return True

    def take(self, session: OpenSession) -> None:
        """Hold a session that somebody else has made, and show it."""
        self._sessions.append(session)
        self._show(session)

    def show(self, session: OpenSession) -> None:
        """Show another of the open sessions."""
        if session in self._sessions:
            self._show(session)

    def close_session(self, session: OpenSession) -> None:
        """Let go of one; the live one is stopped first."""
        if session.is_live:
            self._end_engine()
        self._close_sessions([session])
        self._show(self._shown or (self._sessions[0] if self._sessions else None))

    # --- the engine ------------------------------------------------------------------------------

    def send(self, command: Command) -> None:
        """Tell the engine, if one listens."""
        live = self.live
        if live is not None and live.session.takes_commands:
            live.session.send(command)

    def stop(self) -> None:
        """Ask the engine to end: its sessions are kept, and end as stopped."""
        if self._engine is not None:
            self._engine.hang_up()

    # --- the clock's -----------------------------------------------------------------------------

    def advance(self, budget_ms: float) -> bool:
        """Take in what is due, move the playheads; whether anything is open."""
        self._hear_engine()
        waiting = [each for each in self._sessions if not each.session.is_over and not each.problem]
        for each in waiting:
            try:
                each.session.advance(budget_ms / len(waiting))
            except SessionFileError as error:  # damaged from here on; what came before is shown
                each.problem = str(error)
                self.problem_told.emit(each.problem)
        self._finish_live()
        self._move_playheads()
        self._tell_state()
        return bool(self._sessions)

    def moment(self) -> Moment | None:
        """What there is to show."""
        shown = self._shown
        if shown is None:
            return None
        others = self._side_by_side()
        return Moment(
            snapshot=shown.at(shown.playhead.t_ns),
            newest=shown.newest(),
            baseline=self._baseline(shown),
            others=others,
            is_live=shown.is_live,
        )

    @property
    def playhead(self) -> Playhead | None:
        return None if self._shown is None else self._shown.playhead

    def close(self) -> None:
        """End everything: sessions are saved, no process or thread is left. Within two seconds,
        unless a disk keeps a recording waiting."""
        self._end_engine()
        self._close_sessions(self._sessions)
        for thread in self._farewells:
            thread.join()
        self._farewells.clear()

    # --- inside ----------------------------------------------------------------------------------

    def _show(self, session: OpenSession | None) -> None:
        self._shown = session
        self.sessions_changed.emit()

    def _hear_engine(self) -> None:
        engine = self._engine
        if engine is None:
            return
        if engine.problem:
            problem = engine.problem
            self._drop_engine()
            self.problem_told.emit(problem)
            return
        started = engine.next_session() if self.live is None else None
        if started is not None:
            session = OpenSession(started, is_live=True)
            self._sessions.append(session)
            self._show(session)
        live = self.live
        if live is not None:
            live.recording = engine.recorder_status(live.started)

    def _finish_live(self) -> None:
        live, engine = self.live, self._engine
        if live is None or engine is None or not live.session.is_over:
            return
        live.is_live = False
        live.recording = engine.recorder_status(live.started)
        self._say_farewell(live)
        self._tell_crash(live)
        if not engine.has_next:
            self._drop_engine()
            self._show(self._side_by_side_first() or live)

    def _tell_crash(self, session: OpenSession) -> None:
        ends = session.newest().ends
        if not len(ends):
            return
        detail = ends.text("detail", len(ends) - 1)
        if _is_bad_end(session.newest()):
            kept = " What it had said is kept." if session.path is None else (
                f" The session up to then is kept in {session.path.name}."
            )  # fmt: skip
            self.problem_told.emit(f"The engine ended before it was done.{kept}\n{detail}")

    def _side_by_side_first(self) -> OpenSession | None:
        """The first session that drafts, of several."""
        if len(self._sessions) < 2:
            return None
        drafting = [e for e in self._sessions if not run_facts(e.newest()).is_baseline]
        return drafting[0] if drafting else self._sessions[0]

    def _side_by_side(self) -> tuple[NamedSnapshot, ...]:
        shown = self._shown
        if shown is None or len(self._sessions) < 2:
            return ()
        passed_ns = shown.playhead.t_ns - shown.begin_ns
        is_at_end = shown.playhead.t_ns >= shown.end_ns
        named = []
        for each in self._sessions[:MAX_SIDE_BY_SIDE]:
            here = each.newest() if is_at_end else each.at(max(0, each.begin_ns + passed_ns))
            named.append((run_facts(each.newest()).is_baseline, NamedSnapshot(each.name, here)))
        named.sort(key=lambda pair: not pair[0])  # the baseline first; the rest as they came
        return tuple(each for _, each in named)

    def _baseline(self, shown: OpenSession) -> Snapshot | None:
        for each in self._sessions:
            if each is not shown and run_facts(each.newest()).is_baseline:
                return each.newest()
        return None

    def _move_playheads(self) -> None:
        now = self._clock()
        for each in self._sessions:
            each.playhead.advance(now, each.end_ns)

    def _tell_state(self) -> None:
        state = (self.engine_state(), self.is_starting, self.live is None)
        if state != self._told_state:
            self._told_state = state
            self.engine_changed.emit()

    def _say_farewell(self, session: OpenSession) -> None:
        """Finish its recording on a thread: the disk may take its time."""
        thread = threading.Thread(target=session.session.close, name="recording-end", daemon=True)
        thread.start()
        self._farewells = [each for each in self._farewells if each.is_alive()]
        self._farewells.append(thread)

    def _end_engine(self) -> None:
        """End the engine now; its session keeps what it has said."""
        engine, live = self._engine, self.live
        if engine is None:
            return
        engine.hang_up()
        if live is not None:
            deadline = time.monotonic() + 0.8
            while not live.session.is_over and time.monotonic() < deadline:
                if not live.session.advance(50.0):
                    time.sleep(0.005)
        engine.close(patience_s=0.4)
        if live is not None:
            while not live.session.is_over and live.session.advance(50.0):
                pass
            live.is_live = False
            self._say_farewell(live)
        self._engine = None
        self.engine_changed.emit()

    def _drop_engine(self) -> None:
        """Let go of an engine that has ended by itself."""
        engine, self._engine = self._engine, None
        if engine is not None:
            thread = threading.Thread(target=engine.close, name="engine-end", daemon=True)
            thread.start()
            self._farewells.append(thread)
        self.engine_changed.emit()

    def _close_sessions(self, sessions: Sequence[OpenSession]) -> None:
        for each in tuple(sessions):
            self._sessions.remove(each)
            each.session.close()
        if self._shown not in self._sessions:
            self._shown = None


def _is_bad_end(snapshot: Snapshot) -> bool:
    reasons = snapshot.ends["reason"]
    bad = (END_CODES[EndReason.FAILED], END_CODES[EndReason.CRASHED])
    return bool(len(reasons)) and int(reasons[-1]) in bad
