"""SessionController: which sessions are open and which is shown; runs, opens and stops them."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from engine.wire.commands import Command
from engine.wire.events import EndReason, EngineState
from sessions.playhead import Playhead
from sessions.refusal import is_refusal
from sessions.session_errors import SessionFileError
from sessions.snapshot import Snapshot
from sessions.tables import END_CODES, STATE_CODES
from ui.engine_desk import EngineDesk
from ui.moment import Moment, nothing_yet
from ui.open_session import OpenSession
from ui.run_order import RunOrder
from ui.side_by_side import MAX_SIDE_BY_SIDE, baseline_of, first_to_show, side_by_side
from ui.step.cut_short import notice
from ui.workshop import Started, Workshop

_STATES = {STATE_CODES[state]: state for state in EngineState}


class SessionController(QObject):
    """Holds the open sessions; ``advance`` is called by the clock and never blocks."""

    sessions_changed = Signal()
    """Another session is shown, or one came or went."""
    engine_changed = Signal()
    """The engine's state, or what it says of it."""
    problem_told = Signal(str)
    """Something went wrong, in sentences; what there was is kept."""
    noted = Signal(str)
    """Something went otherwise than asked for and not wrong, in sentences."""

    def __init__(
        self, workshop: Workshop, *, clock: Callable[[], int] = time.perf_counter_ns
    ) -> None:
        super().__init__()
        self._workshop = workshop
        self._clock = clock
        self._sessions: list[OpenSession] = []
        self._shown: OpenSession | None = None
        self._desk = EngineDesk()
        self._told_state: object = None

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
        return self.is_running and self.live is None

    @property
    def is_running(self) -> bool:
        return self._desk.engine is not None

    @property
    def order(self) -> RunOrder | None:
        """What the engine was last told to run."""
        return self._desk.order

    @property
    def engine_process_id(self) -> int | None:
        engine = self._desk.engine
        return None if engine is None else engine.process_id

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
        """Start an engine on ``order``; what was open is closed, a run at work ended. All stays as
        it was when the order cannot be taken."""
        try:
            engine = self._workshop.start(order)
        except SessionFileError as error:
            self.problem_told.emit(str(error))
            return
        self._end_engine()
        self._close_sessions(self._sessions)
        self._desk.begin(engine, order)
        self.sessions_changed.emit()
        self.engine_changed.emit()

    def open(self, paths: Sequence[Path]) -> bool:
        """Show stored sessions, up to four side by side. A run at work goes on beside them. False,
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
        if len(paths) > MAX_SIDE_BY_SIDE:
            self.problem_told.emit(
                f"{len(paths)} sessions were chosen, and at most {MAX_SIDE_BY_SIDE} stand side by "
                f"side: the first {MAX_SIDE_BY_SIDE} are shown."
            )
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
        else:
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
        if self._desk.engine is not None:
            self._desk.engine.hang_up()

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
        if len(self._sessions) == 1 and waiting and waiting[0].session.is_over:
            waiting[0].rest_at_last_commit()
        self._finish_live()
        for word in self._desk.news():
            self.problem_told.emit(word)
        self._move_playheads()
        self._tell_state()
        return bool(self._sessions)

    def moment(self) -> Moment | None:
        """What there is to show; while an engine starts that nothing is there yet."""
        shown = self._shown
        if shown is None:
            return nothing_yet(is_live=True) if self.is_starting else None
        return Moment(
            snapshot=shown.at(shown.playhead.t_ns),
            newest=shown.newest(),
            baseline=baseline_of(shown, self._sessions),
            others=side_by_side(shown, self._sessions),
            is_live=shown.is_live,
        )

    @property
    def playhead(self) -> Playhead | None:
        return None if self._shown is None else self._shown.playhead

    def close(self) -> None:
        """End everything: sessions are saved, no process or thread is left. Within two seconds,
        unless a disk keeps a recording waiting, or the run is one under Nsight Systems: that is
        waited for until its report is written, which may take it up to its patience."""
        self._end_engine()
        self._close_sessions(self._sessions)
        self._desk.close()

    # --- inside ----------------------------------------------------------------------------------

    def _show(self, session: OpenSession | None) -> None:
        self._shown = session
        self.sessions_changed.emit()

    def _hear_engine(self) -> None:
        engine = self._desk.engine
        if engine is None:
            return
        if self.live is None and (engine.problem or not engine.has_next):
            problem = engine.problem
            self._let_engine_go()
            self._show(self._shown)
            if problem:
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
        live, engine = self.live, self._desk.engine
        if live is None or engine is None or not live.session.is_over:
            return
        live.is_live = False
        live.recording = engine.recorder_status(live.started)
        self._desk.finish(live)
        if refusal := _refusal(live.newest()):  # nothing was decoded: there is nothing to look at
            self._forget(live)
            self.problem_told.emit(refusal)
        elif _is_bad_end(live.newest()):  # of the two the graver: a notice takes the other's place
            self._tell_crash(live)
        elif words := notice(live.newest()):
            self.noted.emit(words)
        if not engine.has_next:
            self._let_engine_go()
            if self._sessions == [live]:
                live.rest_at_last_commit()
            last = live if live in self._sessions else None
            self._show(first_to_show(self._sessions) or last)

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

    def _move_playheads(self) -> None:
        now = self._clock()
        for each in self._sessions:
            each.playhead.advance(now, each.end_ns)

    def _tell_state(self) -> None:
        state = (self.engine_state(), self.is_starting, self.live is None)
        if state != self._told_state:
            self._told_state = state
            self.engine_changed.emit()

    def _end_engine(self) -> None:
        """End the engine now. Its session keeps what it has said, and is let go of."""
        if not self.is_running:
            return
        live = self.live
        if live is not None:
            live.is_live = False
            self._forget(live)
        self._desk.end(live)
        self.engine_changed.emit()

    def _let_engine_go(self) -> None:
        """Of one that has ended by itself, or never was heard."""
        self._desk.let_go()
        self.engine_changed.emit()

    def _close_sessions(self, sessions: Sequence[OpenSession]) -> None:
        for each in tuple(sessions):
            self._forget(each)
            each.session.close()

    def _forget(self, session: OpenSession) -> None:
        self._sessions.remove(session)
        if self._shown is session:
            self._shown = None


def _refusal(snapshot: Snapshot) -> str:
    """The engine's own sentence where it refused its settings, before any sequence; "" else."""
    ends = snapshot.ends
    if not len(ends):
        return ""
    detail, code = ends.text("detail", len(ends) - 1), int(ends["reason"][-1])
    reason = next(each for each in EndReason if END_CODES[each] == code)
    has_sequence = len(snapshot.sequences) > 0
    return detail if is_refusal(reason, detail, has_sequence=has_sequence) else ""


def _is_bad_end(snapshot: Snapshot) -> bool:
    reasons = snapshot.ends["reason"]
    bad = (END_CODES[EndReason.FAILED], END_CODES[EndReason.CRASHED])
    return bool(len(reasons)) and int(reasons[-1]) in bad
