"""A summary is what the file says, or it is refused."""

from pathlib import Path

import pytest

from engine.wire.events import EndReason, SessionEnded, SettingsChanged
from sessions.session_errors import SessionFileMissing
from sessions.session_file import SessionFile
from tests.sessions.recorded import lines, record, script
from tests.sessions.scripted import with_settings
from tests.support.event_script import EventScript


@pytest.mark.parametrize("reason", list(EndReason))
def test_the_newest_event_says_how_it_ended(tmp_path: Path, reason: EndReason) -> None:
    events = script(end=False)
    last = events[-1]
    end = SessionEnded(reason=reason, detail="why", ordinal=last.ordinal + 1, t_ns=last.t_ns)
    path = record(tmp_path / "x.specscope", [*events, end])
    with SessionFile.open(path) as file:
        summary = file.summary()
    assert (summary.end_reason, summary.end_detail) == (reason, "why")
    assert not summary.is_recording


def test_an_end_that_was_said_counts_even_when_the_recorder_died_then(tmp_path: Path) -> None:
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(script()))
        with SessionFile.open(tmp_path / "x.specscope") as reader:
            assert reader.summary().end_reason is EndReason.FINISHED
            assert reader.summary().figures is None


def test_what_the_row_claims_does_not_count_against_the_events(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script(end=False))
    with SessionFile.open(path, writable=True) as file:
        file._edit("end_reason", "finished")
        assert file.summary().end_reason is EndReason.CRASHED


def test_settings_changed_by_command_are_told_with_those_it_began_with(tmp_path: Path) -> None:
    told = EventScript()
    told.sequence()
    told.step()
    told.say(SettingsChanged(gamma="7", temperature=0.8, top_k=0, top_p=1.0))
    told.step()
    told.finish()
    events = with_settings(told.events, draft="small", gamma=4, temperature=0.0)
    with SessionFile.open(record(tmp_path / "x.specscope", events)) as file:
        summary = file.summary()
    assert (summary.gamma, summary.temperature) == ("4, later 7", "0.0, later 0.8")
    plain = with_settings(told.events, draft="none", gamma=4)
    with SessionFile.open(record(tmp_path / "y.specscope", plain)) as file:
        assert file.summary().gamma == "0"


def test_a_composite_is_not_called_by_its_model(tmp_path: Path) -> None:
    for draft, called in (("composite", "composite"), ("small", "scripted-draft")):
        events = with_settings(script(), draft=draft, gamma=4)
        with SessionFile.open(record(tmp_path / f"{draft}.specscope", events)) as file:
            assert file.summary().counts.draft == called


def test_a_file_that_has_just_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    with SessionFile.open(path) as file:
        path.unlink()
        with pytest.raises(SessionFileMissing):
            file.summary()
