from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import TextStream, TokenTexts
from tests.support.toy_model import ToyTokenizer


class Pieces:
    """A tokenizer of given byte strings."""

    eos_ids: frozenset[int] = frozenset()

    def __init__(self, *pieces: bytes) -> None:
        self._pieces = pieces
        self.n_tokens = len(pieces)
        self.n_asked = 0

    def encode(self, text: str, *, chat: bool = False) -> list[int]:
        raise NotImplementedError

    def decode(self, token_ids: list[int]) -> str:
        return b"".join(self._pieces[i] for i in token_ids).decode(errors="replace")

    def token_bytes(self, token_id: int) -> bytes:
        self.n_asked += 1
        return self._pieces[token_id]


def fed(*pieces: bytes) -> list[str]:
    stream = TextStream(Pieces(*pieces))
    return [stream.feed(index) for index in range(len(pieces))]


WORLD = "\u4e16"  # three bytes
EMOJI = "\U0001f600".encode()


def test_no_character_comes_twice() -> None:
    """Cumulative decodes "A x?", "A xa?", "A xab" show every character once."""
    first, rest = "\u00e9".encode()[:1], "\u00e9".encode()[1:]
    pieces = (f"A {WORLD}".encode() + first, rest + b"a" + first, rest + b"b")
    assert fed(*pieces) == [f"A {WORLD}", "\u00e9a", "\u00e9b"]


def test_a_character_shows_with_its_last_byte() -> None:
    assert fed(*(bytes([byte]) for byte in EMOJI)) == ["", "", "", "\U0001f600"]
    assert fed(b"A ", WORLD.encode()[:2], WORLD.encode()[2:] + b"a", b"b") == [
        "A ", "", f"{WORLD}a", "b",
    ]  # fmt: skip


def test_a_broken_character_is_replaced_once_it_is_certain() -> None:
    assert fed(EMOJI[:2], b"!", b"?") == ["", "\ufffd!", "?"]
    assert "".join(fed(EMOJI[:2], b"!")) == EMOJI[:2].decode(errors="replace") + "!"


def test_a_special_token_says_nothing() -> None:
    assert fed(b"a", b"", b"b") == ["a", "", "b"]
    assert fed(EMOJI[:2], b"", EMOJI[2:]) == ["", "", "\U0001f600"]


@given(st.lists(st.integers(0, 255), max_size=60))
def test_the_stream_is_the_decode(token_ids: list[int]) -> None:
    tokenizer = ToyTokenizer(256)
    stream = TextStream(tokenizer)
    text = "".join(map(stream.feed, token_ids))
    whole = tokenizer.decode(token_ids)
    pending = whole[len(text) :]
    assert whole == text + pending
    assert pending in ("", "\ufffd")  # at most one character is unfinished


@given(st.text(max_size=40), st.data())
def test_valid_text_cut_anywhere_is_whole(text: str, data: st.DataObject) -> None:
    data_bytes = text.encode()
    cuts = data.draw(st.lists(st.integers(0, len(data_bytes)), max_size=8))
    edges = [0, *sorted(cuts), len(data_bytes)]
    pieces = [data_bytes[a:b] for a, b in pairwise(edges)]
    assert "".join(fed(*pieces)) == text


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        (b"ab", "ab"),
        (EMOJI[:2], "<F0><9F>"),
        (b"", ""),
        (EMOJI, "\U0001f600"),
        (b"a\xff", "<61><FF>"),
    ],
)
def test_a_single_token_is_readable(piece: bytes, text: str) -> None:
    assert TokenTexts(Pieces(piece))[0] == text


def test_token_texts_are_remembered() -> None:
    pieces = Pieces(b"a", b"b")
    texts = TokenTexts(pieces)
    assert texts.of((0, 1, 0)) == ("a", "b", "a")
    assert texts.of([1, 1]) == ("b", "b")
    assert pieces.n_asked == 2
