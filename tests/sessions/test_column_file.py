"""A file of columns gives back what was folded, and a file that was touched is refused."""

import random
from pathlib import Path

import pytest

from sessions import column_file
from sessions.column_file import (
    ColumnFileError,
    FileStamp,
    read_columns,
    read_stamp,
    stamp_again,
    write_columns,
)
from sessions.lines_digest import EventsIdentity
from sessions.model import SessionModel
from sessions.synthetic import synthetic_events
from tests.sessions.played import assert_same, model_of

STAMP = FileStamp(1, 2, 3, 4, 5)


def written(path: Path, *, n_draft_tokens: int = 400) -> SessionModel:
    model = model_of(synthetic_events(n_draft_tokens))
    identity = EventsIdentity(model.n_events, model.last_ordinal, "ab" * 32)
    assert write_columns(path, model, identity, STAMP)
    return model


def test_columns_come_back_and_the_model_goes_on(tmp_path: Path) -> None:
    model = written(tmp_path / "x.columns")
    found = read_columns(tmp_path / "x.columns")
    adopted = SessionModel()
    adopted.adopt(found.columns)
    assert found.stamp == STAMP
    assert found.identity == EventsIdentity(model.n_events, model.last_ordinal, "ab" * 32)
    assert_same(adopted.snapshot(), model.snapshot())
    assert (adopted.last_t_ns, adopted.n_events) == (model.last_t_ns, model.n_events)
    more = list(synthetic_events(800))[model.n_events - 1 :]
    for each in (adopted, model):
        each.consume(more)
    assert_same(adopted.snapshot(), model.snapshot())
    assert [path.name for path in tmp_path.iterdir()] == ["x.columns"]


def test_a_row_of_one_value_is_kept_as_that_value(tmp_path: Path) -> None:
    written(tmp_path / "x.columns")
    spans = read_columns(tmp_path / "x.columns").columns.tables["spans"]
    assert spans["gpu_ns"].strides == (0,)


def test_the_stamp_can_be_changed(tmp_path: Path) -> None:
    written(tmp_path / "x.columns")
    other = FileStamp(9, 8, 7, 6, 5)
    stamp_again(tmp_path / "x.columns", other)
    assert read_stamp(tmp_path / "x.columns") == other
    assert read_columns(tmp_path / "x.columns").stamp == other


def test_whoever_stops_it_leaves_nothing(tmp_path: Path) -> None:
    model = model_of(synthetic_events(100))
    identity = EventsIdentity(model.n_events, model.last_ordinal, "")
    path = tmp_path / "x.columns"
    assert not write_columns(path, model, identity, STAMP, should_stop=lambda: True)
    assert list(tmp_path.iterdir()) == []


def test_a_touched_file_is_refused_or_as_it_was(tmp_path: Path) -> None:
    """Gaps between columns and the stamp mean nothing to the columns; all else is noticed."""
    path = tmp_path / "x.columns"
    model = written(path, n_draft_tokens=40)
    whole = path.read_bytes()
    chance = random.Random(4)
    n_refused = 0
    for _ in range(300):
        data = bytearray(whole)
        match chance.randrange(3):
            case 0:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            case 1:
                del data[chance.randrange(len(data)) :]
            case 2:
                data[chance.randrange(120)] = chance.randrange(256)
        path.write_bytes(data)
        try:
            found = read_columns(path)
        except ColumnFileError:
            n_refused += 1
        else:
            adopted = SessionModel()
            adopted.adopt(found.columns)
            assert_same(adopted.snapshot(), model.snapshot())
    assert n_refused > 150


def test_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "x.columns")
    monkeypatch.setattr(column_file, "LAYOUT", "another")
    with pytest.raises(ColumnFileError, match="version"):
        read_columns(tmp_path / "x.columns")


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("draft_tokens", "fate", 7), ("steps", "t_ns", -5), ("output_tokens", "text", 10**6)],
)
def test_values_out_of_bounds_are_refused_though_their_checksums_are_right(
    tmp_path: Path, table: str, column: str, value: int
) -> None:
    model = model_of(synthetic_events(100))
    model.tables[table]._columns[column][3] = value
    identity = EventsIdentity(model.n_events, model.last_ordinal, "")
    write_columns(tmp_path / "x.columns", model, identity, STAMP)
    with pytest.raises(ColumnFileError, match=f"{table}.{column}"):
        read_columns(tmp_path / "x.columns")
