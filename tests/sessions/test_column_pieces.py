"""Pieces of a session, folded apart and put together, are the fold of the whole."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from engine.wire.events import Event, KernelsRecorded, LogEmitted
from sessions.column_pieces import fold_piece, read_piece
from sessions.model import SessionModel
from sessions.session_file import SessionFile
from sessions.synthetic import synthetic_events
from tests.sessions.played import assert_same, snapshot_of
from tests.sessions.recorded import record, script

KERNELS = KernelsRecorded(
    step=0,
    names=("gemm", "gemm"),
    streams=(7, 7),
    start_ns=(5, 9),
    duration_ns=(3, 3),
    span_indexes=(0, -1),
)


def put_together(path: Path, n_ordinals: int) -> SessionModel:
    model = SessionModel()
    with SessionFile.open(path) as file:
        last = file.last_event()
        assert last is not None
        for first in range(0, last.ordinal + 1, n_ordinals):
            piece = read_piece(fold_piece(file, first - 1, first + n_ordinals - 1))
            if piece is not None:
                model.append(piece)
    return model


def renumbered(events: Iterable[Event]) -> list[Event]:
    """With a log and kernels in them, and with holes."""
    changed: list[Event] = []
    for event in events:
        stamp = {"ordinal": event.ordinal, "t_ns": event.t_ns}
        if event.ordinal % 50 == 7:
            event = LogEmitted(level="info", message=f"at {event.ordinal % 3}", **stamp)
        elif event.ordinal % 50 == 8:
            event = KernelsRecorded(
                **{name: getattr(KERNELS, name) for name in KERNELS.__struct_fields__} | stamp
            )
        if event.ordinal % 64 not in (0, 1, 63):
            changed.append(event)
    return changed


@pytest.mark.parametrize("n_ordinals", [1, 64, 100_000])
def test_together_they_are_the_whole(tmp_path: Path, n_ordinals: int) -> None:
    for number, events in enumerate(
        (list(script()), list(synthetic_events(200)), renumbered(synthetic_events(600)))
    ):
        path = record(tmp_path / f"{number}.specscope", events)
        model = put_together(path, n_ordinals)
        assert_same(model.snapshot(), snapshot_of(events))
        assert model.n_events == len(events)
        assert (model.last_ordinal, model.last_t_ns) == (events[-1].ordinal, events[-1].t_ns)


def test_a_piece_without_events_is_none(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script())
    with SessionFile.open(path) as file:
        assert read_piece(fold_piece(file, 10**6, 10**6 + 5)) is None
