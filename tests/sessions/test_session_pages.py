"""Rows are found in the pages of a file without SQLite's help."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.wire.codec import encode
from engine.wire.events import Event, LogEmitted
from sessions.session_pages import PageReader, _varint, log_of
from tests.sessions.recorded import record, script


def found(path: Path) -> dict[int, bytes]:
    with path.open("rb") as file:
        pages = PageReader(file, None)
        payloads = ((number, pages.payload(place)) for number, place in pages.rows())
        return {number: payload for number, payload in payloads if payload is not None}


def test_every_event_is_found(tmp_path: Path) -> None:
    path = record(tmp_path / "x.specscope", script(200))
    assert found(path) == {event.ordinal: encode(event) for event in script(200)}


@pytest.mark.parametrize("n_characters", [3900, 4000, 4050, 4061, 4100, 8000, 8160, 100_000])
def test_rows_at_the_edge_of_a_page_are_whole(tmp_path: Path, n_characters: int) -> None:
    events: list[Event] = [
        LogEmitted(level="info", message="x" * (n_characters + extra), ordinal=extra, t_ns=0)
        for extra in range(40)
    ]
    path = record(tmp_path / "x.specscope", events)
    assert found(path) == {event.ordinal: encode(event) for event in events}


@settings(max_examples=200, deadline=None)
@given(st.binary(min_size=0, max_size=9000))
def test_any_bytes_are_gone_through(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "x"
    path.write_bytes(b"\x0d\0\0\0\x40" + data)
    found(path)


@pytest.mark.parametrize(
    ("data", "value", "end"),
    [
        (b"\x00", 0, 1),
        (b"\x7f", 127, 1),
        (b"\x81\x00", 128, 2),
        (b"\xff" * 9, 2**64 - 1, 9),
        (b"", 0, 1),
        (b"\x81", 128, 2),
    ],
)
def test_integers_of_one_to_nine_bytes(data: bytes, value: int, end: int) -> None:
    assert _varint(data, 0) == (value, end)


def test_a_log_is_found_beside_its_file(tmp_path: Path) -> None:
    path = tmp_path / "x.specscope"
    assert log_of(path) is None
    (tmp_path / "x.specscope-wal").touch()
    assert log_of(path) == tmp_path / "x.specscope-wal"
