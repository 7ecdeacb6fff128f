"""A process reads a session file ahead as one would alone, and is gone when nobody wants it."""

import sqlite3
from collections.abc import Generator
from contextlib import closing
from itertools import chain
from pathlib import Path

import psutil
import pytest

from engine.wire.events import Event, KvAdvanced
from sessions import read_ahead
from sessions.read_ahead import batches_ahead
from sessions.session_errors import DamagedSessionFile
from sessions.session_file import SessionFile
from sessions.synthetic import synthetic_events
from tests.sessions.recorded import record

EVENTS = list(synthetic_events(8000))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("ahead") / "x.specscope", EVENTS)


@pytest.fixture(autouse=True)
def _many_is_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "MIN_EVENTS_AHEAD", 1000)


def children() -> list[psutil.Process]:
    return psutil.Process().children()


def batches(path: Path, *without: type[KvAdvanced], after: int = -1) -> Generator[list[Event]]:
    file = SessionFile.open(path)
    return batches_ahead(file, after=after, after_ns=0, without=without)


def test_its_events_are_the_files(path: Path) -> None:
    before = children()
    assert list(chain.from_iterable(batches(path))) == EVENTS
    assert list(chain.from_iterable(batches(path, KvAdvanced, after=99))) == [
        event for event in EVENTS[100:] if not isinstance(event, KvAdvanced)
    ]
    assert children() == before


def test_closing_ends_it(path: Path) -> None:
    before = children()
    with closing(batches(path)) as some:
        assert next(some)[0] == EVENTS[0]
        assert len(children()) == len(before) + 1
    assert children() == before


def test_few_events_take_no_process(path: Path) -> None:
    before = children()
    some = batches(path, after=EVENTS[-1].ordinal - 999)
    next(some)
    assert children() == before


def test_what_one_that_dies_left_is_read_here(path: Path) -> None:
    before = children()
    some = batches(path)
    found = next(some)
    (process,) = set(children()) - set(before)
    process.kill()
    assert [*found, *chain.from_iterable(some)] == EVENTS


def test_no_process_to_be_had(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: str) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(read_ahead, "start_program", refuse)
    assert list(chain.from_iterable(batches(path))) == EVENTS


def test_damage_is_met_where_it_is(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", EVENTS)
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE events SET payload = '{' WHERE ordinal = 2500")
        database.commit()
    found: list[Event] = []
    with pytest.raises(DamagedSessionFile, match="event 2500 cannot be read"):
        found.extend(chain.from_iterable(batches(path)))
    assert found == EVENTS[:2500]
