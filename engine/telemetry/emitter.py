"""Stamps every event with its ordinal and its time, under one lock, and hands it to the sink."""

import threading
import time
from collections.abc import Callable

from msgspec.structs import force_setattr

from engine.wire.events import Event


class Emitter:
    """The only clock and the only counter of a session; any thread may speak through it.

    ``ordinal`` and ``t_ns`` are stamped under the same lock that hands the event on, so a sink sees
    ordinals 0, 1, 2, ... with times that never decrease. A sink is called while the lock is held:
    it must be quick, must not wait for a reader, and must not speak itself.

    Events are frozen, and the stamp writes past that (``force_setattr``). This is safe because it
    happens once, before anybody but the speaker has seen the event: no reader can have hashed,
    compared or encoded it. Saying an event twice is therefore refused.

    Args:
        sink: takes each event, in order.
        clock: monotonic nanoseconds.

    Attributes:
        clock: the clock given.
        start_ns: its reading at the start; ``t_ns`` counts from there.
        started_unix_ns: the wall clock at the same moment, nanoseconds since 1970.
    """

    __slots__ = ("_lock", "_next_ordinal", "_sink", "clock", "start_ns", "started_unix_ns")

    def __init__(
        self, sink: Callable[[Event], None], *, clock: Callable[[], int] = time.perf_counter_ns
    ) -> None:
        self._sink = sink
        self.clock = clock
        self._lock = threading.Lock()
        self._next_ordinal = 0
        self.started_unix_ns = time.time_ns()
        self.start_ns = clock()

    def now_ns(self) -> int:
        """Nanoseconds since the emitter's start: the clock of ``t_ns``."""
        return self.clock() - self.start_ns

    def say(self, event: Event) -> None:
        """Stamp ``event`` and hand it to the sink.

        Raises:
            ValueError: when the event was already said.
        """
        if event.ordinal != -1:
            raise ValueError(f"{type(event).__name__} was already said, as number {event.ordinal}")
        with self._lock:
            force_setattr(event, "ordinal", self._next_ordinal)
            force_setattr(event, "t_ns", self.clock() - self.start_ns)
            self._next_ordinal += 1
            self._sink(event)
