"""How events travel: from a source, to sinks; and commands the other way."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from engine.wire.commands import Command
from engine.wire.events import Event


class EventSource(Protocol):
    """Where events come from: a running engine, a file, a list."""

    def poll(self, limit: int) -> Sequence[Event]:
        """Up to ``limit`` events, oldest first; empty when nothing is due. Never blocks."""
        ...

    @property
    def exhausted(self) -> bool:
        """Whether nothing more will ever come."""
        ...

    def close(self) -> None: ...


class EventSink(Protocol):
    """Whatever keeps or shows events."""

    def consume(self, events: Sequence[Event]) -> None: ...

    def close(self) -> None: ...


class CommandTarget(Protocol):
    """Whoever can be told something: a running engine."""

    def send(self, command: Command) -> None: ...


class ListSource:
    """Events that are all there already: the simplest source."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._events = list(events)
        self._n_given = 0

    def poll(self, limit: int) -> Sequence[Event]:
        events = self._events[self._n_given : self._n_given + limit]
        self._n_given += len(events)
        return events

    @property
    def exhausted(self) -> bool:
        return self._n_given == len(self._events)

    def close(self) -> None:
        self._n_given = len(self._events)
