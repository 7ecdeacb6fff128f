"""Columns are found for the very events they were folded from, and for nothing else."""

import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from engine.wire.events import DraftProposed, Event
from sessions.column_cache import ColumnCache, cache_folder, stamp_of
from sessions.lines_digest import EventsIdentity
from sessions.session_file import SessionFile
from sessions.synthetic import synthetic_events
from tests.sessions.played import assert_same, model_of
from tests.sessions.recorded import record

EVENTS = list(synthetic_events(200))


@pytest.fixture
def cache(tmp_path: Path) -> ColumnCache:
    return ColumnCache(tmp_path / "columns", min_events=1)


@pytest.fixture
def path(tmp_path: Path, cache: ColumnCache) -> Path:
    """A session whose columns are kept."""
    path = record(tmp_path / "x.specscope", EVENTS)
    assert keep(cache, path)
    return path


def keep(cache: ColumnCache, path: Path, events: list[Event] = EVENTS) -> bool:
    stamp = stamp_of(path)
    return cache.keep(path, model_of(events), identity_of(path), stamp=stamp)


def identity_of(path: Path) -> EventsIdentity:
    with SessionFile.open(path) as file:
        return file.identity()


def is_found(cache: ColumnCache, path: Path) -> tuple[bool, bool]:
    """Whether columns were found, and whether the events were compared for it."""
    compared: list[int] = []
    with SessionFile.open(path) as file:
        found = cache.find(file, on_event=compared.append)
    if found is not None:
        assert found.columns.n_events == len(EVENTS)
    return found is not None, bool(compared)


def test_an_untouched_file_is_not_read(cache: ColumnCache, path: Path) -> None:
    before = path.read_bytes(), stamp_of(path)
    assert is_found(cache, path) == (True, False)
    assert (path.read_bytes(), stamp_of(path)) == before


def test_a_file_that_was_moved_is_compared_once(cache: ColumnCache, path: Path) -> None:
    moved = shutil.copyfile(path, path.with_name("y.specscope"))
    assert is_found(cache, moved) == (True, True)
    assert is_found(cache, moved) == (True, False)


def test_renaming_a_session_is_no_reason_to_compare(cache: ColumnCache, path: Path) -> None:
    with cache.following(path), SessionFile.open(path, writable=True) as file:
        file.rename("another")
    assert is_found(cache, path) == (True, False)
    with SessionFile.open(path, writable=True) as file:
        file.rename("a third")
    assert is_found(cache, path) == (True, True)


def test_a_changed_event_is_noticed(cache: ColumnCache, path: Path) -> None:
    database = sqlite3.connect(path)
    ordinal = next(event.ordinal for event in EVENTS if isinstance(event, DraftProposed))
    changed = "UPDATE events SET payload = replace(payload, ?, ?) WHERE ordinal = ?"
    database.execute(changed, ('"gamma":4', '"gamma":5', ordinal))
    database.commit()
    database.close()
    assert is_found(cache, path) == (False, True)


@pytest.mark.parametrize("change", ["DELETE FROM events WHERE ordinal = 50", "events to come"])
def test_another_number_of_events_is_noticed(cache: ColumnCache, path: Path, change: str) -> None:
    if change.startswith("DELETE"):
        database = sqlite3.connect(path)
        database.execute(change)
        database.commit()
        database.close()
    else:
        shutil.copyfile(record(path.with_name("z.specscope"), EVENTS[:-1]), path)
    assert is_found(cache, path)[0] is False


def test_a_damaged_entry_is_passed_over(cache: ColumnCache, path: Path) -> None:
    (entry,) = cache.folder.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    assert is_found(cache, path) == (False, False)
    assert keep(cache, path)
    assert is_found(cache, path) == (True, False)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="POSIX")
def test_a_folder_others_may_write_is_not_trusted(cache: ColumnCache, path: Path) -> None:
    cache.folder.chmod(0o777)
    assert is_found(cache, path) == (False, False)
    assert not keep(cache, path)
    cache.folder.chmod(0o700)
    assert is_found(cache, path) == (True, False)


def test_what_was_not_folded_from_the_file_is_not_kept(cache: ColumnCache, path: Path) -> None:
    for entry in cache.folder.iterdir():
        entry.unlink()
    assert not keep(cache, path, EVENTS[:-5])
    stamp = stamp_of(path)
    os.utime(path, ns=(1, 1))
    assert not cache.keep(path, model_of(EVENTS), identity_of(path), stamp=stamp)
    assert list(cache.folder.iterdir()) == []


def test_a_file_with_a_log_beside_it_is_not_known_by_its_stamp(path: Path) -> None:
    path.with_name(path.name + "-wal").write_bytes(b"x")
    assert stamp_of(path) is None
    assert stamp_of(path.with_name("nothing")) is None


def test_short_sessions_are_not_kept(tmp_path: Path) -> None:
    cache = ColumnCache(tmp_path / "columns")
    assert not keep(cache, record(tmp_path / "x.specscope", EVENTS))
    assert not cache.folder.exists()


def test_those_not_used_for_longest_go(tmp_path: Path) -> None:
    cache = ColumnCache(tmp_path / "columns", min_events=1, max_bytes=200_000)
    paths = []
    for seed in range(5):
        events = list(synthetic_events(200, seed=seed))
        paths.append(record(tmp_path / f"{seed}.specscope", events))
        assert cache.keep(paths[-1], model_of(events), identity_of(paths[-1]))
        for entry in cache.folder.iterdir():  # as if a second had passed
            os.utime(entry, ns=(0, entry.stat().st_mtime_ns - 10**9))
    n_bytes = sum(entry.stat().st_size for entry in cache.folder.iterdir())
    assert 0 < n_bytes <= 200_000
    with SessionFile.open(paths[-1]) as file:
        assert cache.find(file) is not None
    with SessionFile.open(paths[0]) as file:
        assert cache.find(file) is None
    tiny = ColumnCache(tmp_path / "columns", min_events=1, max_bytes=10)
    assert not tiny.keep(paths[-1], model_of(events), identity_of(paths[-1]))


def test_it_lies_in_the_data_folder_where_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    assert cache_folder() == tmp_path / "columns"
    assert ColumnCache.of_user().folder == tmp_path / "columns"


def test_a_crashed_session_has_no_farewell_in_its_columns(tmp_path: Path) -> None:
    cache = ColumnCache(tmp_path / "columns", min_events=1)
    path = record(tmp_path / "x.specscope", EVENTS[:-1])
    assert cache.keep(path, model_of(EVENTS), identity_of(path))
    with SessionFile.open(path) as file:
        found = cache.find(file)
    assert found is not None
    assert len(found.columns.tables["ends"]["t_ns"]) == 0
    model = model_of([])
    model.adopt(found.columns)
    model.consume(EVENTS[-1:])
    assert_same(model.snapshot(), model_of(EVENTS).snapshot())
