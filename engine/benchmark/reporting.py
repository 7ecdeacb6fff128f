"""What becomes of all that an engine says of itself, and what it measures of itself: to be switched
on and off between two runs. Events are made in every way, since the engine's loop makes them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

from engine.telemetry.cuda_timer import CudaTimer
from engine.telemetry.emitter import Emitter
from engine.telemetry.gpu_sampler import GpuSampler
from engine.telemetry.host_sampler import HostSampler
from engine.telemetry.queue_sink import QueueSink
from engine.telemetry.spans import GpuTimer, Span, SpanRecorder
from engine.wire.codec import encode
from engine.wire.events import Event


class SwitchedSink:
    """Hands each event to ``take``, or drops it where that is None."""

    def __init__(self) -> None:
        self.take: Callable[[Event], None] | None = None

    def __call__(self, event: Event) -> None:
        if self.take is not None:
            self.take(event)


class EventFile:
    """Lines of events in a file, counted: written one by one, or as messages of several, in place
    of a connection."""

    def __init__(self, file: Any) -> None:
        self.n_bytes = 0
        self.n_events = 0
        self._file = file

    def write(self, event: Event) -> None:
        self._put(encode(event) + b"\n")

    def send_bytes(self, buf: bytes, /) -> None:
        self._put(buf + b"\n")

    def _put(self, lines: bytes) -> None:
        self._file.write(lines)
        self.n_bytes += len(lines)
        self.n_events += lines.count(b"\n")


class _NoSpan:
    """Stands for a span of which nothing is to be known."""

    n_forwards = 1

    def count(self, n_flops: int | None, n_bytes: int | None) -> None:
        """Nothing is noted."""

    def __enter__(self) -> "_NoSpan":
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing was opened."""


class SwitchedSpans(SpanRecorder):
    """Spans while ``is_on``; else no range is opened and no clock is read for any."""

    is_on = True
    _nothing = _NoSpan()

    def span(self, name: str, role: Any = None) -> Span:
        return super().span(name, role) if self.is_on else cast(Span, self._nothing)

    def flush(self, step: int) -> None:
        if self.is_on:
            super().flush(step)


class Reporting:
    """The emitter and the spans of one engine, and what becomes of them; silent at first."""

    def __init__(self, file: Any) -> None:
        self.events = EventFile(file)
        self._sink = SwitchedSink()
        self.emitter = Emitter(self._sink)
        self.spans = SwitchedSpans(self.emitter)
        self.spans.is_on = False
        self._timer: GpuTimer | None = None

    @contextmanager
    def silent(self) -> Iterator[None]:
        """No spans, no samples; events are made and dropped."""
        yield

    @contextmanager
    def dropped(self) -> Iterator[None]:
        """Spans on the host's clock; events are made and dropped."""
        self.spans.is_on = True
        try:
            yield
        finally:
            self.spans.is_on = False

    @contextmanager
    def written(self) -> Iterator[None]:
        """The same, each event encoded and written by the decoding thread itself. The worker leaves
        both to another thread, so this is the most that they can cost."""
        with self.dropped():
            self._sink.take = self.events.write
            try:
                yield
            finally:
                self._sink.take = None

    @contextmanager
    def everything(self, *, gpu_uuid: str | None, has_samplers: bool = True) -> Iterator[None]:
        """What the worker does: spans with their ranges and, where ``gpu_uuid`` names a device of
        CUDA, on its clock; samples of the host and of the device; events encoded and sent by a
        thread, to a file in place of the connection. What is not sent yet when the way ends is sent
        then."""
        queue = QueueSink(self.events)
        with ExitStack() as undone:
            undone.callback(queue.close)
            undone.enter_context(self.dropped())
            undone.callback(setattr, self._sink, "take", None)
            self._sink.take = queue
            if gpu_uuid is not None:
                undone.callback(setattr, self.spans, "gpu_timer", None)
                self.spans.gpu_timer = self._cuda_timer()
            if has_samplers:
                undone.enter_context(HostSampler(self.emitter))
                if gpu_uuid is not None:
                    undone.enter_context(GpuSampler(self.emitter, gpu_uuid))
            yield

    def _cuda_timer(self) -> GpuTimer:
        if self._timer is None:
            timer = CudaTimer(self.emitter.now_ns)
            timer.align()
            self._timer = timer
        return self._timer
