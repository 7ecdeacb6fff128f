"""Session files for tests: a scripted stream, and a file that holds it."""

from collections.abc import Iterable
from pathlib import Path

from engine.wire.codec import encode
from engine.wire.events import Event
from sessions.session_file import SessionFile
from tests.support.event_script import EventScript


def script(n_steps: int = 20, *, end: bool = True) -> list[Event]:
    """One sequence of ``n_steps`` steps, with or without the session's farewell."""
    told = EventScript(n_blocks=max(64, n_steps))
    told.sequence(max_new_tokens=4 * n_steps + 1)
    for _ in range(n_steps):
        told.step()
    if end:
        told.finish()
    return told.events


def lines(events: Iterable[Event]) -> list[tuple[Event, bytes]]:
    """Events beside their lines, as ``SessionFile.append`` takes them."""
    return [(event, encode(event)) for event in events]


def record(path: Path, events: Iterable[Event], *, figures: dict[str, float] | None = None) -> Path:
    """A session file of ``events`` that was closed in order."""
    with SessionFile.create(path) as file:
        file.append(lines(events))
        file.set_end({} if figures is None else figures)
    return path


def stored(path: Path) -> list[Event]:
    """All events of a session file."""
    with SessionFile.open(path) as file:
        return list(file.events())
