"""Processes fold a session file as one would alone, and are gone when nobody wants them."""

import time
from pathlib import Path

import msgspec
import psutil
import pytest

from sessions import fold_processes
from sessions.fold_processes import FoldProcesses
from sessions.fold_program import PIECE_ORDINALS
from sessions.model import SessionModel
from sessions.synthetic import synthetic_events
from tests.sessions.played import assert_same, snapshot_of
from tests.sessions.recorded import record

EVENTS = list(synthetic_events(12_000))
assert len(EVENTS) > 4 * PIECE_ORDINALS


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("fold") / "x.specscope", EVENTS)


def n_children() -> int:
    return len(psutil.Process().children())


def all_of(folding: FoldProcesses) -> SessionModel:
    model, deadline = SessionModel(), time.monotonic() + 60
    while not folding.is_over and time.monotonic() < deadline:
        piece = folding.poll(0.1)
        if piece is not None:
            model.append(piece)
    return model


@pytest.mark.parametrize("n_processes", [1, 3])
def test_their_pieces_are_the_session(path: Path, n_processes: int) -> None:
    n_before = n_children()
    model = all_of(FoldProcesses(path, EVENTS[-1].ordinal, n_processes=n_processes))
    assert_same(model.snapshot(), snapshot_of(EVENTS))
    assert n_children() == n_before


def test_pieces_without_an_event_take_no_longer_than_allowed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times_s = [0.0]

    def nothing(packed: bytes) -> None:
        times_s.append(times_s[-1] + 100)

    monkeypatch.setattr(fold_processes, "monotonic", lambda: times_s[-1])
    monkeypatch.setattr(fold_processes, "read_piece", nothing)
    folding = FoldProcesses(path, EVENTS[-1].ordinal, n_processes=1)
    assert folding.poll(250.0) is None
    assert times_s == [0, 100, 200, 300]
    assert not folding.is_over
    folding.close()


def test_closing_ends_them(path: Path) -> None:
    n_before = n_children()
    folding = FoldProcesses(path, EVENTS[-1].ordinal, n_processes=2)
    assert n_children() == n_before + 2
    folding.close()
    folding.close()
    assert n_children() == n_before
    assert folding.is_over
    assert folding.poll(0.0) is None


def test_one_that_dies_ends_the_pieces(path: Path) -> None:
    folding = FoldProcesses(path, EVENTS[-1].ordinal, n_processes=2)
    folding._processes[1].kill()
    assert all_of(folding).n_events in (0, PIECE_ORDINALS)  # the first piece is the other's


def test_a_file_that_is_not_there_has_no_pieces(tmp_path: Path) -> None:
    assert all_of(FoldProcesses(tmp_path / "x.specscope", 10)).n_events == 0


def test_what_is_no_piece_ends_the_pieces(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fold_processes, "read_piece", lambda _: msgspec.msgpack.decode(b"\xc1"))
    n_before = n_children()
    assert all_of(FoldProcesses(path, EVENTS[-1].ordinal, n_processes=1)).n_events == 0
    assert n_children() == n_before
