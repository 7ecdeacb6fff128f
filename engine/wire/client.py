"""EngineClient: starts the engine's process, sends it commands, and is a source of its events."""

import contextlib
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from types import TracebackType

from engine.wire.codec import MAX_LINE_BYTES, CodecError, decode_event, encode
from engine.wire.commands import Command, Shutdown
from engine.wire.config import RunConfig
from engine.wire.doorway import Doorway
from engine.wire.events import EndReason, Event, LogEmitted, SessionEnded
from engine.wire.prepared import PreparedEngine, open_engine
from engine.wire.program import engine_command

PATIENCE_S = 2.0
"""How long an engine may take to end when asked."""
CANCEL_PATIENCE_S = 0.2
"""The same of one that has not connected and is no longer wanted: it cannot be asked."""
WRAPPED_START_S = 120.0
WRAPPER_PATIENCE_S = 300.0
"""The same of a profiler around it, which starts slowly and ends with writing a report."""

N_ERROR_LINES = 100
"""How much of the engine's standard output and error is kept, for the case that it crashes."""


class EngineStartError(RuntimeError):
    """The engine's process did not come up; the message says how it ended and what it printed."""


class EngineClient:
    """A running engine, seen from outside.

    A thread drains the connection at once, so the engine never waits for whoever polls. If the
    engine dies without a farewell, the client appends ``SessionEnded`` with reason ``crashed``; a
    line that cannot be read becomes a ``LogEmitted`` in the place of the event it should have been.
    """

    def __init__(
        self, process: "subprocess.Popen[bytes]", doorway: Doorway, *, n_sessions: int = 1
    ) -> None:
        """Use ``EngineClient.start``."""
        self._process = process
        self._doorway = doorway
        self._connection: Connection | None = None
        self._events: deque[Event] = deque()
        self._changed = threading.Condition()
        self._n_sessions_left = n_sessions  # whose farewell has not come
        self._is_farewell_last = False
        self._has_ended = False  # nothing more will be appended
        self._last_ordinal = -1
        self._last_t_ns = 0
        self._printed: deque[str] = deque(maxlen=N_ERROR_LINES)
        self._send_lock = threading.Lock()
        self._close_lock = threading.Lock()
        self._is_closed = False
        self.patience_s = PATIENCE_S
        self._threads = [
            threading.Thread(target=self._drain_output, name="engine-output", daemon=True),
            threading.Thread(target=self._read, name="engine-reader", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @classmethod
    def start(
        cls,
        config: RunConfig,
        *further: RunConfig,
        python: str = sys.executable,
        program: str = "engine.worker",
        wrapper: Sequence[str] = (),
        prepared: PreparedEngine | None = None,
        timeout_s: float = 30.0,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> "EngineClient":
        """Start ``python -m program`` and wait until it has connected; it loads after that.

        ``further`` sessions follow in the same process, each with a stream of its own from
        ``SessionStarted`` to ``SessionEnded``; models they share are loaded once. What is sent
        after a ``SessionEnded`` is for the session that follows.

        The environment is passed on as it is: a profiler that started this process sees the engine
        too. What the engine needs to know goes through its standard input, where none can read it.

        Args:
            wrapper: a program to run the engine under, such as ``nsight.nsys_wrapper`` gives. It
                need not pass standard input on: what the engine needs to know then goes through a
                file that only this user can read, and that the engine removes. It is waited for
                when the engine has ended, since it may have a report to write.
            prepared: a process to use, if it still is there and there is no ``wrapper``. It
                connects when it has imported all.
            should_stop: asked several times a second until the engine has connected.

        Raises:
            EngineStartError: when the process ends before it has connected, takes too long, or is
                no longer wanted.
        """
        doorway = Doorway()
        greeting = doorway.greeting((config, *further))
        arguments: list[str] = []
        if wrapper:
            arguments = [str(doorway.leave(greeting))]
            timeout_s = max(timeout_s, WRAPPED_START_S)
        command = [*wrapper, *engine_command(program, *arguments, python=python)]
        process = None if prepared is None or wrapper else prepared.take()
        if process is not None:  # it may still be importing what it connects behind
            timeout_s = max(timeout_s, WRAPPED_START_S)
        else:
            try:
                process = open_engine(command, has_input=not wrapper)
            except OSError as error:
                doorway.close()
                raise EngineStartError(f"{command[0]} could not be started: {error}") from error
        client = cls(process, doorway, n_sessions=1 + len(further))
        client.patience_s = WRAPPER_PATIENCE_S if wrapper else PATIENCE_S
        try:
            client._greet(greeting, timeout_s, should_stop)
        except BaseException:
            client.close(patience_s=CANCEL_PATIENCE_S if should_stop() else PATIENCE_S)
            raise
        return client

    # --- a source of events ----------------------------------------------------------------------

    def poll(self, limit: int) -> list[Event]:
        """Up to ``limit`` events of one session, oldest first; empty when nothing is due. Never
        blocks."""
        events: list[Event] = []
        while self._events and len(events) < limit:
            events.append(self._events.popleft())
            if isinstance(events[-1], SessionEnded):
                break
        return events

    @property
    def exhausted(self) -> bool:
        """Whether nothing more will ever come."""
        return self._has_ended and not self._events

    def wait(self, timeout_s: float | None = None) -> bool:
        """Block until events are due or nothing more will come; False when time ran out."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._events) or self._has_ended, timeout_s)

    # --- a target of commands --------------------------------------------------------------------

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How the engine's process ended: 2 for settings it refused; None while it runs."""
        return self._process.poll()

    def send(self, command: Command) -> None:
        """Tell the engine something. When it is gone nothing happens: the stream says so."""
        if self._connection is None or self._has_ended:
            return
        with self._send_lock, contextlib.suppress(OSError):  # the reader sees the same end
            self._connection.send_bytes(encode(command))

    def hang_up(self) -> None:
        """Ask the engine to end, without waiting: its farewell comes as an event."""
        self.send(Shutdown())

    def close(self, *, patience_s: float | None = None) -> None:
        """End the engine: ask, then terminate, then kill. Events that have come can still be
        polled. ``patience_s`` None: as long as an engine may take, or a wrapper for its report.

        Leaves no process, thread or socket behind; may be called again, from any thread.
        """
        with self._close_lock:
            if self._is_closed:
                return
            self._is_closed = True
            patience_s = self.patience_s if patience_s is None else patience_s
            self.hang_up()
            self._doorway.close()
            for stop in (None, self._process.terminate, self._process.kill):
                if stop is not None:
                    stop()
                with contextlib.suppress(subprocess.TimeoutExpired):  # then the next, harder way
                    self._process.wait(patience_s)
                    break
            for thread in self._threads:
                thread.join(patience_s)
            if self._connection is not None:
                self._connection.close()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # a broken pipe's last words
                        pipe.close()

    def __enter__(self) -> "EngineClient":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- starting --------------------------------------------------------------------------------

    def _greet(self, greeting: bytes, timeout_s: float, should_stop: Callable[[], bool]) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # it died at once: seen below
                self._process.stdin.write(greeting)
                self._process.stdin.close()
        deadline = time.monotonic() + timeout_s
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: self._connection is not None, 0.1):
                    return
            if self._process.poll() is not None:
                self._threads[0].join(1.0)
                raise EngineStartError(
                    f"The engine {self._how_it_ended()} before it had connected.\n{self._tail()}"
                )
            if should_stop():
                raise EngineStartError("The engine was told to end before it had connected.")
            if time.monotonic() > deadline:
                raise EngineStartError(
                    f"The engine has not connected within {timeout_s:g} seconds.\n{self._tail()}"
                )

    # --- the two threads -------------------------------------------------------------------------

    def _drain_output(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed.append(line.decode("utf-8", errors="replace").rstrip())

    def _read(self) -> None:
        connection = self._doorway.accept()
        if connection is not None:
            with self._changed:
                self._connection = connection
                self._changed.notify_all()
            with contextlib.suppress(EOFError, OSError):  # the end, told by ``_end``
                while True:
                    self._take(connection.recv_bytes(2 * MAX_LINE_BYTES))
        self._end()

    def _take(self, message: bytes) -> None:
        events: list[Event] = []
        for line in message.split(b"\n"):
            try:
                event = decode_event(line)
            except CodecError as error:
                event = LogEmitted(
                    level="error",
                    message=f"An event could not be read: {error}",
                    ordinal=self._last_ordinal + 1,
                    t_ns=self._last_t_ns,
                )
            self._last_ordinal, self._last_t_ns = event.ordinal, event.t_ns
            events.append(event)
        with self._changed:
            self._events.extend(events)
            self._n_sessions_left -= sum(isinstance(event, SessionEnded) for event in events)
            self._is_farewell_last = isinstance(events[-1], SessionEnded)
            self._has_ended = self._n_sessions_left == 0
            self._changed.notify_all()

    def _end(self) -> None:
        farewell: list[Event] = []
        if not self._is_farewell_last:
            with contextlib.suppress(subprocess.TimeoutExpired):  # then it only hung up
                self._process.wait(1.0)
            self._threads[0].join(1.0)
            farewell.append(
                SessionEnded(
                    reason=EndReason.CRASHED,
                    detail=f"The engine {self._how_it_ended()}.\n{self._tail()}".strip(),
                    ordinal=self._last_ordinal + 1,
                    t_ns=self._last_t_ns,
                )
            )
        with self._changed:
            self._events.extend(farewell)
            self._has_ended = True
            self._changed.notify_all()

    def _how_it_ended(self) -> str:
        code = self._process.poll()
        if code is None:
            return "closed its connection"
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"

    def _tail(self) -> str:
        return "\n".join(self._printed)
