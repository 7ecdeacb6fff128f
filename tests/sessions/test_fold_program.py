"""A share of a session file comes as every so-manieth piece of it."""

import io
from pathlib import Path

import pytest

from sessions import fold_program
from sessions.column_pieces import read_piece
from sessions.fold_program import fold_share
from sessions.side_program import read_packet
from tests.sessions.recorded import record, script


def pieces(stream: bytes) -> list[tuple[int, int]]:
    """First and last ordinal of each."""
    found = []
    packets = io.BytesIO(stream)
    while packed := read_packet(packets):
        piece = read_piece(packed)
        assert piece is not None
        found.append((piece.first_ordinal, piece.columns.last_ordinal))
    return found


@pytest.mark.parametrize("first", [0, 7])
def test_all_shares_are_the_whole(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fold_program, "PIECE_ORDINALS", 10)
    path = record(tmp_path / "x.specscope", script())
    last = script()[-1].ordinal
    found = []
    for share in range(3):
        out = io.BytesIO()
        fold_share(path, share, 3, first, last, out)
        found.append(pieces(out.getvalue()))
    assert found[1][:2] == [(first + 10, first + 19), (first + 40, first + 49)]
    firsts = sorted(at for share in found for at, _ in share)
    assert firsts == list(range(first, last + 1, 10))


def test_it_is_a_program(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = record(tmp_path / "x.specscope", script())
    last = script()[-1].ordinal
    fold_program.main([str(path), "0", "1", "3", str(last)])
    assert pieces(capfdbinary.readouterr().out) == [(3, last)]
