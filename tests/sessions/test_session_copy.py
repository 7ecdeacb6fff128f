"""A copy has the events and the row, however the source was left."""

from pathlib import Path

import pytest

from engine.wire.events import EndReason
from sessions.session_copy import copy_session
from sessions.session_errors import SessionFileError, SessionFileExists
from sessions.session_file import SessionFile
from tests.sessions.recorded import lines, record, script, stored
from tests.sessions.test_migrations import write_version_0


@pytest.mark.parametrize("end", [True, False])
def test_events_and_row_are_copied(tmp_path: Path, end: bool) -> None:
    source = record(tmp_path / "x.specscope", script(100, end=end), figures={"alpha": 0.5})
    copy_session(source, tmp_path / "y.specscope")
    assert stored(tmp_path / "y.specscope") == script(100, end=end)
    with SessionFile.open(source) as old, SessionFile.open(tmp_path / "y.specscope") as new:
        assert new.summary().counts == old.summary().counts
        assert new.summary().environment == old.summary().environment
        assert new.summary().figures == {"alpha": 0.5}
        reason = EndReason.FINISHED if end else EndReason.CRASHED
        assert new.summary().end_reason is reason


def test_an_old_source_is_not_changed(tmp_path: Path) -> None:
    source = tmp_path / "x.specscope"
    write_version_0(source, script())
    before = source.read_bytes()
    copy_session(source, tmp_path / "y.specscope")
    assert stored(tmp_path / "y.specscope") == script()
    assert source.read_bytes() == before


def test_a_session_being_recorded_or_in_the_way_is_refused(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    with pytest.raises(SessionFileExists):
        copy_session(path, path)
    with SessionFile.create(tmp_path / "live.specscope") as file:
        file.append(lines(script(end=False)))
        with pytest.raises(SessionFileError, match="still being recorded"):
            copy_session(tmp_path / "live.specscope", tmp_path / "y.specscope")
