"""Carries events from the engine to its reader through a queue, so that the engine never waits."""

import queue
import threading
from collections import Counter
from collections.abc import Callable
from typing import Protocol

from engine.wire.codec import encode
from engine.wire.events import (
    Event,
    EventsDropped,
    GpuSampled,
    HostSampled,
    KernelsRecorded,
    SpansMeasured,
)

DROPPABLE = (SpansMeasured, HostSampled, GpuSampled, KernelsRecorded)
"""Measurements: what may be lost when memory runs short. All else is kept, whatever the limit."""

MAX_WAITING = 100_000
"""Waiting events above which measurements are dropped: some 100 MB."""

BATCH_BYTES = 256 * 1024
LINGER_S = 0.002
"""The sender waits this long for more after the first event: one message a step, not eight."""


class Sending(Protocol):
    """The end of a connection that events leave by."""

    def send_bytes(self, buf: bytes, /) -> None: ...


class QueueSink:
    """A sink for ``Emitter``: a queue, and a thread that encodes and sends what is in it.

    Several events go into one message, one line of JSON each. When the other side is gone,
    ``on_broken`` is called once, from the sender's thread, and nothing more is sent.
    """

    def __init__(
        self,
        connection: Sending,
        *,
        max_waiting: int = MAX_WAITING,
        on_broken: Callable[[], None] = lambda: None,
    ) -> None:
        self._connection = connection
        self._max_waiting = max_waiting
        self._on_broken = on_broken
        self._waiting: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._dropped: Counter[str] = Counter()
        self._dropped_lock = threading.Lock()
        self._closing = threading.Event()
        self._is_broken = False
        self._sender = threading.Thread(target=self._send_all, name="event-sender", daemon=True)
        self._sender.start()

    def __call__(self, event: Event) -> None:
        """Queue one event, or count it as dropped. Never waits."""
        if self._is_broken:
            return
        if isinstance(event, DROPPABLE) and self._waiting.qsize() >= self._max_waiting:
            with self._dropped_lock:
                self._dropped[type(event).__name__] += 1
            return
        self._waiting.put(event)

    def report_dropped(self, say: Callable[[Event], None]) -> None:
        """Say ``EventsDropped`` through ``say`` if anything was dropped since the last report.

        To be called by the engine between steps and before the farewell, not from within a sink.
        """
        if not self._dropped:
            return
        with self._dropped_lock:
            dropped, self._dropped = self._dropped, Counter()
        say(EventsDropped(n_events=dropped.total(), kinds=tuple(sorted(dropped))))

    def close(self, *, timeout_s: float = 5.0) -> bool:
        """Send what is waiting, end the thread. False when the reader did not take it in time."""
        self._closing.set()
        self._waiting.put(None)
        self._sender.join(timeout_s)
        return not self._sender.is_alive()

    def _send_all(self) -> None:
        try:
            while (lines := self._take_batch()) is not None:
                self._connection.send_bytes(b"\n".join(lines))
        except OSError:
            self._break_off()  # the reader is gone
        except BaseException:
            self._break_off()  # an event that cannot be encoded: a stream with a hole is no stream
            raise

    def _break_off(self) -> None:
        self._is_broken = True
        self._on_broken()

    def _take_batch(self) -> list[bytes] | None:
        """Wait for events and encode what has come together; None when closed and all is sent."""
        event = self._waiting.get()
        if event is None:
            return None
        self._closing.wait(LINGER_S)
        lines = [encode(event)]
        n_bytes = len(lines[0])
        while n_bytes < BATCH_BYTES and not self._waiting.empty():
            event = self._waiting.get()
            if event is None:
                self._waiting.put(None)  # closed: for the next call
                break
            lines.append(encode(event))
            n_bytes += len(lines[-1])
        return lines
