import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.text.token_layout import TokenLayout


def laid(texts: list[str], columns: int = 10, held: frozenset[int] = frozenset()) -> TokenLayout:
    layout = TokenLayout(columns)
    layout.append(texts, np.array([i not in held for i in range(len(texts))], bool))
    return layout


def rows(layout: TokenLayout) -> list[str]:
    return [layout.text(*layout.row_range(row)) for row in range(layout.n_rows)]


def test_lines_break_behind_spaces_and_newlines():
    layout = laid(["The quick", " brown", " fox\n", "jumps"])
    assert rows(layout) == ["The quick ", "brown fox\n", "jumps"]


def test_a_word_that_is_too_long_is_broken_inside():
    assert rows(laid(["x" * 23])) == ["x" * 10, "x" * 10, "xxx"]


def test_a_line_that_just_fits_is_not_broken():
    assert rows(laid(["0123456789\n", "ab"])) == ["0123456789\n", "ab"]


def test_a_space_hangs_over_the_edge():
    assert rows(laid(["0123456789 ab"])) == ["0123456789 ", "ab"]


def test_a_trailing_newline_opens_a_row():
    layout = laid(["a\n"])
    assert rows(layout) == ["a\n", ""]


def test_wide_characters_are_not_cut():
    layout = laid(["世界世界世界"], columns=9)
    assert rows(layout) == ["世界世界", "世界"]
    assert layout.cells(*layout.row_range(1)).tolist() == [0, 2, 4]


def test_a_joined_character_stays_with_its_own():
    layout = laid(["0123456789\u0301ab"])
    assert rows(layout)[0] == "0123456789\u0301"


def test_newlines_of_tokens_that_are_no_text_break_nothing():
    layout = laid(["a", "\n\n", "b"], held=frozenset({1}))
    assert layout.n_rows == 1
    assert layout.text(0, layout.n_chars) == "a\n\nb"


def test_places_are_found_both_ways():
    layout = laid(["The", " quick", "", " brown"])
    assert [layout.item_range(i) for i in range(4)] == [(0, 3), (3, 9), (9, 9), (9, 15)]
    assert [layout.item_at(char) for char in (0, 2, 3, 8, 9, 14, 15)] == [0, 0, 1, 1, 3, 3, 4]
    assert layout.row_of(9) == 0
    assert layout.row_of(10) == 1
    assert layout.char_at(1, 2.5) == 12
    assert layout.char_at(1, 99) == 15


def test_other_columns_break_other_lines():
    layout = laid(["The quick brown fox"], columns=10)
    assert layout.set_columns(16)
    assert rows(layout) == ["The quick brown ", "fox"]
    assert not layout.set_columns(16)


_TEXTS = st.lists(
    st.text(st.sampled_from("ab \n\t世é\u0301\u202e"), max_size=6), min_size=1, max_size=12
)


@given(texts=_TEXTS, cut=st.integers(0, 12), columns=st.integers(8, 20))
def test_growing_and_cutting_end_where_laying_out_at_once_does(
    texts: list[str], cut: int, columns: int
):
    layout = laid(texts, columns)
    layout.truncate(min(cut, len(texts)))
    for text in texts[min(cut, len(texts)) :]:
        layout.append([text], np.ones(1, bool))
    at_once = laid(texts, columns)
    assert rows(layout) == rows(at_once)
    assert "".join(rows(layout)) == "".join(texts)


@given(texts=_TEXTS, columns=st.integers(8, 20))
def test_no_row_is_wider_than_the_columns_but_for_what_hangs_over(texts: list[str], columns: int):
    layout = laid(texts, columns)
    for row in range(layout.n_rows):
        first, last = layout.row_range(row)
        text = layout.text(first, last).removesuffix("\n")
        if text.endswith((" ", "\t")):
            text = text[:-1]
        assert layout.cells(first, first + len(text))[-1] <= columns


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_is_one_empty_row(n: int):
    layout = laid([""] * n)
    assert rows(layout) == [""]
    assert layout.item_at(0) == n
