"""Session: one source of events, one model, and whoever else keeps or shows the events."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from engine.wire.commands import Command
from engine.wire.events import Event
from sessions.model import SessionModel
from sessions.snapshot import Snapshot
from sessions.spill import Spill
from sessions.stream import CommandTarget, EventSink, EventSource

BATCH = 1024
"""Events polled at once: a few milliseconds of folding, so that a budget is kept."""


@dataclass(frozen=True, slots=True)
class SinkError:
    """A sink that failed, and why. It is given nothing more: what it keeps ends there, instead of
    having a hole."""

    sink: str
    message: str


class NoCommandTarget(TypeError):
    """The session's source cannot be told anything: it is a recording."""


class Session:
    """Events from ``source`` to the model and to ``sinks``.

    Commands go to ``commands``, by default to the source itself if it takes any. The source and
    the sinks are the session's from now on: it closes them. ``spill`` makes the room for a model
    that may grow for hours.
    """

    def __init__(
        self,
        source: EventSource,
        sinks: Sequence[EventSink] = (),
        *,
        commands: CommandTarget | None = None,
        spill: Spill | None = None,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self.model = SessionModel(spill=spill)
        self._source = source
        self._sinks = list(sinks)
        self._running_sinks = list(sinks)
        self._send: Callable[[Command], None] | None = (
            getattr(source, "send", None) if commands is None else commands.send
        )
        self._clock = clock
        self._errors: list[SinkError] = []
        self._is_closed = False

    @property
    def errors(self) -> tuple[SinkError, ...]:
        """The sinks that have failed; to be shown."""
        return tuple(self._errors)

    @property
    def takes_commands(self) -> bool:
        return self._send is not None and not self._is_closed

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self._is_closed or self._source.exhausted

    def advance(self, budget_ms: float) -> int:
        """Take in what is due, until nothing is or the budget is spent; returns the number of
        events. At least one batch is taken. The sinks see a batch before the model does, so that
        it is recorded whatever comes of it."""
        if self._is_closed:
            return 0
        deadline_ns = self._clock() + round(budget_ms * 1e6)
        n_events = 0
        while events := self._source.poll(BATCH):
            self._hand_out(events)
            self.model.consume(events)
            n_events += len(events)
            if self._clock() >= deadline_ns:
                break
        return n_events

    def snapshot(self, t_ns: int | None = None) -> Snapshot:
        """The session as it was at ``t_ns``; as far as it was taken in, by default."""
        return self.model.snapshot(t_ns)

    def send(self, command: Command) -> None:
        """Tell the engine. Raises NoCommandTarget where there is none."""
        if self._send is None or self._is_closed:
            raise NoCommandTarget("This session is a recording or is closed: no engine listens.")
        self._send(command)

    def close(self) -> None:
        """Close the source and every sink, also those that failed; a second time does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._source.close()
        finally:
            for sink in self._sinks:
                self._guard(sink, sink.close)

    def _hand_out(self, events: Sequence[Event]) -> None:
        for sink in tuple(self._running_sinks):
            if not self._guard(sink, partial(sink.consume, events)):
                self._running_sinks.remove(sink)

    def _guard(self, sink: EventSink, act: Callable[[], None]) -> bool:
        try:
            act()
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            self._errors.append(SinkError(type(sink).__name__, message))
            return False
        return True
