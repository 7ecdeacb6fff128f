"""The engine's program, ``python -m engine.worker``: connect, load, obey, decode, say farewell."""

import _thread
import contextlib
import faulthandler
import importlib.metadata
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.connection import Client, Connection
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Protocol

import msgspec

from engine.control import Control, Decoding, DeviceFull, Inbox, ShutdownRequested
from engine.telemetry.emitter import Emitter
from engine.telemetry.queue_sink import QueueSink
from engine.wire.codec import MAX_LINE_BYTES, CodecError, decode_command
from engine.wire.commands import Shutdown
from engine.wire.config import ConfigError, RunConfig
from engine.wire.doorway import Greeting
from engine.wire.events import (
    SCHEMA_VERSION,
    EndReason,
    EngineState,
    LogEmitted,
    SessionEnded,
    SessionStarted,
)
from engine.wire.prepared import PREPARE

if TYPE_CHECKING:
    from engine.telemetry.spans import SpanRecorder

EXIT_FAILED = 1
EXIT_CONFIG = 2
EXIT_ABANDONED = 3

PATIENCE_S = 1.0
"""How long the engine may take to stop by itself once nobody listens any more."""


class Assemble(Protocol):
    """``engine.assembly.assemble``: loads what the config names, saying what it does."""

    def __call__(
        self,
        config: RunConfig,
        *,
        emitter: Emitter,
        spans: "SpanRecorder",
        rest: Callable[[str], None],
    ) -> Decoding: ...


