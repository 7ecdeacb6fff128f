"""The canvas: which tokens break lines, what it lays out, how it goes to its ends."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from sessions.token_trail import TrailKind
from tests.ui.text.test_token_document import Scripted
from ui.text.token_canvas import TokenCanvas, breaks_lines
from ui.theme import DARK, LIGHT


@pytest.fixture
def canvas(qtbot: QtBot) -> TokenCanvas:
    canvas = TokenCanvas(DARK)
    qtbot.addWidget(canvas)
    canvas.resize(300, 200)
    canvas.show()
    return canvas


def test_newlines_of_refused_tokens_break_no_line() -> None:
    kinds = np.array([int(kind) for kind in TrailKind], np.int8)
    broken = {TrailKind(kind) for kind in kinds[breaks_lines(kinds)].tolist()}
    assert broken.isdisjoint({TrailKind.REJECTED, TrailKind.DISCARDED, TrailKind.PROPOSED})
    assert {TrailKind.ACCEPTED, TrailKind.BONUS, TrailKind.PROMPT} <= broken


def test_of_a_long_text_only_what_is_seen_is_laid_out(canvas: TokenCanvas) -> None:
    canvas.show_tokens(Scripted([" word\n"] * 40_000))
    canvas.grab()
    laid = [block.layout is not None for block in canvas.document.blocks]
    assert laid[-1]
    assert sum(laid) <= 2 < len(laid)
    canvas.go_to_start()
    canvas.grab()
    assert (canvas.top_row, canvas.follows) == (0, False)
    canvas.follow()
    assert canvas.top_row == canvas.verticalScrollBar().maximum()


def test_a_text_that_fits_needs_no_button(canvas: TokenCanvas) -> None:
    canvas.show_tokens(Scripted(["one", " two"]))
    canvas.go_to_start()
    assert canvas.follows
    assert not canvas.follow_button.isVisible()


def test_a_narrower_canvas_has_more_rows_and_keeps_its_place(canvas: TokenCanvas) -> None:
    canvas.show_tokens(Scripted([f" word{i}" for i in range(900)]))
    wide = canvas.document.n_rows
    canvas.go_to_start()
    canvas.resize(150, 200)
    assert canvas.document.n_rows > 1.5 * wide
    assert canvas.top_row == 0
    canvas.restyle(LIGHT)
    assert canvas.theme is LIGHT
