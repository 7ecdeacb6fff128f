from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from pytestqt.qtbot import QtBot

from sessions.token_trail import TrailKind
from tests.ui.text.test_token_document import Scripted
from ui.text.token_view import TokenView
from ui.theme import DARK, LIGHT

WORDS = ["Ask:", " a", "b\n", " cd", " XX", " ef", " g"]
KINDS = [
    TrailKind.PROMPT, TrailKind.ACCEPTED, TrailKind.ACCEPTED, TrailKind.ACCEPTED,
    TrailKind.REJECTED, TrailKind.RECOVERED, TrailKind.BONUS,
]  # fmt: skip


def told(words: list[str], kinds: list[TrailKind]) -> Scripted:
    tokens = Scripted(words, [int(kind) for kind in kinds])
    is_prompt = np.array(kinds) == TrailKind.PROMPT
    tokens.step = np.where(is_prompt, -1, np.arange(len(words)) // 3).astype(np.int32)
    return tokens


@pytest.fixture
def view(qtbot: QtBot) -> TokenView:
    view = TokenView(DARK)
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show()
    view.show_tokens(told(WORDS, KINDS))
    return view


def middle(view: TokenView, item: int) -> QPoint:
    return view.rect_of(item).center().toPoint()


def move(view: TokenView, place: QPoint, button: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    """A mouse move; qtbot's holds no button."""
    moved = QMouseEvent(
        QEvent.Type.MouseMove, QPointF(place), view.viewport().mapToGlobal(QPointF(place)),
        button, button, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    view.mouseMoveEvent(moved)


def long_text(n: int) -> Scripted:
    return told([f" {i}\n" for i in range(n)], [TrailKind.ACCEPTED] * n)


def pixels(view: TokenView) -> bytes:
    image = view.viewport().grab().toImage()
    return bytes(image.constBits())


def test_each_token_is_under_its_own_place(view: TokenView):
    for item in range(len(WORDS)):
        assert view.item_at(QPointF(middle(view, item))) == item
    assert view.item_at(QPointF(290, 8)) == -1
    assert view.item_at(QPointF(20, 190)) == -1


def test_a_click_chooses_a_token_and_a_drag_none(view: TokenView, qtbot: QtBot):
    chosen: list[int] = []
    view.token_chosen.connect(chosen.append)
    qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle(view, 4))
    assert chosen == [4]
    start, end = view.rect_of(3).topLeft().toPoint(), view.rect_of(5).center().toPoint()
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start + QPoint(1, 5))
    qtbot.mouseMove(view.viewport(), end)
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=end)
    assert chosen == [4]


def test_what_is_dragged_over_is_copied_without_refused_tokens(view: TokenView, qtbot: QtBot):
    start = view.rect_of(3).topLeft().toPoint() + QPoint(1, 5)
    end = view.rect_of(5).topRight().toPoint() + QPoint(0, 5)
    qtbot.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    move(view, end, Qt.MouseButton.LeftButton)
    qtbot.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=end)
    qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == " cd ef"


def test_everything_is_selected_as_plain_text(view: TokenView, qtbot: QtBot):
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    assert view.selected_text() == "Ask: ab\n cd ef g"


def test_arrow_keys_go_from_token_to_token(view: TokenView, qtbot: QtBot):
    chosen: list[int] = []
    view.token_chosen.connect(chosen.append)
    qtbot.keyClick(view, Qt.Key.Key_Left)
    view.show_tokens(told(WORDS, KINDS), marked_step=1, marked_item=4)
    qtbot.keyClick(view, Qt.Key.Key_Left)
    qtbot.keyClick(view, Qt.Key.Key_Right)
    view.show_tokens(told(WORDS, KINDS), marked_step=0, marked_item=1)
    qtbot.keyClick(view, Qt.Key.Key_Left)  # the prompt is no step's
    assert chosen == [6, 3, 5]


def test_the_token_under_the_mouse_is_told_once(view: TokenView, qtbot: QtBot):
    told_items: list[int] = []
    view.hovered.connect(lambda item, _corner: told_items.append(item))
    for item in (1, 1, 4):
        move(view, middle(view, item))
    view.leaveEvent(QEvent(QEvent.Type.Leave))
    assert told_items == [1, 4, -1]


