"""A stored session is the stream that was recorded, made whole where it was cut off."""

import sqlite3
from pathlib import Path

import pytest

from engine.wire.events import EndReason, KvAdvanced, SessionEnded
from sessions.recorder import Recorder
from sessions.replay import StoredSource
from sessions.session_errors import DamagedSessionFile
from sessions.session_file import SessionFile
from tests.sessions.recorded import lines, record, script
from tests.support.running_engine import RunningEngine
from tests.support.stream_rules import check_stream
from tests.support.toy_model import ToyModel


def read_all(path: Path, *, limit: int = 100) -> list[object]:
    source = StoredSource(SessionFile.open(path))
    events: list[object] = []
    while not source.exhausted:
        events += source.poll(limit)
    assert not source.poll(limit)
    source.close()
    return events


@pytest.mark.parametrize("limit", [1, 7, 129, 100_000])
def test_it_gives_what_was_recorded(tmp_path: Path, limit: int) -> None:
    record(tmp_path / "x.specscope", script())
    assert read_all(tmp_path / "x.specscope", limit=limit) == script()


@pytest.mark.parametrize("n_sequences", [1, 3])
def test_a_run_of_the_engine_is_the_same_live_and_replayed(
    tmp_path: Path, n_sequences: int
) -> None:
    engine = RunningEngine(ToyModel(32, seed=1), ToyModel(32, seed=2), batch=2, max_new_tokens=30)
    events = engine.run(*["ab", "cd", "ef"][:n_sequences])
    events.append(
        SessionEnded(reason=EndReason.FINISHED, ordinal=len(events), t_ns=events[-1].t_ns)
    )
    recorder = Recorder(tmp_path / "x.specscope")
    for start in range(0, len(events), 11):
        recorder.consume(events[start : start + 11])
    recorder.close()
    replayed = read_all(tmp_path / "x.specscope")
    assert len(replayed) == len(events)
    for live, stored in zip(events, replayed, strict=True):
        assert type(live) is type(stored)
        assert live == stored


def test_a_stream_that_was_cut_off_is_made_whole(tmp_path: Path) -> None:
    events = script(end=False)
    record(tmp_path / "x.specscope", events)
    replayed = read_all(tmp_path / "x.specscope", limit=len(events))
    assert replayed[:-1] == events
    end = replayed[-1]
    assert isinstance(end, SessionEnded)
    assert (end.reason, end.ordinal) == (EndReason.CRASHED, len(events))
    assert "crashed or was killed" in end.detail
    check_stream(replayed)  # type: ignore[arg-type]


def test_whether_the_farewell_was_recorded_can_be_asked(tmp_path: Path) -> None:
    for end in (True, False):
        record(tmp_path / f"{end}.specscope", script(end=end))
        source = StoredSource(SessionFile.open(tmp_path / f"{end}.specscope"))
        source.poll(1_000_000)
        assert source.has_farewell is end
        source.close()


def test_an_empty_recording_is_one_farewell(tmp_path: Path) -> None:
    SessionFile.create(tmp_path / "x.specscope").close()
    (end,) = read_all(tmp_path / "x.specscope")
    assert isinstance(end, SessionEnded)
    assert (end.ordinal, end.t_ns) == (0, 0)


def test_a_session_still_recorded_says_so_at_its_end(tmp_path: Path) -> None:
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(script(end=False)))
        end = read_all(tmp_path / "x.specscope")[-1]
    assert isinstance(end, SessionEnded)
    assert "still being recorded" in end.detail


def test_closing_ends_it(tmp_path: Path) -> None:
    record(tmp_path / "x.specscope", script())
    source = StoredSource(SessionFile.open(tmp_path / "x.specscope"))
    source.poll(3)
    source.close()
    source.close()
    assert source.exhausted
    assert not source.poll(3)


@pytest.mark.parametrize("limit", [1, 10, 1000])
def test_damage_is_said_after_everything_before_it(tmp_path: Path, limit: int) -> None:
    events = script()
    path = record(tmp_path / "x.specscope", events)
    database = sqlite3.connect(path)
    database.execute("UPDATE events SET payload = '{' WHERE ordinal = 55")
    database.commit()
    database.close()
    source = StoredSource(SessionFile.open(path))
    given: list[object] = []
    while len(given) < 55:
        given += source.poll(limit)
    assert given == events[:55]
    for _ in range(2):
        with pytest.raises(DamagedSessionFile, match="event 55 cannot be read"):
            source.poll(limit)
    assert not source.exhausted
    source.close()


@pytest.mark.parametrize("end", [True, False])
def test_kinds_that_nobody_wants_are_not_read(tmp_path: Path, end: bool) -> None:
    events = script(end=end)
    path = record(tmp_path / "x.specscope", events)
    ignored = (type(events[-1]), KvAdvanced) if not end else (KvAdvanced,)
    source = StoredSource(SessionFile.open(path), without=ignored)
    replayed = list(source.poll(10_000))
    source.close()
    assert source.has_farewell is end
    if not end:
        assert isinstance(replayed[-1], SessionEnded)
        assert (replayed[-1].ordinal, replayed[-1].t_ns) == (len(events), events[-1].t_ns)
        replayed.pop()
    assert replayed == [event for event in events if type(event) not in ignored]
