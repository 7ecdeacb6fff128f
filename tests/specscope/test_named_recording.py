"""A recording is named when it has ended."""

from pathlib import Path

from engine.wire.events import EndReason, SessionEnded
from sessions.library import Library
from sessions.recorder import Recorder
from sessions.session_file import SessionFile
from specscope.named_recording import NamedRecording
from tests.support.event_script import EventScript
from tests.support.scripted_sessions import script_of


def recorded(path: Path, name: str) -> NamedRecording:
    recording = NamedRecording(Recorder(path), name, Library(path.parent))
    recording.consume(script_of().events)
    recording.close()
    return recording


def name_in(path: Path) -> str:
    with SessionFile.open(path) as file:
        return file.summary().name


def test_the_name_is_kept(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "a.specscope", "first try")
    assert name_in(tmp_path / "a.specscope") == "first try"
    assert recording.status.error == ""


def test_without_a_name_the_file_is_left_as_it_is(tmp_path: Path) -> None:
    recorded(tmp_path / "a.specscope", "")
    assert name_in(tmp_path / "a.specscope") == ""


def test_what_could_not_be_recorded_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "a.specscope").mkdir()
    assert recorded(tmp_path / "a.specscope", "first try").status.error != ""


def test_a_session_that_the_engine_refused_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.specscope"
    for detail, is_kept in (("There is no such model.", False), ("Traceback\nError: x", True)):
        script = EventScript()
        script.say(SessionEnded(reason=EndReason.FAILED, detail=detail))
        recording = NamedRecording(Recorder(path), "a name", Library(tmp_path))
        recording.consume(script.events)
        recording.close()
        assert path.exists() is is_kept
