"""A run's readers: the model, the file of lines, the recording."""

from pathlib import Path

import click
import pytest

from engine.wire.codec import decode_event
from engine.wire.events import Event, LogEmitted
from sessions.session_file import SessionFile
from specscope.readers import RunReaders
from tests.support.event_script import EventScript


def scripted() -> list[Event]:
    script = EventScript()
    script.sequence("ab")
    script.step(drafted=2, accepted=1)
    script.finish()
    return script.events


def test_every_reader_gets_every_event(tmp_path: Path) -> None:
    shown: list[Event] = []
    readers = RunReaders(
        show=shown.append,
        warn=pytest.fail,
        events_path=tmp_path / "events.jsonl",
        session_path=tmp_path / "a.specscope",
    )
    assert not readers.has_events
    events = scripted()
    readers.consume(events[:5])
    readers.consume(events[5:])
    assert readers.close() == []
    assert shown == events
    lines = (tmp_path / "events.jsonl").read_bytes().splitlines()
    assert [decode_event(line) for line in lines] == events
    with SessionFile.open(tmp_path / "a.specscope") as file:
        assert list(file.events()) == events
        figures = file.summary().figures
    assert figures is not None
    assert figures["n_accepted"] == 1
    assert readers.has_events
    assert len(readers.snapshot().steps) == 1


def test_a_recording_that_cannot_be_written_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    told: list[str] = []
    readers = RunReaders(
        show=lambda event: None, warn=told.append, session_path=tmp_path / "no" / "a.specscope"
    )
    readers.consume(scripted())
    (problem,) = readers.close()
    assert "not recorded whole" in problem
    assert len(told) == 1
    assert told[0].startswith("recording: ")
    assert len(readers.snapshot().steps) == 1


def test_a_file_of_lines_that_cannot_be_written_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(click.BadParameter, match="cannot be written"):
        RunReaders(show=lambda _: None, warn=pytest.fail, events_path=tmp_path / "no" / "e.jsonl")


def test_refusals_are_kept(tmp_path: Path) -> None:
    script = EventScript()
    script.say(LogEmitted(level="error", message="the prompt is too long"))
    script.say(LogEmitted(level="warning", message="the pool is full"))
    shown: list[Event] = []
    readers = RunReaders(show=shown.append, warn=pytest.fail)
    readers.consume(script.events)
    assert readers.refusals == ["the prompt is too long"]
    messages = [event.message for event in shown if isinstance(event, LogEmitted)]
    assert messages == ["the pool is full"], "refusals are told at the end"


def test_a_full_disk_is_told_once_and_the_recording_goes_on(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    told: list[str] = []
    readers = RunReaders(
        show=lambda event: None,
        warn=told.append,
        events_path=Path("/dev/full"),
        session_path=tmp_path / "a.specscope",
    )
    events = scripted()
    readers.consume(events)
    (problem,) = readers.close()
    assert problem == told[0] == "The events were not written whole: No space left on device."
    with SessionFile.open(tmp_path / "a.specscope") as file:
        assert list(file.events()) == events
