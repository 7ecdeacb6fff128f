"""Recorded sessions for the commands that read them."""

from pathlib import Path

from engine.wire.events import Event
from sessions.library import Library
from sessions.metrics.summary import summarise
from sessions.recorder import Recorder
from tests.sessions.scripted import folded, with_settings
from tests.support.event_script import EventScript


def record(*, name: str = "", draft: str = "small", accepted: int = 2) -> tuple[Path, list[Event]]:
    """A session of two steps in the library, which is the test's own (``data_folder``)."""
    script = EventScript()
    script.sequence("ab")
    for _ in range(2):
        drafted = 0 if draft == "none" else 2
        script.step(drafted=drafted, accepted=min(drafted, accepted), text="xy"[:drafted])
    script.finish()
    events = with_settings(script.events, draft=draft, gamma=2, batch=1)
    library = Library()
    path = library.new_path("scripted", draft)
    recorder = Recorder(path, summarise=lambda: summarise(folded(events)))
    recorder.consume(events)
    recorder.close()
    if name:
        library.rename(path, name)
    return path, events
