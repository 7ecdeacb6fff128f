"""Scripted sessions of known speed, for what compares them."""

import json

from msgspec.structs import replace

from engine.wire.events import Event, SessionStarted
from sessions.model import SessionModel
from sessions.snapshot import Snapshot
from tests.support.event_script import EventScript


def folded(events: list[Event]) -> Snapshot:
    model = SessionModel()
    model.consume(events)
    return model.snapshot()


def with_settings(events: list[Event], **settings: object) -> list[Event]:
    """The same stream, started with these settings."""
    started = events[0]
    assert isinstance(started, SessionStarted)
    return [replace(started, config_json=json.dumps(settings)), *events[1:]]


def speculative(prompts: tuple[str, ...] = ("ab", "cd"), *, text: str = "xy") -> Snapshot:
    """Each prompt: two steps that draft two and accept both; five milliseconds and more a step."""
    script = EventScript()
    for prompt in prompts:
        sequence_id = script.sequence(prompt)
        for _ in range(2):
            script.step(sequence_id, drafted=2, accepted=2, text=text)
        script.finish_sequence(sequence_id)
    script.finish()
    return folded(with_settings(script.events, draft="small", gamma=2))


def baseline(prompts: tuple[str, ...] = ("ab", "cd")) -> Snapshot:
    """Each prompt: six plain steps."""
    script = EventScript()
    for prompt in prompts:
        sequence_id = script.sequence(prompt)
        for _ in range(6):
            script.step(sequence_id, drafted=0, accepted=0)
        script.finish_sequence(sequence_id)
    script.finish()
    return folded(with_settings(script.events, draft="none", gamma=2))
