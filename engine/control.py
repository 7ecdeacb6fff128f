"""What the engine has been told, and whether it may go on: pause, step, stop, and the rest."""

import queue
from collections.abc import Callable
from typing import Protocol

from engine.telemetry.emitter import Emitter
from engine.wire.commands import (
    CloseQueue,
    Command,
    Pause,
    RecordKernels,
    Resume,
    SetGamma,
    SetSampling,
    Shutdown,
    StepOnce,
    StopSequence,
    SubmitPrompt,
)
from engine.wire.config import ConfigError, check_gamma, check_sampling
from engine.wire.events import EndReason, EngineState, EngineStateChanged, LogEmitted

Inbox = queue.SimpleQueue[Command]
"""Commands in the order told."""

_ASKED: dict[type[Command], str] = {
    SubmitPrompt: "The prompt",
    SetGamma: "The gamma",
    SetSampling: "The sampling",
    RecordKernels: "The recording of kernels",
    StopSequence: "The stop",
}
"""What a person asked for with a command, where that may be refused."""


class Decoding(Protocol):
    """What is driven: ``engine.decode_loop.DecodeLoop``."""

    @property
    def has_work(self) -> bool: ...
    @property
    def gpu_uuid(self) -> str | None: ...  # of the CUDA device that decodes; None on a CPU
    def submit(self, command: SubmitPrompt) -> int: ...
    def set_gamma(self, gamma: int | str) -> None: ...
    def set_sampling(self, temperature: float, *, top_k: int, top_p: float) -> None: ...
    def record_kernels(self, n_steps: int) -> None: ...
    def stop(self, sequence_id: int) -> None: ...
    def step(self) -> None: ...
    def abandon(self) -> None: ...


class ShutdownRequested(BaseException):
    """Ends a step between its draft and its verification, or the loading.

    Like KeyboardInterrupt no ``Exception``: what a library catches must not keep the engine alive.
    """


class DeviceFull(RuntimeError):
    """The device has no memory left for a step. The message is a sentence: what to change."""


