"""The library is read and changed beside the window."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessions.library import Library
from tests.sessions.recorded import record, script
from ui.library.library_desk import TICKS_PER_LOOK, LibraryDesk, Outcome

PATIENCE_S = 20.0


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[LibraryDesk]:
    desk = LibraryDesk(Library(tmp_path / "library"))
    desk.library.folder.mkdir()
    yield desk
    desk.close()


def settle(desk: LibraryDesk) -> list[Outcome]:
    """Tick until nothing is under way and the list was read behind it."""
    outcomes: list[Outcome] = []
    deadline = time.monotonic() + PATIENCE_S
    while desk.is_busy:
        outcomes += desk.tick(is_seen=False)
        assert time.monotonic() < deadline
        time.sleep(0.001)
    desk.look()
    desk.tick(is_seen=True)
    while desk._reading is not None:
        desk.tick(is_seen=False)
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return outcomes


def names(desk: LibraryDesk) -> list[str]:
    assert desk.listing is not None
    return sorted(row.name for row in desk.listing.rows)


def test_it_sees_files_come_and_go(desk: LibraryDesk) -> None:
    assert desk.listing is None
    settle(desk)
    assert names(desk) == []
    path = record(desk.library.folder / "a.specscope", script(3))
    settle(desk)
    assert names(desk) == ["a"]
    path.unlink()
    settle(desk)
    assert names(desk) == []


def test_what_did_not_change_is_not_read_again(
    desk: LibraryDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(desk.library.folder / "a.specscope", script(3))
    settle(desk)
    listing = desk.listing
    monkeypatch.setattr(Library, "entries", lambda self: pytest.fail("read again"))
    settle(desk)
    assert desk.listing is listing


def test_it_looks_every_few_seconds_while_it_is_seen(desk: LibraryDesk) -> None:
    settle(desk)
    record(desk.library.folder / "a.specscope", script(3))
    for _ in range(TICKS_PER_LOOK - 1):
        desk.tick(is_seen=True)
    assert desk._reading is None
    for _ in range(2 * TICKS_PER_LOOK):
        desk.tick(is_seen=False)
    assert desk._reading is None
    desk.tick(is_seen=True)
    assert desk._reading is not None


def test_a_folder_that_cannot_be_read_is_told_and_the_list_kept(desk: LibraryDesk) -> None:
    record(desk.library.folder / "a.specscope", script(3))
    settle(desk)
    os.rename(desk.library.folder, desk.library.folder.with_name("moved"))
    desk.library.folder.write_text("a file is in its place")
    settle(desk)
    assert names(desk) == ["a"]
    assert desk.listing is not None
    assert "cannot be read" in desk.listing.problem


def test_edits_are_in_the_file(desk: LibraryDesk) -> None:
    path = record(desk.library.folder / "a.specscope", script(3))
    desk.rename(path, "night")
    desk.set_tags(path, ["x", "y"])
    desk.set_notes(path, "two\nlines")
    assert settle(desk) == [Outcome()] * 3
    assert desk.listing is not None
    (row,) = desk.listing.rows
    assert (row.name, row.tags, row.notes) == ("night", ("x", "y"), "two\nlines")


def test_deleted_and_brought_back(desk: LibraryDesk) -> None:
    paths = [record(desk.library.folder / f"{name}.specscope", script(3)) for name in "abc"]
    desk.delete(paths[:2])
    (outcome,) = settle(desk)
    assert outcome.sentence == "Deleted 2 sessions."
    assert names(desk) == ["c"]
    desk.restore(outcome.deleted)
    settle(desk)
    assert names(desk) == ["a", "b", "c"]


def test_closed_it_has_done_what_was_asked_and_deleted_for_good(desk: LibraryDesk) -> None:
    first = record(desk.library.folder / "a.specscope", script(3))
    second = record(desk.library.folder / "b.specscope", script(3))
    desk.delete([first])
    desk.rename(second, "kept")
    desk.close()
    assert os.listdir(desk.library.folder) == ["b.specscope"]
    (entry,) = desk.library.entries()
    assert entry.summary is not None
    assert entry.summary.name == "kept"


def test_an_error_is_a_sentence_and_the_rest_goes_on(desk: LibraryDesk, tmp_path: Path) -> None:
    bad = tmp_path / "bad.specscope"
    bad.write_text("text")
    good = record(tmp_path / "good.specscope", script(3))
    desk.import_file(bad)
    desk.import_file(good)
    outcomes = settle(desk)
    assert [outcome.is_error for outcome in outcomes] == [True, False]
    assert "not a session file" in outcomes[0].sentence
    assert outcomes[1].sentence == "Imported good."
    assert names(desk) == ["good"]


def test_what_was_deleted_before_an_error_can_come_back(desk: LibraryDesk) -> None:
    path = record(desk.library.folder / "a.specscope", script(3))
    desk.delete([path, desk.library.folder / "gone.specscope"])
    (outcome,) = settle(desk)
    assert outcome.is_error
    assert [each.path for each in outcome.deleted] == [path]
