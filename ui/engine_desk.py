"""EngineDesk: the engine at work, and those that are being ended on threads."""

import threading
import time

from ui.open_session import OpenSession
from ui.run_order import RunOrder
from ui.workshop import RunningEngine

CLOSE_S = 2.0
"""How long the window's close waits for an engine."""
_FAREWELL_S = 0.8
"""How long an engine may take to say the last of its session."""
_HURRIED_S = 0.4
_UNHURRIED_S = 1.0


class EngineDesk:
    """One engine at most works; ending it, and finishing a recording, waits for others and is done
    on threads."""

    def __init__(self) -> None:
        self.engine: RunningEngine | None = None
        self.order: RunOrder | None = None
        self._farewells: list[_Farewell] = []

    def begin(self, engine: RunningEngine, order: RunOrder) -> None:
        """Put ``engine`` to work; the one before was ended or let go."""
        self.engine, self.order = engine, order

    def end(self, live: OpenSession | None) -> None:
        """End the engine now. ``live`` is taken in to its end and closed by the thread: nobody else
        advances it from now on."""
        engine, self.engine = self.engine, None
        if engine is not None:
            engine.hang_up()
            self._say(_Farewell(engine, live, is_hurried=True, ends_engine=True))

    def let_go(self) -> None:
        """Of an engine that has ended by itself."""
        engine, self.engine = self.engine, None
        if engine is not None:
            self._say(_Farewell(engine, None, ends_engine=True))

    def finish(self, session: OpenSession) -> None:
        """Finish a session that was heard to its end: the disk may take its time."""
        if self.engine is not None:
            self._say(_Farewell(self.engine, session))

    def news(self) -> list[str]:
        """What was not recorded of the sessions that have been finished since, in sentences."""
        done = [each for each in self._farewells if not each.is_alive()]
        self._farewells = [each for each in self._farewells if each not in done]
        return [word for each in done if (word := each.word())]

    def close(self) -> None:
        """Wait for all that is being ended: for an engine two seconds, unless Nsight Systems still
        writes its report; for a recording until it is written."""
        deadline = time.monotonic() + CLOSE_S
        for each in self._farewells:
            is_profiled = each.is_profiled
            left = None if is_profiled else max(0.0, deadline - time.monotonic())
            if each.engine_gone.wait(left):
                each.join()
        self._farewells.clear()

    def _say(self, farewell: "_Farewell") -> None:
        farewell.is_profiled = self.order is not None and self.order.nsys_report is not None
        self._farewells.append(farewell)
        farewell.start()


class _Farewell(threading.Thread):
    """Ends an engine, finishes its session, or both."""

    def __init__(
        self,
        engine: RunningEngine,
        session: OpenSession | None,
        *,
        is_hurried: bool = False,
        ends_engine: bool = False,
    ) -> None:
        super().__init__(name="engine-farewell", daemon=True)
        self.engine_gone = threading.Event()
        self.is_profiled = False
        self._engine = engine
        self._session = session
        self._is_hurried = is_hurried
        self._ends_engine = ends_engine
        if not ends_engine:
            self.engine_gone.set()

    def run(self) -> None:
        try:
            if self._ends_engine:
                self._end_engine()
        finally:
            self.engine_gone.set()
            if self._session is not None:
                self._session.session.close()

    def word(self) -> str:
        """What the session's recording lacks; empty when it is whole."""
        session = self._session
        if session is None:
            return ""
        session.recording = self._engine.recorder_status(session.started)
        errors = [each.message for each in session.session.errors]
        if session.recording is not None and session.recording.error:
            errors.insert(0, session.recording.error)
        return f"{session.name} was not recorded whole: {errors[0]}" if errors else ""

    def _end_engine(self) -> None:
        session = None if self._session is None else self._session.session
        if session is not None:
            deadline = time.monotonic() + _FAREWELL_S
            while not session.is_over and time.monotonic() < deadline:
                if not session.advance(50.0):
                    time.sleep(0.005)
            if self.is_profiled and session.is_over:
                session.close()  # the report may take minutes
        self._engine.close(patience_s=_HURRIED_S if self._is_hurried else _UNHURRIED_S)
        while session is not None and not session.is_over and session.advance(50.0):
            pass
