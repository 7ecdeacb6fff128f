"""Changes one thing in a stream, so that a test can see a rule fire."""

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec.structs import replace

from engine.wire.events import Event

Kind = TypeVar("Kind", bound=Any)


def change(events: list[Event], kind: type[Any], *, nth: int = 0, **fields: Any) -> list[Event]:
    """The stream with fields of its ``nth`` event of a kind replaced; -1 is the last.

    A field's new value may be a function of the old one.
    """
    index = place(events, kind, nth=nth)
    old = events[index]
    new = {
        name: value(getattr(old, name)) if isinstance(value, Callable) else value  # type: ignore[arg-type]
        for name, value in fields.items()
    }
    return [*events[:index], replace(old, **new), *events[index + 1 :]]


def remove(events: list[Event], kind: type[Any], *, nth: int = 0) -> list[Event]:
    """The stream without one event, renumbered."""
    index = place(events, kind, nth=nth)
    return renumbered([*events[:index], *events[index + 1 :]])


def insert(events: list[Event], event: Event, *, at: int) -> list[Event]:
    """The stream with ``event`` at an index, renumbered."""
    return renumbered([*events[:at], event, *events[at:]])


def swap(events: list[Event], first: int, second: int) -> list[Event]:
    """The stream with two events in each other's place, renumbered."""
    changed = list(events)
    changed[first], changed[second] = changed[second], changed[first]
    return renumbered(changed)


def place(events: list[Event], kind: type[Any], *, nth: int = 0) -> int:
    """The index of the ``nth`` event of a kind."""
    return [index for index, event in enumerate(events) if type(event) is kind][nth]


def renumbered(events: list[Event]) -> list[Event]:
    """Ordinals 0, 1, 2, ... and times that never decrease, everything else as it was."""
    t_ns = 0
    stamped: list[Event] = []
    for ordinal, event in enumerate(events):
        t_ns = max(t_ns, event.t_ns)
        stamped.append(replace(event, ordinal=ordinal, t_ns=t_ns))
    return stamped
