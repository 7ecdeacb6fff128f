from dataclasses import dataclass

import numpy as np

from sessions.token_trail import TrailKind
from ui.text.token_canvas import breaks_lines
from ui.text.token_document import BLOCK_ITEMS, TokenDocument, common_start


@dataclass
class Scripted:
    words: list[str]
    kinds: list[int] | None = None

    def __post_init__(self) -> None:
        n = len(self.words)
        self.kind = np.array(self.kinds or [0] * n, np.int8)
        self.step = np.arange(n, dtype=np.int32) // 4
        self.code = np.array([hash(word) % 1000 for word in self.words], np.int32)

    def texts(self, first: int, last: int) -> list[str]:
        return self.words[first:last]

    def __len__(self) -> int:
        return len(self.words)


def shown(tokens: Scripted, columns: int = 20) -> TokenDocument:
    document = TokenDocument(breaks_lines)
    document.set_columns(columns)
    document.show(tokens)
    return document


def everything(document: TokenDocument) -> str:
    parts = []
    for index in range(len(document.blocks)):
        layout = document.lay(index)
        parts.append(layout.text(0, layout.n_chars))
    return "".join(parts)


def test_a_long_text_is_laid_out_only_where_it_is_looked_at():
    words = [" word" if i % 10 else "\n" for i in range(20_000)]
    document = shown(Scripted(words))
    assert all(block.layout is None for block in document.blocks)
    document.place_at(document.n_rows - 1, 0)
    assert [block.layout is not None for block in document.blocks].count(True) == 1
    assert everything(document) == "".join(words)


def test_blocks_end_behind_a_newline_where_one_is_near():
    words = [" word"] * 20_000
    words[BLOCK_ITEMS + 30] = "\n"
    document = shown(Scripted(words))
    assert document.blocks[0].last == BLOCK_ITEMS + 31
    assert document.blocks[1].last - document.blocks[1].first == BLOCK_ITEMS + 256


def test_growing_keeps_what_was_laid_out():
    words = [" word"] * 6000
    document = shown(Scripted(words[:3000]))
    layout = document.lay(0)
    assert document.show(Scripted(words)) == 3000
    assert document.blocks[0].layout is layout
    assert everything(document) == "".join(words)


def test_a_text_that_becomes_shorter_or_other_is_shown_as_it_is():
    words = [f" {i}" for i in range(9000)]
    document = shown(Scripted(words))
    everything(document)
    document.show(Scripted(words[:5000]))
    assert everything(document) == "".join(words[:5000])
    other = words[:4990] + [" other"] * 200
    assert document.show(Scripted(other)) == 4990
    assert everything(document) == "".join(other)


def test_rows_count_on_from_block_to_block():
    words = [" word" if i % 10 else "x\n" for i in range(10_000)]
    document = shown(Scripted(words), columns=200)
    text = everything(document)
    assert document.n_rows == text.count("\n") + 1
    for item in (0, 4095, 4100, 9999):
        row = document.row_of(item)
        assert row == "".join(words[:item]).count("\n")
        assert document.block_of_row(row) == document.block_of_item(item)


def test_places_are_found_on_rows():
    document = shown(Scripted(["The", " quick", "\n", "fox"]))
    assert document.place_at(0, 0) == (0, 0)
    assert document.place_at(0, 5) == (1, 2)
    assert document.place_at(0, 99) == (2, 0)
    assert document.place_at(1, 1.5) == (3, 1)
    assert document.place_at(1, 99) == (4, 0)


def test_copied_text_leaves_refused_tokens_out():
    kinds = [TrailKind.PROMPT, TrailKind.ACCEPTED, TrailKind.REJECTED, TrailKind.RECOVERED]
    document = shown(Scripted(["ab", "cd", "XX", "ef"], [int(kind) for kind in kinds]))
    assert document.text((0, 1), (3, 1)) == "bcde"
    assert document.text((2, 0), (3, 0)) == "XX"
    assert document.text((1, 1), (1, 2)) == "d"
    assert document.text((0, 0), (4, 0)) == "abcdef"
    assert document.text((2, 1), (1, 0)) == ""


def test_texts_of_two_sessions_have_nothing_in_common():
    one, other = Scripted(["a", "b"]), Scripted(["c", "d"])
    other.code = one.code  # numbers mean something within a session
    assert common_start(one, other) == 0
    assert common_start(one, one) == 2
