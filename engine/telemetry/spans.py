"""``with recorder.span(VERIFY, Role.TARGET)``: NVTX range, host clock and, on CUDA, GPU clock."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Protocol

import msgspec
import nvtx

from engine.telemetry.emitter import Emitter
from engine.telemetry.kernel_recorder import KernelRecorder
from engine.telemetry.kernel_trace import SpanBounds
from engine.telemetry.sync_counter import SYNCS
from engine.wire.events import Role, SpansMeasured
from engine.wire.nsight import CAPTURE, DOMAIN

STEP = "step"
DRAFT = "draft"
DRAFT_FORWARD = "draft_forward"
VERIFY = "verify"
SAMPLE = "sample"
COMMIT = "commit"
PREFILL = "prefill"
SPAN_NAMES = (STEP, DRAFT, DRAFT_FORWARD, VERIFY, SAMPLE, COMMIT, PREFILL)

_COLORS = {  # red, green, blue: names would ask for a plotting library
    STEP: 0x808080,
    DRAFT: 0xE69F00,
    DRAFT_FORWARD: 0xF0E442,
    VERIFY: 0x0072B2,
    SAMPLE: 0xCC79A7,
    COMMIT: 0x009E73,
    PREFILL: 0x56B4E9,
}


class GpuTimer(Protocol):
    """Marks on the device's own clock, read when the host has waited for the device anyway."""

    def mark(self) -> Any:
        """A mark on the device's current queue of work; returns at once."""
        ...

    def hold(self, hold_ns: int) -> None:
        """Keep the device busy for at least so long, from when all before is done."""
        ...

    def read_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        """Nanoseconds between each pair of marks, which may be used again afterwards."""
        ...

    def starts_ns(self, marks: list[tuple[Any, Any]]) -> list[int | None]:
        """When each pair of marks began, on the emitter's clock; None where that is not known. To
        be read before ``read_ns``."""
        ...


class Span(msgspec.Struct, eq=False):
    """One measured stretch of the engine's work; made by ``SpanRecorder.span`` and entered once."""

    recorder: "SpanRecorder"
    name: str
    role: Role | None
    attributes: Any  # of the range
    start: int = 0  # on the emitter's raw clock
    end: int | None = None  # likewise; None while open
    gpu_start: Any = None  # marks of the recorder's timer
    gpu_end: Any = None
    n_flops: int | None = None
    n_bytes: int | None = None
    n_forwards: int = 1  # of a span that is one, or several in a graph

    def count(self, n_flops: int | None, n_bytes: int | None) -> None:
        """Note what the span's work amounts to, counted from shapes."""
        self.n_flops = n_flops
        self.n_bytes = n_bytes

    def __enter__(self) -> "Span":
        recorder = self.recorder
        try:
            recorder.push_range(self.attributes)
            recorder.opened.append(self)
            if recorder.gpu_timer is not None:
                self.gpu_start = recorder.gpu_timer.mark()
            recorder.spans.append(self)
            self.start = recorder.clock()
        except BaseException:
            recorder.forget(self)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        recorder = self.recorder
        try:
            if recorder.gpu_timer is not None:
                self.gpu_end = recorder.gpu_timer.mark()
        finally:
            self.end = recorder.clock()
            while (inner := recorder.opened.pop()) is not self:
                recorder.pop_range()  # interrupted on its way out, before it could do this itself
                inner.end = self.end
            recorder.pop_range()


