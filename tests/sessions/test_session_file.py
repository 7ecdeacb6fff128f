"""A session file keeps what it is told, in order, and says what it holds."""

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlite_utils

from engine.wire.events import EndReason, LogEmitted, SessionStarted
from sessions.session_errors import (
    SessionFileBusy,
    SessionFileError,
    SessionFileExists,
    SessionFileMissing,
    SessionFileUnwritable,
)
from sessions.session_file import SessionFile
from sessions.session_schema import APPLICATION_ID, SCHEMA_VERSION
from sessions.session_summary import RecordingProcess
from tests.sessions.recorded import lines, record, script

ODD_NAMES = [
    "a b",
    "100%25",
    "what?",
    "hash#1",
    "é…漢",
    "a'b\"c",
    "[x]*",
    "-dash",
    "semi;colon",
    "tab\there",
]


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    events = script()
    with SessionFile.create(tmp_path / "x.specscope") as file:
        for start in range(0, len(events), 7):
            file.append(lines(events[start : start + 7]))
        assert list(file.events()) == events
    with SessionFile.open(tmp_path / "x.specscope") as file:
        assert list(file.events()) == events
        assert list(file.events(after=100)) == events[101:]
        assert file.last_event() == events[-1]


def test_an_ended_session_is_one_file(tmp_path: Path) -> None:
    record(tmp_path / "x.specscope", script())
    assert os.listdir(tmp_path) == ["x.specscope"]
    with SessionFile.open(tmp_path / "x.specscope") as file:
        file.summary()
        assert os.listdir(tmp_path) == ["x.specscope"]


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    record(tmp_path / "x.specscope", script())
    raw = (tmp_path / "x.specscope").read_bytes()
    assert int.from_bytes(raw[68:72], "big") == APPLICATION_ID
    assert int.from_bytes(raw[60:64], "big") == SCHEMA_VERSION
    assert raw[68:72] == b"SPSC"


def test_a_summary_says_what_the_events_say(tmp_path: Path) -> None:
    events = script(10)
    record(tmp_path / "x.specscope", events, figures={"alpha": 0.5})
    with SessionFile.open(tmp_path / "x.specscope") as file:
        summary = file.summary()
    counts = summary.counts
    assert (counts.n_events, counts.n_sequences) == (len(events), 1)
    assert counts.n_output_tokens == 10 * 3
    assert counts.duration_ns == events[-1].t_ns
    assert (counts.target, counts.draft) == ("scripted-target", "scripted-draft")
    assert counts.device == "script"
    assert summary.end_reason is EndReason.FINISHED
    assert summary.figures == {"alpha": 0.5}
    assert summary.started_unix_ns == 1_700_000_000_000_000_000
    assert summary.environment.specscope_version == "0"
    assert summary.environment.python_version


def test_a_summary_does_not_read_the_events(tmp_path: Path) -> None:
    record(tmp_path / "x.specscope", script())
    with SessionFile.open(tmp_path / "x.specscope") as file:
        told: list[str] = []
        file._database.conn.set_trace_callback(told.append)
        file.summary()
    assert len(told) == 2
    assert all("LIMIT 1" in query or "FROM session WHERE id = 1" in query for query in told)


def test_the_settings_in_force_are_kept(tmp_path: Path) -> None:
    started = SessionStarted(
        schema_version=1,
        started_unix_ns=5,
        specscope_version="1.2",
        torch_version="3.4",
        device_name="cpu",
        config_json='{"seed": 7, "gamma": 3}',
        ordinal=0,
        t_ns=0,
    )
    record(tmp_path / "x.specscope", [started])
    with SessionFile.open(tmp_path / "x.specscope") as file:
        summary = file.summary()
    assert summary.config_json == started.config_json
    assert summary.environment.seed == 7
    assert summary.environment.torch_version == "3.4"


def test_without_a_farewell_the_session_crashed(tmp_path: Path) -> None:
    record(tmp_path / "x.specscope", script(end=False))
    with SessionFile.open(tmp_path / "x.specscope") as file:
        assert file.summary().end_reason is EndReason.CRASHED


def test_a_session_that_is_being_recorded_has_no_end_yet(tmp_path: Path) -> None:
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(script(end=False)))
        with SessionFile.open(tmp_path / "x.specscope") as reader:
            assert reader.summary().is_recording
            assert reader.summary().end_reason is None
    with SessionFile.open(tmp_path / "x.specscope") as reader:
        assert reader.summary().end_reason is EndReason.CRASHED


def test_another_process_or_a_copy_is_not_being_recorded(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    path.touch()
    (tmp_path / "copy").touch()
    this = RecordingProcess.this(path)
    assert this.is_writing(path)
    assert not this.is_writing(tmp_path / "copy")
    for other in (
        RecordingProcess(),
        RecordingProcess(this.process_id, this.started_s - 100, this.inode),
        RecordingProcess(2**31 - 1, this.started_s, this.inode),
    ):
        assert not other.is_writing(path)


def test_a_batch_that_fails_leaves_nothing(tmp_path: Path) -> None:
    events = script()
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(events[:50]))
        with pytest.raises(SessionFileError, match="has an event of that number already"):
            file.append(lines([*events[50:60], events[0]]))
        assert not file._database.conn.in_transaction
        assert list(file.events()) == events[:50]
        file.append(lines(events[50:]))
        assert list(file.events()) == events
        assert file.summary().counts.n_events == len(events)


