"""The recorder saves what it takes, says what it has not saved, and keeps nobody waiting."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlite_utils

from engine.wire.events import EndReason, LogEmitted
from sessions import session_file, session_journal
from sessions.recorder import Recorder
from sessions.recorder_status import RecorderLimits, RecorderState
from sessions.session_file import SessionFile
from tests.sessions.recorded import script, stored

ROOT = Path(__file__).resolve().parents[2]
QUICK = RecorderLimits(commit_every_s=0.02, busy_timeout_s=0.02)


@contextmanager
def lock(path: Path, statement: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
    """Another connection's hold on the file."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute(statement)
    try:
        yield other
    finally:
        other.execute("ROLLBACK")
        other.close()


def wait_until(recorder: Recorder, state: RecorderState) -> None:
    deadline = time.monotonic() + 20
    while recorder.status.state is not state:
        assert time.monotonic() < deadline, recorder.status
        time.sleep(0.005)


def test_what_was_consumed_is_in_the_file(tmp_path: Path) -> None:
    events = script(200)
    recorder = Recorder(tmp_path / "x.specscope", summarise=lambda: {"alpha": 0.5})
    for start in range(0, len(events), 13):
        recorder.consume(events[start : start + 13])
    recorder.close()
    status = recorder.status
    assert status.state is RecorderState.OK
    assert (status.n_saved, status.n_waiting, status.n_lost) == (len(events), 0, 0)
    assert status.saved_ordinal == len(events) - 1
    assert status.message.startswith("Saved:")
    assert stored(tmp_path / "x.specscope") == events
    with SessionFile.open(tmp_path / "x.specscope") as file:
        summary = file.summary()
    assert summary.figures == {"alpha": 0.5}
    assert summary.end_reason is EndReason.FINISHED
    assert os.listdir(tmp_path) == ["x.specscope"]