def main(assemble: Assemble | None = None) -> int:
    """Run the sessions that the greeting on standard input asks for; returns the exit code, the
    worst of theirs.

    Args:
        assemble: makes the decode loop; None for ``engine.assembly.Assembler``, imported (and torch
            with it) only after the connection is up, so that the caller can show what is going on;
            before it where the engine is prepared for a run that may come.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the caller too, who decides
    faulthandler.enable()
    if PREPARE in sys.argv:
        sys.argv.remove(PREPARE)
        if assemble is None:
            _import_ahead()
    greeting = _read_greeting()
    if greeting is None:
        return 0
    connection = Client(greeting.address, authkey=bytes.fromhex(greeting.authkey))
    return _Worker(connection, greeting.configs, assemble).run()


def _import_ahead() -> None:
    """All that loading a model will import. What cannot be imported is told when it is needed."""
    with contextlib.suppress(Exception):
        import engine.assembly
        import engine.models.loading  # noqa: F401


def _read_greeting() -> Greeting | None:
    """One line of standard input, which is then closed to libraries that would read it; or, where
    the program in between keeps that to itself, the file named as argument, which is removed. None
    where there is no line: nothing is to be run after all."""
    if len(sys.argv) > 1:
        path = Path(sys.argv[1])
        line = path.read_bytes()
        path.unlink()
    else:
        line = sys.stdin.buffer.readline()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return msgspec.json.decode(line, type=Greeting) if line else None


class _Worker:
    """The process: its connection, its command reader, and its sessions one after the other."""

    def __init__(
        self,
        connection: Connection,
        configs: tuple[RunConfig, ...],
        assemble: Assemble | None,
    ) -> None:
        self.connection = connection
        self.inbox: Inbox = queue.SimpleQueue()
        self.assemble = assemble
        self._configs = configs
        self._session: _Session | None = None
        self._shutdown_detail: str | None = None  # why no further session is to start
        self._is_over = threading.Event()

    def run(self) -> int:
        signal.signal(signal.SIGTERM, self._on_terminate)
        code = 0
        for config in self._configs:
            if self._shutdown_detail is not None:
                break
            is_first = self._session is None
            self._session = _Session(self, config)
            self._session.say_started()
            if is_first:
                threading.Thread(
                    target=self._read_commands, name="command-reader", daemon=True
                ).start()
            code = max(code, self._session.run())
        self._is_over.set()
        return code

    def request_shutdown(self, detail: str) -> None:
        """End the session that runs at its next resting point, and start no other."""
        self._shutdown_detail = self._shutdown_detail or detail
        if self._session is not None:
            self._session.control.request_shutdown(detail)

    def on_hang_up(self) -> None:
        self.request_shutdown("the connection is gone")
        self._interrupt()

    def _read_commands(self) -> None:
        """Pass on what is told, until the caller hangs up: then nobody needs this process."""
        try:
            while True:
                line = self.connection.recv_bytes(MAX_LINE_BYTES)
                try:
                    command = decode_command(line)
                except CodecError as error:
                    assert self._session is not None
                    self._session.say_error(f"A command could not be read: {error}")
                    continue
                if isinstance(command, Shutdown):
                    self.request_shutdown("by command")
                    self._interrupt()
                else:
                    self.inbox.put(command)
        except (EOFError, OSError):
            self.on_hang_up()
            if not self._is_over.wait(PATIENCE_S):
                os._exit(EXIT_ABANDONED)  # deep in something that cannot be interrupted

    def _interrupt(self) -> None:
        """Make the main thread run ``_on_terminate``, which ends the loading."""
        main_thread = threading.main_thread().ident
        if hasattr(signal, "pthread_kill") and main_thread is not None:
            signal.pthread_kill(main_thread, signal.SIGTERM)  # wakes it where it waits, too
        else:
            _thread.interrupt_main(signal.SIGTERM)

    def _on_terminate(self, number: int, frame: FrameType | None) -> None:
        """SIGTERM, in the main thread: stop at the next resting point, while loading at once."""
        self.request_shutdown("terminated")
        if self._session is not None and self._session.is_loading:
            raise ShutdownRequested


class _Session:
    """One session, and its end whatever happens."""

    def __init__(self, worker: _Worker, config: RunConfig) -> None:
        self.is_loading = False  # while True, a SIGTERM interrupts
        self._worker = worker
        self._config = config
        self._sink = QueueSink(worker.connection, on_broken=worker.on_hang_up)
        self._emitter = Emitter(self._sink)
        self.control = Control(self._emitter, at_commit=self._report_dropped, inbox=worker.inbox)

    def run(self) -> int:
        """Load and decode, up to ``SessionEnded``; returns the exit code."""
        ending, code = self._decode()
        self._report_dropped()
        self._emitter.say(ending)
        self._sink.close()
        return code

    def say_error(self, message: str) -> None:
        self._emitter.say(LogEmitted(level="error", message=message))

    def _decode(self) -> tuple[SessionEnded, int]:
        """Load and run; how it ended, and the exit code."""
        control = self.control
        try:
            self.is_loading = True
            control.say_state(EngineState.LOADING, "starting")
            with ExitStack() as samplers:
                if self._config.telemetry:
                    self._sample_host(samplers)
                from engine.telemetry.spans import SpanRecorder

                spans = SpanRecorder(self._emitter)
                loop = self._load(spans)
                if self._config.telemetry and loop.gpu_uuid is not None:
                    self._sample_gpu(samplers, loop.gpu_uuid)
                with spans.capture():
                    reason = control.run(loop)
            return SessionEnded(reason=reason, detail=control.shutdown_detail or ""), 0
        except ShutdownRequested:
            detail = control.shutdown_detail or ""
            control.say_state(EngineState.STOPPING, detail)
            return SessionEnded(reason=EndReason.STOPPED, detail=detail), 0
        except DeviceFull as error:
            return SessionEnded(reason=EndReason.FAILED, detail=str(error)), EXIT_CONFIG
        except Exception as error:
            if isinstance(error, ConfigError) and self.is_loading:
                return SessionEnded(reason=EndReason.FAILED, detail=str(error)), EXIT_CONFIG
            return SessionEnded(reason=EndReason.FAILED, detail=traceback.format_exc()), EXIT_FAILED
        finally:
            self.is_loading = False

    def _sample_host(self, samplers: ExitStack) -> None:
        from engine.telemetry.host_sampler import HostSampler

        samplers.enter_context(HostSampler(self._emitter))

    def _sample_gpu(self, samplers: ExitStack, cuda_uuid: str) -> None:
        from engine.telemetry.gpu_sampler import GpuSampler

        samplers.enter_context(GpuSampler(self._emitter, cuda_uuid))

    def _load(self, spans: "SpanRecorder") -> Decoding:
        worker = self._worker
        if worker.assemble is None:
            self.control.say_state(EngineState.LOADING, "importing torch")
            from engine.assembly import Assembler  # torch comes with it

            worker.assemble = Assembler()
        loop = worker.assemble(
            self._config,
            emitter=self._emitter,
            spans=spans,
            rest=self.control.rest,
        )
        self.is_loading = False
        if self.control.shutdown_detail is not None:
            raise ShutdownRequested
        return loop

    def say_started(self) -> None:
        """The first event, before anything else can speak."""
        from engine.telemetry.device_name import device_name, torch_version

        try:
            version = importlib.metadata.version("specscope")
        except importlib.metadata.PackageNotFoundError:  # run from a source tree
            version = "unknown"
        self._emitter.say(
            SessionStarted(
                schema_version=SCHEMA_VERSION,
                started_unix_ns=self._emitter.started_unix_ns,
                specscope_version=version,
                torch_version=torch_version(),
                device_name=device_name(self._config.device),
                config_json=msgspec.json.encode(self._config).decode(),
            )
        )

    def _report_dropped(self) -> None:
        self._sink.report_dropped(self._emitter.say)


if __name__ == "__main__":
    sys.exit(main())