def test_it_follows_the_end_until_somebody_scrolls_up(view: TokenView, qtbot: QtBot):
    view.show_tokens(long_text(500))
    bar = view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 400
    view.show_tokens(long_text(600))
    assert bar.value() == bar.maximum() > 500
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert not view.follows
    assert view.follow_button.isVisible()
    top = view.top_row
    view.show_tokens(long_text(700))
    assert view.top_row == top
    qtbot.mouseClick(view.follow_button, Qt.MouseButton.LeftButton)
    assert bar.value() == bar.maximum() > 600
    assert not view.follow_button.isVisible()


def test_whoever_scrolls_back_to_the_end_follows_again(view: TokenView, qtbot: QtBot):
    view.show_tokens(long_text(100))
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    assert view.follows


def test_a_step_that_is_selected_elsewhere_is_scrolled_to(view: TokenView):
    tokens = long_text(9000)
    view.show_tokens(tokens)
    view.show_tokens(tokens, marked_step=1000, marked_item=None)
    assert view.top_row <= 3000 < view.top_row + view.n_visible_rows
    view.show_tokens(long_text(9500), marked_step=1000, marked_item=None)
    assert view.top_row <= 3000 < view.top_row + view.n_visible_rows
    view.show_tokens(long_text(9500))
    assert view.top_row == view.verticalScrollBar().maximum() > 9000


@pytest.mark.parametrize(
    "change",
    [
        lambda view: view.show_tokens(told(WORDS, KINDS), marked_step=1),
        lambda view: view.show_tokens(told(WORDS, KINDS), marked_step=1, marked_item=4),
        lambda view: view.select_all(),
        lambda view: view.restyle(LIGHT),
        lambda view: view.show_tokens(told(WORDS, [TrailKind.ACCEPTED] * len(WORDS))),
    ],
)
def test_marks_selection_theme_and_origin_are_seen(
    view: TokenView, change: Callable[[TokenView], None]
):
    before = pixels(view)
    assert before == pixels(view)
    change(view)
    assert pixels(view) != before


def test_direction_marks_and_controls_show_as_marks_and_copy_as_they_came(view: TokenView):
    words = ["a\u202eb", "\x1b[31m", "\u2028", "<b>x</b>", "\ud800"]
    view.show_tokens(told(words, [TrailKind.ACCEPTED] * 5))
    pixels(view)
    assert view.rect_of(0).width() == pytest.approx(8 * view._pencil.cell)
    view.select_all()
    assert view.selected_text() == "".join(words)


def test_nothing_is_told_of_a_token_that_has_moved_on(view: TokenView) -> None:
    told_items: list[int] = []
    view.hovered.connect(lambda item, _corner: told_items.append(item))
    view.show_tokens(long_text(60))
    move(view, middle(view, 57))
    view.show_tokens(long_text(60))  # nothing new
    assert told_items == [57]
    view.show_tokens(long_text(63))
    assert told_items == [57, -1]
    move(view, middle(view, 60))
    view.go_to_start()
    assert told_items == [57, -1, 60, -1]


def test_nothing_is_told_of_a_token_that_was_refused_meanwhile(view: TokenView) -> None:
    told_items: list[int] = []
    view.hovered.connect(lambda item, _corner: told_items.append(item))
    move(view, middle(view, 3))
    kinds = [*KINDS[:3], TrailKind.REJECTED, *KINDS[4:]]
    view.show_tokens(told(WORDS, kinds))
    assert told_items == [3, -1]


def test_a_double_click_and_enter_open_a_token(view: TokenView, qtbot: QtBot) -> None:
    opened: list[int] = []
    view.token_opened.connect(opened.append)
    qtbot.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=middle(view, 3))
    assert opened == [3]
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert opened == [3]  # none is chosen
    view.show_tokens(told(WORDS, KINDS), marked_step=1, marked_item=5)
    qtbot.keyClick(view, Qt.Key.Key_Return)
    assert opened == [3, 5]
