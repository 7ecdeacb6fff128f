"""A session opened from kept columns is the one its events make; one without any gets them."""

import os
import sqlite3
import time
from pathlib import Path

import pytest

from engine.wire.events import EndReason, Event
from sessions import opening
from sessions.column_cache import ColumnCache
from sessions.opening import StoredSession, open_session
from sessions.recorder import Recorder
from sessions.session import Session
from sessions.session_errors import DamagedSessionFile, SessionFileMissing
from sessions.session_file import SessionFile
from sessions.snapshot import Snapshot
from sessions.stream import ListSource
from sessions.synthetic import synthetic_events
from tests.sessions.played import assert_same, snapshot_of
from tests.sessions.recorded import record, script

EVENTS = list(synthetic_events(3000))


@pytest.fixture
def cache(tmp_path: Path) -> ColumnCache:
    return ColumnCache(tmp_path / "columns", min_events=1)


def opened(path: Path, cache: ColumnCache) -> tuple[Snapshot, bool]:
    """The whole session, and whether its columns were there."""
    session = open_session(path, cache=cache)
    session.read_all()
    session.close()
    return session.snapshot(), session.is_from_cache


@pytest.mark.parametrize("has_farewell", [True, False])
def test_columns_equal_the_fold(tmp_path: Path, cache: ColumnCache, has_farewell: bool) -> None:
    events = EVENTS if has_farewell else EVENTS[:-1]
    path = record(tmp_path / "x.specscope", events)
    folded, was_kept = opened(path, cache)
    again, is_kept = opened(path, cache)
    assert (was_kept, is_kept) == (False, True)
    assert_same(again, folded)
    if has_farewell:
        assert_same(again, snapshot_of(events))
    else:
        assert again.ends["reason"].tolist() == [list(EndReason).index(EndReason.CRASHED)]


def test_it_comes_in_budgeted_pieces_with_progress(tmp_path: Path, cache: ColumnCache) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    session = open_session(path, cache=cache)
    assert session.progress.n_events == len(EVENTS)
    assert session.progress.share == 0.0
    shares = []
    while not session.is_over:
        session.advance(0.0)
        shares.append(session.progress.share)
    assert shares == sorted(shares)
    assert len(shares) > 3
    assert shares[-1] == 1.0
    session.close()


def test_a_closed_session_stops_whatever_it_does(tmp_path: Path, cache: ColumnCache) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    open_session(path, cache=cache).close()
    session = open_session(path, cache=cache)
    while not session.is_over:
        session.advance(5.0)
    session.close()  # its columns may or may not be kept by now
    session.close()
    assert not session.advance(5.0)
    opened(path, cache)
    os.utime(path)  # so that every event is compared
    session = open_session(path, cache=cache)
    session.close()
    assert session.is_over
    assert opened(path, cache)[1]


def test_a_file_that_may_not_be_written_is_left_alone_and_still_quick(
    tmp_path: Path, cache: ColumnCache
) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    path.chmod(0o444)
    before = path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ctime_ns
    assert opened(path, cache)[1] is False
    assert opened(path, cache)[1] is True
    assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ctime_ns) == before
    assert sorted(os.listdir(tmp_path)) == ["columns", "x.specscope"]


def test_a_recording_is_kept_as_it_ends(tmp_path: Path, cache: ColumnCache) -> None:
    path = tmp_path / "x.specscope"
    session: Session
    recorder = Recorder(path, model=lambda: session.model, cache=cache)
    session = Session(ListSource(EVENTS), [recorder])
    while session.advance(100):
        pass
    session.close()
    assert recorder.status.error == ""
    again, is_kept = opened(path, cache)
    assert is_kept
    assert_same(again, session.snapshot())


def test_a_recording_that_lost_something_is_not_kept(tmp_path: Path, cache: ColumnCache) -> None:
    recorder = Recorder(
        tmp_path / "x.specscope", model=lambda: pytest.fail("asked for"), cache=cache
    )
    recorder.consume(EVENTS[:10])
    recorder.close()
    recorder = Recorder(tmp_path / "no" / "x.specscope", model=lambda: pytest.fail("asked"))
    recorder.close()


