import numpy as np
import pytest

from ui.text.cells import HELD_NEWLINE, cells_of, clusters, is_plain, mark_of, widths_of


@pytest.mark.parametrize(
    ("character", "n_cells", "mark"),
    [
        ("a", 1, ""), (" ", 1, ""), ("\t", 4, ""), ("\n", 1, ""),
        ("世", 2, ""), ("😀", 2, ""), ("é", 1, ""), ("\u0301", 0, ""), ("\u200d", 0, ""),
        ("\x1b", 2, "^["), ("\x00", 2, "^@"), ("\r", 2, "^M"), ("\x7f", 2, "^?"),
        ("\u202e", 6, "<202E>"), ("\u2028", 6, "<2028>"), ("\u200b", 6, "<200B>"),
        ("\ud800", 6, "<D800>"), ("�", 1, ""),
    ],
)  # fmt: skip
def test_every_character_has_its_cells(character: str, n_cells: int, mark: str):
    assert mark_of(ord(character)) == mark
    assert cells_of(ord(character)) == n_cells
    assert widths_of(np.array([ord(character), 97], np.uint32)).tolist() == [n_cells, 1]


def test_a_held_newline_is_one_mark():
    assert widths_of(np.array([HELD_NEWLINE], np.uint32)).tolist() == [1]


def test_only_printable_ascii_is_drawn_in_one_go():
    assert is_plain("def f(x):")
    assert not is_plain("a\tb")
    assert not is_plain("naïve")


def test_what_is_drawn_together():
    assert clusters([ord(c) for c in "ae\u0301b"]) == [(0, 1), (1, 3), (3, 4)]
    assert clusters([ord(c) for c in "aשלb"]) == [(0, 1), (1, 3), (3, 4)]
