"""Records the kernels of chosen steps through torch.profiler; on a CPU, the operators."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from engine.telemetry.emitter import Emitter
from engine.telemetry.kernel_trace import (
    ANCHOR,
    Bracket,
    SpanBounds,
    TraceEvent,
    kernels_of,
    kind_of,
)
from engine.wire.config import MAX_RECORDED_STEPS, ConfigError
from engine.wire.events import LogEmitted

N_ANCHORS = 4
"""Ranges of known time at either end of a trace, by which the clocks are aligned: microseconds."""

STAYS_ATTACHED = (
    "The profiler stays attached to CUDA when a recording has ended: later steps may be slower "
    "than they were before the first. Compare speeds of runs in which nothing was recorded."
)

_INJECTIONS = ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
"""Set by a profiler for the programs it starts. CUPTI serves one at a time."""


class Trace(Protocol):
    """A profiler for one stretch of work."""

    def start(self) -> None: ...
    def anchor(self) -> None: ...  # opens and closes a range named ``ANCHOR``
    def stop(self) -> list[TraceEvent]: ...


class KernelRecorder:
    """Chooses steps, opens a trace around each, and says what it held. For the decoding thread.

    A trace slows its step down: such a step is marked (``StepCommitted.is_profiled``), and how long
    opening, closing and reading the trace took is told in ``KernelsRecorded``.

    Whatever a profiler raises ends the recording, with one ``LogEmitted``, and never the run: its
    calls and events differ from one torch to the next, and it fails by assertions too.
    """

    def __init__(
        self,
        emitter: Emitter,
        *,
        is_cuda: bool,
        every: int = 0,
        make_trace: Callable[[bool], Trace] | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """
        Args:
            every: record every so many steps; 0 for those asked for alone.
            make_trace: given whether CUDA is traced; None for torch's profiler.
        """
        self._emitter = emitter
        self._is_cuda = is_cuda
        self._make_trace = make_trace or TorchTrace
        self._every = every
        self._refusal = _refusal(environment) if is_cuda else ""
        self._n_asked = 0  # steps still to record, one after the other
        self._n_steps = 0
        self._trace: Trace | None = None
        self._brackets: list[Bracket] = []
        self._cost_ns = 0
        self._is_warm = False
        self._has_told_of_none = False
        if every and self._refusal:
            self._give_up(self._refusal)

    @property
    def is_recording(self) -> bool:
        """Whether a trace is open: within a step that is recorded."""
        return self._trace is not None

    def record(self, n_steps: int) -> None:
        """Record the next ``n_steps`` steps; 0 takes back what was asked for.

        Raises:
            ConfigError: out of range, or kernels cannot be recorded here.
        """
        if not 0 <= n_steps <= MAX_RECORDED_STEPS:
            raise ConfigError(f"steps to record is {n_steps}: give 0 to {MAX_RECORDED_STEPS}.")
        if n_steps and self._refusal:
            raise ConfigError(self._refusal)
        self._n_asked = n_steps

    def begin_step(self) -> None:
        """Open a trace if the step that begins is to be recorded."""
        self._n_steps += 1
        is_due = self._n_asked > 0 or (self._every > 0 and self._n_steps % self._every == 0)
        if not is_due or self._refusal:
            return
        self._n_asked = max(0, self._n_asked - 1)
        started_ns = self._emitter.now_ns()
        self._brackets = []
        trace = None
        try:
            if not self._is_warm:
                self._warm_up()
            trace = self._make_trace(self._is_cuda)
            trace.start()
            self._anchor(trace)
        except Exception as error:
            if trace is not None:
                with suppress(Exception):  # it may have been opened, or not
                    trace.stop()
            self._give_up(_failure(error))
            return
        self._trace = trace
        self._cost_ns = self._emitter.now_ns() - started_ns

    def end_step(self, step: int, spans: Sequence[SpanBounds]) -> None:
        """Close the trace, if one is open, and say what it held.

        Args:
            spans: the step's, in the order of ``SpansMeasured``, ns since the session's start.
        """
        trace, self._trace = self._trace, None
        if trace is None:
            return
        started_ns = self._emitter.now_ns()
        try:
            try:
                self._anchor(trace)
            finally:
                events = trace.stop()  # left open it would slow down all that follows
            cost_ns = self._cost_ns + self._emitter.now_ns() - started_ns
            recorded = kernels_of(
                step,
                events,
                spans,
                brackets=self._brackets,
                is_cuda=self._is_cuda,
                recording_ns=cost_ns,
            )
        except Exception as error:
            self._give_up(_failure(error))
            return
        self._emitter.say(recorded)
        if self._is_cuda and not recorded.names and not self._has_told_of_none:
            self._has_told_of_none = True
            self._emitter.say(LogEmitted(level="warning", message=_none_of(step)))

    def _warm_up(self) -> None:
        """A profiler's first trace can take seconds: it is not a step's."""
        self._is_warm = True
        trace = self._make_trace(self._is_cuda)
        trace.start()
        trace.stop()
        if self._is_cuda:
            self._emitter.say(LogEmitted(level="info", message=STAYS_ATTACHED))

    def _anchor(self, trace: Trace) -> None:
        for _ in range(N_ANCHORS):
            before_ns = self._emitter.now_ns()
            trace.anchor()
            self._brackets.append(Bracket(before_ns, self._emitter.now_ns()))

    def _give_up(self, why: str) -> None:
        """Once, for the rest of the session."""
        self._refusal = why
        self._n_asked = 0
        self._emitter.say(LogEmitted(level="warning", message=why))


class TorchTrace:
    """torch.profiler over one stretch; of its results only Kineto's own events are used, which
    have nanoseconds and correlations."""

    def __init__(self, is_cuda: bool) -> None:
        import torch

        self._torch: Any = torch
        self._is_cuda = is_cuda
        activity = torch.profiler.ProfilerActivity
        activities = [activity.CPU, activity.CUDA] if is_cuda else [activity.CPU]
        self._profile: Any = torch.profiler.profile(activities=activities)

    def start(self) -> None:
        if self._is_cuda:
            self._torch.cuda.synchronize()  # what was launched before is not this stretch's
        self._profile.start()

    def anchor(self) -> None:
        with self._torch.profiler.record_function(ANCHOR):
            pass

    def stop(self) -> list[TraceEvent]:
        try:
            if self._is_cuda:
                self._torch.cuda.synchronize()
        finally:
            self._profile.stop()
        events = self._profile.profiler.kineto_results.events()
        return [_trace_event(event) for event in events if not _is_hidden(event)]


def _is_hidden(event: Any) -> bool:
    """Whether the profiler wants an event left out, where its events tell that."""
    tell = getattr(event, "is_hidden_event", None)
    return tell is not None and bool(tell())


def _trace_event(event: Any) -> TraceEvent:
    """One of Kineto's events. Its kind is told by torch's newer releases only."""
    name, tell = event.name(), getattr(event, "activity_type", None)
    if tell is None:
        kind = kind_of(event.device_type().name, event.is_user_annotation(), name)
    else:
        kind = tell()
    return TraceEvent(
        name=name,
        kind=kind,
        stream=event.device_resource_id(),
        thread=event.start_thread_id(),
        start_ns=event.start_ns(),
        duration_ns=event.duration_ns(),
        correlation=event.correlation_id(),
        operator=event.linked_correlation_id(),
    )


def _failure(error: Exception) -> str:
    """In a sentence what was raised; some of a profiler's assertions have no words."""
    return f"Kernels cannot be recorded: {str(error) or type(error).__name__}"


def _none_of(step: int) -> str:
    return (
        f"No kernel was recorded in step {step}: if the step ran on the device, torch's profiler "
        "could not use CUPTI, as where another profiler uses it already."
    )


def _refusal(environment: Mapping[str, str]) -> str:
    attached = [name for name in _INJECTIONS if environment.get(name)]
    if not attached:
        return ""
    return (
        f"Kernels are not recorded: another profiler is attached ({', '.join(attached)} is set), "
        "and CUPTI serves one at a time."
    )