class Control:
    """What the engine has been told, and whether it may go on.

    ``tell`` and ``request_shutdown`` may be called from any thread and from a signal handler; the
    rest belongs to the decoding thread.
    """

    def __init__(
        self,
        emitter: Emitter,
        *,
        at_commit: Callable[[], None] = lambda: None,
        inbox: Inbox | None = None,
    ) -> None:
        """``at_commit`` is called whenever a step has been committed; ``inbox`` holds what has been
        told and outlives this session, for the one that follows."""
        self._emitter = emitter
        self._at_commit = at_commit
        self._commands: Inbox = queue.SimpleQueue() if inbox is None else inbox
        self._deferred: list[Command] = []  # told between draft and verification, for the commit
        self._loop: Decoding | None = None
        self._state: EngineState | None = None
        self._is_paused = False
        self._rests_next = False  # StepOnce: pause at the next resting point
        self._is_queue_closed = False
        self.shutdown_detail: str | None = None  # why the engine is to stop; None: it is not

    # --- from any thread -------------------------------------------------------------------------

    def tell(self, command: Command) -> None:
        if isinstance(command, Shutdown):
            self.request_shutdown("by command")
        else:
            self._commands.put(command)

    def request_shutdown(self, detail: str) -> None:
        """Stop at the next resting point, before anything else that waits."""
        if self.shutdown_detail is None:
            self.shutdown_detail = detail
        self._commands.put(Shutdown())  # wakes who waits

    # --- the decoding thread ---------------------------------------------------------------------

    def say_state(self, state: EngineState, detail: str = "") -> None:
        """Say a change of state; nothing when it is none (loading has many details)."""
        if state is not self._state or state is EngineState.LOADING:
            self._state = state
            self._emitter.say(EngineStateChanged(state=state, detail=detail))

    def run(self, loop: Decoding) -> EndReason:
        """Decode until the queue is closed and all is done, or until a shutdown."""
        self._loop = loop
        try:
            while self._await_work(loop):
                self.say_state(EngineState.RUNNING)
                loop.step()
        except ShutdownRequested:
            pass
        if self.shutdown_detail is None:
            return EndReason.FINISHED
        self.say_state(EngineState.STOPPING, self.shutdown_detail)
        loop.abandon()
        return EndReason.STOPPED

    def rest(self, point: str) -> None:
        """The loop's resting point, "draft" or "commit": obey, and block here while paused; or
        "capture", between two captures, where the engine can stop and nothing else.

        Raises:
            ShutdownRequested: when the engine is to stop; at "commit" ``run`` sees to it.
        """
        if point == "capture":
            if self.shutdown_detail is not None:
                raise ShutdownRequested
            return
        is_commit = point == "commit"
        if is_commit:
            self._at_commit()
        if self._rests_next:
            self._rests_next, self._is_paused = False, True
            # Said before anything that waits is obeyed: the next step may be told already.
            self.say_state(EngineState.PAUSED, f"after the {point}")
        self._obey_waiting(is_commit)
        while self._is_paused and self.shutdown_detail is None:
            self.say_state(EngineState.PAUSED, f"after the {point}")
            self._obey(self._commands.get(), is_commit)
        if self.shutdown_detail is None:
            self.say_state(EngineState.RUNNING)
        elif not is_commit:
            raise ShutdownRequested

    def _await_work(self, loop: Decoding) -> bool:
        """Obey until there is something to decode; False when the session is over."""
        while True:
            self._obey_waiting(True)
            if self.shutdown_detail is not None:
                return False
            if not self._is_paused and (loop.has_work or self._is_queue_closed):
                return loop.has_work
            self.say_state(EngineState.PAUSED if self._is_paused else EngineState.READY)
            self._obey(self._commands.get(), True)

    def _obey_waiting(self, is_commit: bool) -> None:
        """Obey what waits, up to a StepOnce: what was told after that is for the next point."""
        if is_commit:
            deferred, self._deferred = self._deferred, []
            for command in deferred:
                self._apply(command)
        while not self._rests_next and not self._commands.empty():
            self._obey(self._commands.get(), is_commit)

    def _obey(self, command: Command, is_commit: bool) -> None:
        assert self._loop is not None
        match command:
            case Pause():
                self._is_paused = True
            case Resume():
                self._is_paused = False
            case StepOnce():
                self._rests_next = self._loop.has_work
                self._is_paused = not self._rests_next
            case Shutdown():
                pass  # only wakes: shutdown_detail is set
            case _ if is_commit:
                self._apply(command)
            case _:
                self._deferred.append(command)

    def _apply(self, command: Command) -> None:
        """Change the batch; what cannot be done is answered with an error and changes nothing."""
        loop = self._loop
        assert loop is not None
        try:
            match command:
                case SubmitPrompt():
                    self._check_prompt(command)
                    loop.submit(command)
                case CloseQueue():
                    self._is_queue_closed = True
                case SetGamma():
                    check_gamma(command.gamma)
                    loop.set_gamma(command.gamma)
                case SetSampling():
                    check_sampling(command.temperature, command.top_k, command.top_p)
                    loop.set_sampling(command.temperature, top_k=command.top_k, top_p=command.top_p)
                case RecordKernels():
                    loop.record_kernels(command.n_steps)
                case StopSequence():
                    loop.stop(command.sequence_id)
        except (ValueError, LookupError) as error:
            message = f"{_ASKED.get(type(command), 'A command')} was refused: {error}"
            self._emitter.say(LogEmitted(level="error", message=message))

    def _check_prompt(self, command: SubmitPrompt) -> None:
        if self._is_queue_closed:
            raise ConfigError("the queue was closed: start another session for more prompts.")
        if command.max_new_tokens is not None and command.max_new_tokens < 1:
            raise ConfigError(f"max new tokens is {command.max_new_tokens}: give 1 or more.")
