"""What is readable of a damaged file is in the copy, and the file is as it was."""

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.wire.events import EndReason, Event, LogEmitted
from sessions.recovery import recover
from sessions.session_errors import (
    DamagedSessionFile,
    NotASessionFile,
    SessionFileError,
    SessionFileExists,
    SessionFileMissing,
)
from sessions.session_file import SessionFile
from tests.sessions.recorded import lines, record, script, stored

PAGE = 4096


def zero_page(path: Path, number: int) -> None:
    with path.open("r+b") as stream:
        stream.seek(number * PAGE)
        stream.write(bytes(PAGE))


def zero_first(path: Path) -> None:
    zero_page(path, 0)


def zero_middle(path: Path) -> None:
    zero_page(path, path.stat().st_size // PAGE // 2)


def zero_root_of_events(path: Path) -> None:
    database = sqlite3.connect(path)
    (root,) = database.execute(
        "SELECT rootpage FROM sqlite_master WHERE name = 'events'"
    ).fetchone()
    database.close()
    zero_page(path, root - 1)


def halve(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def scribble(path: Path) -> None:
    source = random.Random(5)
    with path.open("r+b") as stream:
        for _ in range(200):
            stream.seek(source.randrange(path.stat().st_size))
            stream.write(bytes([source.randrange(256)]))


@pytest.mark.parametrize(
    ("damage", "share"),
    [
        (zero_first, 0.9),
        (zero_middle, 0.9),
        (zero_root_of_events, 1.0),
        (halve, 0.4),
        (scribble, 0.4),
    ],
)
def test_what_is_readable_is_copied(
    tmp_path: Path, damage: Callable[[Path], None], share: float
) -> None:
    events = script(300)
    path = record(tmp_path / "x.specscope", events)
    damage(path)
    before = path.read_bytes()
    report = recover(path, tmp_path / "out.specscope")
    recovered = stored(tmp_path / "out.specscope")
    assert len(recovered) == report.n_events >= share * len(events)
    changed = [event for event in recovered if event != events[event.ordinal]]
    # A changed letter in a text cannot be told from what was said.
    assert len(changed) <= (20 if damage is scribble else 0)
    assert report.n_missing == recovered[-1].ordinal + 1 - len(recovered)
    assert path.read_bytes() == before
    assert str(report.n_events) in report.sentences()[0].replace(",", "")


def test_a_sound_file_is_copied_whole(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script(), figures={"alpha": 0.25})
    with SessionFile.open(path, writable=True) as file:
        file.rename("kept")
        file.set_tags(["a", "b"])
        file.set_notes("and this")
    report = recover(path, tmp_path / "out.specscope")
    assert report.sentences() == (
        f"{len(script())} events were recovered from {path} into {report.out}.",
    )
    assert stored(report.out) == script()
    with SessionFile.open(path) as before, SessionFile.open(report.out) as after:
        old, new = before.summary(), after.summary()
    assert (new.name, new.tags, new.notes) == ("kept", ("a", "b"), "and this")
    assert new.figures == {"alpha": 0.25}
    assert (new.counts, new.environment) == (old.counts, old.environment)


def test_what_is_only_in_the_log_is_found(tmp_path: Path) -> None:
    events = script(100)
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(events[:200]))
        file._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        file.append(lines(events[200:]))
        copy = tmp_path / "copy"
        copy.mkdir()
        for suffix in ("", "-wal"):
            shutil.copy(f"{tmp_path / 'x.specscope'}{suffix}", copy)
    zero_first(copy / "x.specscope")
    report = recover(copy / "x.specscope", tmp_path / "out.specscope")
    assert stored(report.out) == events
    assert report.has_end
    assert not report.has_row
    assert "name, notes and tags could not be read" in " ".join(report.sentences())


def test_long_events_are_put_together_from_their_pages(tmp_path: Path) -> None:
    events: list[Event] = [
        LogEmitted(level="info", message="x" * (3**index), ordinal=index, t_ns=index)
        for index in range(12)
    ]
    path = record(tmp_path / "x.specscope", events)
    zero_first(path)
    assert recover(path, tmp_path / "out.specscope").n_events == len(events)
    assert stored(tmp_path / "out.specscope") == events


def test_a_lost_beginning_and_end_are_said(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    database = sqlite3.connect(path)
    database.execute("UPDATE events SET payload = 'no' WHERE ordinal IN (0, 40)")
    database.execute("UPDATE events SET payload = 'no' WHERE kind = 'SessionEnded'")
    database.commit()
    database.close()
    report = recover(path, tmp_path / "out.specscope")
    assert (report.has_start, report.has_end) == (False, False)
    assert report.n_missing == 2
    told = " ".join(report.sentences())
    assert "first event is lost" in told
    assert "shown as crashed" in told
    with SessionFile.open(report.out) as file:
        assert file.summary().end_reason is EndReason.CRASHED


def test_nothing_readable_makes_nothing(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:100] + os.urandom(size - 100))
    with pytest.raises(DamagedSessionFile):
        recover(path, tmp_path / "out.specscope")
    assert not (tmp_path / "out.specscope").exists()


@pytest.mark.parametrize("content", [b"", b"a text", bytes(5000), b"SQLite format 3\0"])
def test_what_never_was_a_session_is_refused(tmp_path: Path, content: bytes) -> None:
    for name in ("x.specscope", "x.txt"):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises((NotASessionFile, DamagedSessionFile)):
            recover(path, tmp_path / "out.specscope")
    with pytest.raises(NotASessionFile, match="folder"):
        recover(tmp_path, tmp_path / "out.specscope")
    with pytest.raises(SessionFileMissing):
        recover(tmp_path / "nothing.specscope", tmp_path / "out.specscope")
    assert not (tmp_path / "out.specscope").exists()


def test_the_copy_overwrites_nothing(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    for out in (path, record(tmp_path / "other.specscope", script(1))):
        with pytest.raises(SessionFileExists):
            recover(path, out)
    assert stored(path) == script()


def test_a_session_being_recorded_is_left_alone(tmp_path: Path) -> None:
    with SessionFile.create(tmp_path / "x.specscope") as file:
        file.append(lines(script(end=False)))
        with pytest.raises(SessionFileError, match="still being recorded"):
            recover(tmp_path / "x.specscope", tmp_path / "out.specscope")


def test_pages_that_share_what_they_overflow_to_do_not_exhaust_it(tmp_path: Path) -> None:
    """Every row is made to point at one long chain of pages."""
    long = LogEmitted(level="info", message="x" * 400_000, ordinal=0, t_ns=0)
    events: list[Event] = [long, *script(50)[1:]]
    path = record(tmp_path / "x.specscope", events)
    data = bytearray(path.read_bytes())
    leaf = next(
        at
        for at in range(0, len(data), PAGE)
        if data[at] == 0x0D and b"LogEmitted" in data[at : at + PAGE]
    )
    cell = int.from_bytes(data[leaf + 8 : leaf + 10], "big")
    n_cells = 1000
    data[leaf + 3 : leaf + 5] = n_cells.to_bytes(2, "big")
    for index in range(min(n_cells, (cell - 8) // 2)):
        data[leaf + 8 + 2 * index : leaf + 10 + 2 * index] = cell.to_bytes(2, "big")
    path.write_bytes(data)
    assert recover(path, tmp_path / "out.specscope").n_events > 0