@pytest.mark.parametrize(
    ("edit", "field", "expected"),
    [
        (lambda file: file.rename("  night run "), "name", "night run"),
        (lambda file: file.set_notes("line\n\tnext ☃"), "notes", "line\n\tnext ☃"),
        (lambda file: file.set_tags(["b", "a", "", "b"]), "tags", ("b", "a")),
    ],
)
def test_an_edit_is_saved_when_it_returns(
    tmp_path: Path, edit: Callable[[SessionFile], None], field: str, expected: object
) -> None:
    record(tmp_path / "x.specscope", script())
    with SessionFile.open(tmp_path / "x.specscope", writable=True) as file:
        edit(file)
        with SessionFile.open(tmp_path / "x.specscope") as reader:
            assert getattr(reader.summary(), field) == expected
            assert list(reader.events()) == script()


def test_an_edit_during_recording_is_not_overwritten(tmp_path: Path) -> None:
    events = script()
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(events[:50]))
        with SessionFile.open(tmp_path / "x.specscope", writable=True) as editor:
            editor.rename("renamed")
            editor.set_tags(["kept"])
        file.append(lines(events[50:]))
        file.set_end({})
    with SessionFile.open(tmp_path / "x.specscope") as file:
        assert (file.summary().name, file.summary().tags) == ("renamed", ("kept",))


@pytest.mark.parametrize(
    "edit",
    [
        lambda file: file.rename("x" * 201),
        lambda file: file.rename("\ud800"),
        lambda file: file.set_notes("a\0b"),
        lambda file: file.set_notes("x" * 1_000_001),
        lambda file: file.set_tags(map(str, range(101))),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_sentence(
    tmp_path: Path, edit: Callable[[SessionFile], None]
) -> None:
    record(tmp_path / "x.specscope", script())
    with (
        SessionFile.open(tmp_path / "x.specscope", writable=True) as file,
        pytest.raises(SessionFileError, match=r"The (name|notes) |at most"),
    ):
        edit(file)


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    record(tmp_path / "x.specscope", script())
    before = (tmp_path / "x.specscope").read_bytes()
    with SessionFile.open(tmp_path / "x.specscope") as file:
        with pytest.raises(SessionFileError):
            file.rename("no")
        with pytest.raises(SessionFileError):
            file.append(lines(script()))
    assert (tmp_path / "x.specscope").read_bytes() == before


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_are_names(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / f"{name}.specscope"
    path.parent.mkdir()
    record(path, script())
    with SessionFile.open(path) as file:
        assert list(file.events()) == script()
    with SessionFile.open(path, writable=True) as file:
        file.rename(name)
        assert file.summary().name == name.strip()
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux only")
def test_a_name_that_is_no_text_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"a\xffb.specscope")
    record(path, script())
    with SessionFile.open(path) as file:
        assert list(file.events()) == script()


def test_a_relative_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    record(Path("x.specscope"), script())
    with SessionFile.open(Path("x.specscope")) as file:
        assert file.summary().counts.n_events == len(script())


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    path.write_text("mine")
    with pytest.raises(SessionFileExists, match="exists already"):
        SessionFile.create(path)
    assert path.read_text() == "mine"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SessionFileUnwritable, match="cannot be written"):
        SessionFile.create(tmp_path / "no" / "x.specscope")
    with pytest.raises(SessionFileMissing, match="check the path"):
        SessionFile.open(tmp_path / "no" / "x.specscope")


def test_a_file_that_cannot_be_set_up_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(database: sqlite_utils.Database) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("sessions.session_file.create_schema", full)
    with pytest.raises(SessionFileError):
        SessionFile.create(tmp_path / "x.specscope")
    assert os.listdir(tmp_path) == []


def test_a_locked_file_is_busy_and_then_free(tmp_path: Path) -> None:
    events = script()
    path = tmp_path / "x.specscope"
    with SessionFile.create(path, busy_timeout_s=0.05) as file:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(SessionFileBusy, match="another program holds it"):
            file.append(lines(events))
        other.execute("ROLLBACK")
        other.close()
        file.append(lines(events))
        assert list(file.events()) == events


def test_a_reader_holds_no_lock_between_two_looks(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    record(path, script(2000))
    with SessionFile.open(path) as reader:
        events = reader.events()
        next(events)
        with SessionFile.open(path, writable=True, busy_timeout_s=0.05) as editor:
            editor.rename("while it is read")
        assert sum(1 for _ in events) == len(script(2000)) - 1


def test_two_processes_open_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    events = script()
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from sessions.session_file import SessionFile\n"
        "with SessionFile.open(Path(sys.argv[1])) as file:\n"
        "    print(sum(1 for _ in file.events()), file.summary().is_recording)\n"
        "with SessionFile.open(Path(sys.argv[1]), writable=True) as file:\n"
        "    file.rename('from the other')\n"
    )
    with SessionFile.create(path) as file:
        file.append(lines(events[:60]))
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == ["60", "True"]
        file.append(lines(events[60:]))
        assert file.summary().name == "from the other"
        assert list(file.events()) == events


def test_opening_looks_at_little(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    record(path, [*script(3000, end=False)])
    start = time.perf_counter()
    with SessionFile.open(path) as file:
        file.summary()
    assert time.perf_counter() - start < 1.0


def test_a_long_event_is_kept(tmp_path: Path) -> None:
    event = LogEmitted(level="info", message="x" * 3_000_000, ordinal=0, t_ns=0)
    record(tmp_path / "x.specscope", [event])
    with SessionFile.open(tmp_path / "x.specscope") as file:
        assert list(file.events()) == [event]