class SpanRecorder:
    """Opens spans and says what they measured, once a step. For the decoding thread alone.

    Every range that is pushed is popped, whatever leaves the span: a return, an exception, an
    interrupt. Ranges reach a profiler when it was attached before the recorder was made, as
    profilers that start the program do; without one a span costs two readings of the clock.

    Args:
        emitter: whose clock the spans are on, and who says ``SpansMeasured``.
        gpu_timer: the device's clock; None on a CPU.
    """

    def __init__(self, emitter: Emitter, *, gpu_timer: GpuTimer | None = None) -> None:
        domain = nvtx.get_domain(DOMAIN)
        self._domain = domain
        self._emitter = emitter
        self._attributes = {
            name: domain.get_event_attributes(message=name, color=color)
            for name, color in _COLORS.items()
        }
        self.push_range = domain.push_range
        self.pop_range = domain.pop_range
        self.now_ns = emitter.now_ns
        self.clock = emitter.clock
        self.gpu_timer = gpu_timer
        self.kernels: KernelRecorder | None = None
        self.opened: list[Span] = []  # innermost last
        self.spans: list[Span] = []  # since the last flush, in the order opened
        self._is_held_up = False

    def span(self, name: str, role: Role | None = None) -> Span:
        """A span to enter with ``with``; ``name`` is one of ``SPAN_NAMES``, else KeyError."""
        if name == STEP:
            self._is_held_up = False
            if self.kernels is not None:
                self.kernels.begin_step()
        return Span(self, name, role, self._attributes[name])

    @contextmanager
    def capture(self) -> Iterator[None]:
        """The start/end range that a profiler is told to capture: all of a session's decoding. It
        is no span, and on no stack of ranges."""
        opened = self._domain.start_range(self._domain.get_event_attributes(message=CAPTURE))
        try:
            yield
        finally:
            self._domain.end_range(opened)

    @property
    def is_slowed(self) -> bool:
        """Whether the time of the step that runs is no measure: its kernels are being recorded, or
        it was held up."""
        return self._is_held_up or (self.kernels is not None and self.kernels.is_recording)

    def hold_up(self) -> None:
        """The step that runs does what others do not, such as capturing a graph."""
        self._is_held_up = True

    def flush(self, step: int) -> None:
        """Say ``SpansMeasured`` for the spans closed since the last flush, and forget them; then
        ``KernelsRecorded`` if the step was recorded.

        To be called after the step's own span has closed, when the host has waited for the device.
        A span that is still open stays for the next flush: its length is not known yet. Says
        nothing when there is nothing to say.
        """
        closed = [span for span in self.spans if span.end is not None]
        self.spans = [span for span in self.spans if span.end is None]
        if closed:
            self._say(step, closed)
        if self.kernels is not None:
            zero = self._emitter.start_ns
            bounds = [SpanBounds(span.start - zero, (span.end or 0) - zero) for span in closed]
            self.kernels.end_step(step, bounds)

    def _say(self, step: int, closed: list[Span]) -> None:
        zero = self._emitter.start_ns
        gpu_start_ns, gpu_ns = self._read_gpu(closed)
        self._emitter.say(
            SpansMeasured(
                step=step,
                names=tuple([span.name for span in closed]),
                roles=tuple([span.role for span in closed]),
                start_ns=tuple([span.start - zero for span in closed]),
                host_ns=tuple([(span.end or 0) - span.start for span in closed]),
                gpu_ns=gpu_ns,
                n_flops=tuple([span.n_flops for span in closed]),
                n_bytes=tuple([span.n_bytes for span in closed]),
                n_forwards=(
                    tuple([span.n_forwards for span in closed])
                    if any(span.n_forwards != 1 for span in closed)
                    else ()
                ),
                gpu_start_ns=gpu_start_ns,
                n_syncs=None if self.gpu_timer is None else SYNCS.take(),
            )
        )

    def forget(self, span: Span) -> None:
        """Take back a span that could not be entered: its range, and its place."""
        self.pop_range()
        for spans in (self.opened, self.spans):
            if spans and spans[-1] is span:
                spans.pop()

    def _read_gpu(
        self, closed: list[Span]
    ) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
        """When the spans began on the device, where any of that is known, and for how long."""
        if self.gpu_timer is None:
            return (), (None,) * len(closed)
        # A span whose end could not be marked has no GPU time.
        are_marked = [span.gpu_end is not None for span in closed]
        marks = [(s.gpu_start, s.gpu_end) for s, ok in zip(closed, are_marked, strict=True) if ok]
        starts = iter(self.gpu_timer.starts_ns(marks))
        elapsed = iter(self.gpu_timer.read_ns(marks))
        gpu_start_ns = tuple([next(starts) if is_marked else None for is_marked in are_marked])
        gpu_ns = tuple([next(elapsed) if is_marked else None for is_marked in are_marked])
        has_starts = any(start is not None for start in gpu_start_ns)
        return (gpu_start_ns if has_starts else ()), gpu_ns
