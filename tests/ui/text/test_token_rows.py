"""Rows: what of which token stands on them."""

from sessions.token_trail import TrailKind
from tests.ui.text.test_token_document import Scripted, shown
from ui.text.token_rows import row_of


def text(codes: list[int]) -> str:
    return "".join(map(chr, codes))


def test_a_token_that_is_wrapped_has_a_piece_on_each_row() -> None:
    document = shown(Scripted(["ab ", "cdefghijklmn", " x"]), columns=8)
    document.lay(0)
    rows = [row_of(document, number) for number in range(document.n_rows)]
    assert "".join(text(row.codes) for row in rows) == "ab cdefghijklmn x"
    assert all(row.edges[-1] <= 9 for row in rows)  # one hangs over
    pieces = [piece for row in rows for piece in row.pieces if piece.item == 1]
    assert len(pieces) >= 2
    assert [piece.offset for piece in pieces] == [
        sum(other.last - other.first for other in pieces[:n]) for n in range(len(pieces))
    ]
    assert not any(piece.is_whole for piece in pieces)
    assert rows[0].pieces[0].is_whole


def test_neighbours_that_are_alike_are_one_run() -> None:
    kinds = [TrailKind.PROMPT, TrailKind.PROMPT, TrailKind.ACCEPTED, TrailKind.REJECTED]
    row = row_of(shown(Scripted(["a", "bc", "d", "ef"], [int(kind) for kind in kinds])), 0)
    assert list(row.runs(lambda piece: piece.kind)) == [
        (TrailKind.PROMPT, 0, 3), (TrailKind.ACCEPTED, 3, 4), (TrailKind.REJECTED, 4, 6),
    ]  # fmt: skip


def test_spaces_at_both_ends_are_trimmed_away() -> None:
    row = row_of(shown(Scripted(["  ab ", "\n"])), 0)
    assert row.trimmed(0, len(row.codes)) == (2, 4)
    assert row.trimmed(0, 2) == (2, 2)


def test_what_of_a_piece_is_selected() -> None:
    row = row_of(shown(Scripted(["abc", "def", "ghi"])), 0)
    first, middle, last = row.pieces
    start, end = (0, 1), (2, 2)
    assert row.selected(first, start, end) == (1, 3)
    assert row.selected(middle, start, end) == (3, 6)
    assert row.selected(last, start, end) == (6, 8)
    assert row.selected(middle, (2, 0), (2, 2)) == (6, 6)  # nothing