def assert_read_up_to_damage(path: Path, cache: ColumnCache, change: str) -> None:
    """After ``change`` to the row of event 1500 all before it is taken in, and then it is named."""
    database = sqlite3.connect(path)
    database.execute(f"UPDATE events SET {change} WHERE ordinal = 1500")
    database.commit()
    database.close()
    session = open_session(path, cache=cache)
    with pytest.raises(DamagedSessionFile, match="event 1500 cannot be read"):
        session.read_all()
    assert session.model.n_events == 1500
    session.close()


def test_damage_is_said_after_everything_before_it(tmp_path: Path, cache: ColumnCache) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    opened(path, cache)
    assert_read_up_to_damage(path, cache, "payload = '{'")


def test_short_sessions_start_no_thread(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    session = open_session(path, cache=ColumnCache(tmp_path / "columns"))
    session.read_all()
    assert not session._threads._threads
    assert not (tmp_path / "columns").exists()
    session.close()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SessionFileMissing):
        open_session(tmp_path / "x.specscope")


def test_reading_never_waits_longer_than_it_was_told(tmp_path: Path, cache: ColumnCache) -> None:
    class Slow(ColumnCache):
        def find(self, file: object, **_: object) -> None:
            time.sleep(0.3)

    path = record(tmp_path / "x.specscope", EVENTS)
    session = StoredSession(SessionFile.open(path), Slow(cache.folder, min_events=1))
    assert session.advance(1.0) == 0
    assert not session.is_over
    session.read_all()
    assert session.model.n_events == len(EVENTS)
    session.close()


def test_the_snapshot_of_a_moment_is_the_same_from_columns(
    tmp_path: Path, cache: ColumnCache
) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    opened(path, cache)
    session = open_session(path, cache=cache)
    session.read_all()
    half: list[Event] = EVENTS[: len(EVENTS) // 2]
    assert_same(session.snapshot(half[-1].t_ns), snapshot_of(half))
    session.close()


@pytest.fixture(params=[40, 2048])
def apart(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session counts as a long one, of which a little or more is folded at once."""
    monkeypatch.setattr(opening, "MIN_EVENTS_APART", 1)
    monkeypatch.setattr(opening, "HEAD_ORDINALS", request.param)


@pytest.mark.usefixtures("apart")
def test_there_is_something_to_see_before_other_processes_have_begun(
    tmp_path: Path, cache: ColumnCache
) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    session = open_session(path, cache=cache)
    while session._folding is None:
        session.advance(1.0)
    assert 0 < session.model.n_events <= opening.HEAD_ORDINALS
    session.close()


@pytest.mark.usefixtures("apart")
@pytest.mark.parametrize("n_events", [len(EVENTS), len(EVENTS) - 1])
def test_processes_fold_a_long_session(tmp_path: Path, cache: ColumnCache, n_events: int) -> None:
    events = EVENTS[:n_events]
    path = record(tmp_path / "x.specscope", events)
    folded, _ = opened(path, cache)
    again, is_kept = opened(path, cache)
    assert is_kept
    assert_same(again, folded)
    assert len(folded.ends) == 1
    if n_events == len(EVENTS):
        assert_same(folded, snapshot_of(events))


@pytest.mark.usefixtures("apart")
def test_damage_is_said_whoever_folds(tmp_path: Path, cache: ColumnCache) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    assert_read_up_to_damage(path, cache, "t_ns = 0, payload = '{'")


@pytest.mark.usefixtures("apart")
def test_closing_ends_the_processes(tmp_path: Path, cache: ColumnCache) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    session = open_session(path, cache=cache)
    while session._folding is None:
        session.advance(1.0)
    session.close()
    assert session.is_over
    assert not session.advance(1.0)


@pytest.mark.usefixtures("apart")
@pytest.mark.skipif(os.name == "nt", reason="Windows removes no file that is open")
def test_a_file_that_has_gone_is_read_on_all_the_same(tmp_path: Path, cache: ColumnCache) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    session = open_session(path, cache=cache)
    path.unlink()
    session.read_all()
    assert session.model.n_events == len(EVENTS)
    session.close()