def test_events_are_committed_while_the_session_runs(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.specscope")
    events = script()
    recorder.consume(events[:10])
    assert recorder.flush()
    assert stored(tmp_path / "x.specscope") == events[:10]
    recorder.close()


def test_file_hashes_are_kept(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.specscope", file_hashes={"model.safetensors": "ab12"})
    recorder.consume(script())
    recorder.close()
    with SessionFile.open(tmp_path / "x.specscope") as file:
        assert file.summary().environment.file_hashes == {"model.safetensors": "ab12"}


def test_a_session_without_events_is_a_file_that_crashed(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.specscope")
    recorder.close()
    recorder.close()
    with SessionFile.open(tmp_path / "x.specscope") as file:
        assert file.summary().end_reason is EndReason.CRASHED
        assert list(file.events()) == []


def test_what_comes_after_the_end_is_said_to_be_lost(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.specscope")
    recorder.close()
    recorder.consume(script())
    assert recorder.status.state is RecorderState.FAILED
    assert recorder.status.n_lost == len(script())
    assert "not in it" in recorder.error


def test_a_summary_that_fails_does_not_cost_the_events(tmp_path: Path) -> None:
    def fail() -> dict[str, float]:
        raise ZeroDivisionError

    recorder = Recorder(tmp_path / "x.specscope", summarise=fail)
    recorder.consume(script())
    with pytest.raises(ZeroDivisionError):
        recorder.close()
    assert stored(tmp_path / "x.specscope") == script()
    with SessionFile.open(tmp_path / "x.specscope") as file:
        assert file.summary().end_reason is EndReason.FINISHED
        assert file.summary().figures is None


# --- a file that is held by another program ------------------------------------------------------

HOLD = """
import sqlite3, sys, time
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute(sys.argv[2])
held.execute("SELECT count(*) FROM events").fetchone()
print("held", flush=True)
time.sleep(float(sys.argv[3]))
held.execute("ROLLBACK")
"""


@pytest.mark.parametrize("statement", ["BEGIN", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_lock_of_three_seconds_is_waited_out(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "x.specscope"
    events = script(400)
    recorder = Recorder(path)
    recorder.consume(events[:100])
    assert recorder.flush()
    begun = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), statement, "3"], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        seen = set()
        position = 100
        while holder.poll() is None:
            recorder.consume(events[position : position + 5])
            position += 5
            status = recorder.status
            seen.add(status.state)
            if statement != "BEGIN" and time.monotonic() < begun + 3:  # it is surely held still
                assert status.n_saved <= 100
            time.sleep(0.05)
    assert seen <= {RecorderState.OK, RecorderState.WAITING}
    assert (RecorderState.WAITING in seen) == (statement != "BEGIN")
    recorder.consume(events[position:])
    recorder.close()
    assert recorder.status.state is RecorderState.OK
    assert recorder.status.n_lost == 0
    assert stored(path) == events


def test_a_busy_file_is_said_with_the_number_of_events_that_wait(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    events = script()
    recorder = Recorder(path, limits=QUICK)
    with lock(path):
        recorder.consume(events)
        wait_until(recorder, RecorderState.WAITING)
        status = recorder.status
        assert status.n_waiting == len(events)
        assert status.n_saved == 0
        assert f"{len(events):,} events are waiting" in status.message
        assert "busy" in status.message
        assert status.error == ""
    assert recorder.flush()
    recorder.close()
    assert stored(path) == events


def test_consume_returns_at_once_while_the_file_is_held(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    recorder = Recorder(path)
    with lock(path, "BEGIN EXCLUSIVE"):
        start = time.thread_time()
        for event in script(100):
            recorder.consume([event])
        assert time.thread_time() - start < 2.0
    recorder.close()
    assert stored(path) == script(100)


@pytest.mark.parametrize(
    "limits",
    [
        RecorderLimits(commit_every_s=0.02, busy_timeout_s=0.02, max_waiting_events=300),
        RecorderLimits(commit_every_s=0.02, busy_timeout_s=0.02, max_waiting_bytes=100_000),
    ],
    ids=["events", "bytes"],
)
def test_beyond_the_bound_it_stops_visibly_and_keeps_what_it_took(
    tmp_path: Path, limits: RecorderLimits
) -> None:
    path = tmp_path / "x.specscope"
    events = script(200)
    recorder = Recorder(path, limits=limits)
    with lock(path):
        for start in range(0, len(events), 10):
            recorder.consume(events[start : start + 10])
            time.sleep(0.002)
        wait_until(recorder, RecorderState.FAILED)
        status = recorder.status
        assert 0 < status.n_waiting < len(events)
        assert status.n_waiting + status.n_lost == len(events)
        assert f"from event {status.n_waiting} on nothing is recorded" in status.message
    recorder.close()
    status = recorder.status
    assert status.state is RecorderState.FAILED
    assert status.n_saved + status.n_lost == len(events)
    assert stored(path) == events[: status.n_saved]
    with SessionFile.open(path) as file:
        assert file.summary().end_reason is EndReason.CRASHED


def test_a_minute_of_lock_scaled_down_loses_nothing(tmp_path: Path) -> None:
    """Dozens of the recorder's attempts fail before one succeeds."""
    path = tmp_path / "x.specscope"
    events = script(300)
    recorder = Recorder(path, limits=QUICK)
    with lock(path):
        for start in range(0, len(events), 200):
            recorder.consume(events[start : start + 200])
            time.sleep(0.12)
        assert recorder.status.state is RecorderState.WAITING
        assert recorder.status.n_waiting == len(events)
    recorder.close()
    assert stored(path) == events


def test_closing_gives_up_in_the_end_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    events = script()
    recorder = Recorder(path, limits=QUICK)
    recorder.consume(events[:50])
    assert recorder.flush()
    with lock(path):
        recorder.consume(events[50:])
        recorder.close(patience_s=0.2)
    status = recorder.status
    assert status.state is RecorderState.FAILED
    assert (status.n_saved, status.n_lost) == (50, len(events) - 50)
    assert f"{len(events) - 50:,} events were not saved" in status.error
    assert stored(path) == events[:50]


def test_a_commit_that_meets_a_lock_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a rollback journal a reader lets the rows in and the commit fail."""
    monkeypatch.setattr(session_journal, "ask_for_log", lambda database: "delete")
    path = tmp_path / "x.specscope"
    events = script()
    recorder = Recorder(path, limits=QUICK)
    with lock(path, "BEGIN") as reader:
        reader.execute("SELECT count(*) FROM events").fetchone()
        recorder.consume(events)
        wait_until(recorder, RecorderState.WAITING)
        assert recorder.status.n_saved == 0
    recorder.close()
    assert recorder.status.state is RecorderState.OK
    assert stored(path) == events


# --- a file that cannot be written ---------------------------------------------------------------


def test_a_full_disk_is_said_at_once_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = session_file.choose_journal

    def choose_small(database: sqlite_utils.Database, path: Path) -> str:
        database.execute("PRAGMA max_page_count = 40")
        return choose(database, path)

    monkeypatch.setattr(session_file, "choose_journal", choose_small)
    path = tmp_path / "x.specscope"
    events = script(400)
    recorder = Recorder(path, limits=RecorderLimits(commit_every_s=0.01, batch_events=100))
    recorder.consume(events)
    wait_until(recorder, RecorderState.FAILED)
    assert "the disk is full" in recorder.error
    recorder.consume(events)
    recorder.close()
    status = recorder.status
    assert status.n_saved + status.n_lost == 2 * len(events)
    assert f"{status.n_saved:,} events were saved" in status.message
    assert stored(path) == events[: status.n_saved]


def test_a_folder_that_may_not_be_written_is_said_at_once(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "no" / "x.specscope")
    assert recorder.status.state is RecorderState.FAILED
    assert "cannot be written" in recorder.error
    recorder.consume(script())
    recorder.close()
    assert recorder.status.n_lost == len(script())
    assert recorder.status.n_saved == 0


def test_a_file_that_is_there_is_not_recorded_over(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    path.write_text("mine")
    recorder = Recorder(path)
    assert "exists already" in recorder.error
    recorder.close()
    assert path.read_text() == "mine"


def test_a_fault_of_the_writer_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fault(self: SessionFile, batch: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(SessionFile, "write", fault)
    recorder = Recorder(tmp_path / "x.specscope", limits=QUICK)
    recorder.consume(script())
    wait_until(recorder, RecorderState.FAILED)
    assert "RuntimeError: a fault" in recorder.error
    recorder.close()


def test_a_folder_without_a_log_is_warned_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_journal, "network_file_system", lambda folder: "nfs4")
    recorder = Recorder(tmp_path / "x.specscope")
    assert str(tmp_path) in recorder.status.warning
    assert recorder.status.state is RecorderState.OK
    recorder.consume(script())
    recorder.close()
    assert stored(tmp_path / "x.specscope") == script()


# --- what was said to be saved is there ----------------------------------------------------------

SAVE_AND_DIE = """
import os, signal, sys
from pathlib import Path
from sessions.recorder import Recorder
from sessions.session_file import SessionFile
from tests.sessions.recorded import script

path = Path(sys.argv[1])
recorder = Recorder(path)
recorder.consume(script())
assert recorder.flush(60)
with SessionFile.open(path, writable=True) as file:
    file.rename("named last")
    file.set_notes("noted last")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_what_was_saved_last_survives_the_kill(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    done = subprocess.run(
        [sys.executable, "-c", SAVE_AND_DIE, str(path)], cwd=ROOT, check=False, timeout=120
    )
    assert done.returncode == -signal.SIGKILL
    assert stored(path) == script()
    with SessionFile.open(path) as file:
        summary = file.summary()
    assert (summary.name, summary.notes) == ("named last", "noted last")


def test_many_threads_may_hand_it_events(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "x.specscope", limits=QUICK)
    guard = threading.Lock()
    ordinals = iter(range(1000))

    def say() -> None:
        for _ in range(250):
            with guard:
                ordinal = next(ordinals)
                recorder.consume([LogEmitted(level="info", message="", ordinal=ordinal, t_ns=0)])

    threads = [threading.Thread(target=say) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()
    assert [event.ordinal for event in stored(tmp_path / "x.specscope")] == list(range(1000))
