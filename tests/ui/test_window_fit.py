"""A window never hangs over the screen's edge, its frame included."""

from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QMainWindow, QWidget
from pytestqt.qtbot import QtBot

from ui.window_fit import first_size, fitted, keep_in_sight, restore

SCREEN = QRect(0, 24, 960, 516)  # below a panel


def framed(inner: QRect) -> QRect:
    return inner.adjusted(-2, -20, 2, 2)


def test_a_frame_that_is_larger_than_the_screen_is_drawn_in() -> None:
    inner = QRect(0, 24, 960, 516)
    placed = fitted(inner, framed(inner), SCREEN)
    assert framed(placed) == SCREEN


def test_a_window_that_fits_is_moved_and_keeps_its_size() -> None:
    inner = QRect(700, 300, 500, 300)
    placed = fitted(inner, framed(inner), SCREEN)
    assert placed.size() == inner.size()
    assert SCREEN.contains(framed(placed))


def test_a_window_in_sight_stays_where_it_is() -> None:
    inner = QRect(100, 100, 500, 300)
    assert fitted(inner, framed(inner), SCREEN) == inner


def test_room_is_left_for_a_frame_where_the_screen_is_small() -> None:
    assert first_size(QSize(1720, 1050), QSize(2560, 1440)) == QSize(1720, 1050)
    size = first_size(QSize(1720, 1050), QSize(1366, 768))
    assert size.width() < 1366
    assert size.height() < 768 - 20


def test_a_window_kept_from_a_larger_screen_fits_into_this_one(qtbot: QtBot) -> None:
    kept, window = QMainWindow(), QMainWindow()
    for each in (kept, window):
        qtbot.addWidget(each)
        each.setCentralWidget(QWidget())
    kept.resize(3000, 2000)
    restore(window, bytes(kept.saveGeometry().toBase64().data()).decode("ascii"))
    available = window.screen().availableGeometry().size()
    assert window.size() == window.size().boundedTo(available)


def test_a_window_over_the_edge_is_drawn_in_and_a_larger_one_is_meant_so(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    available = window.screen().availableGeometry()
    window.setGeometry(available.translated(90, 90))
    window.show()
    keep_in_sight(window)
    assert available.contains(window.frameGeometry())
    window.resize(available.width() + 100, available.height())
    keep_in_sight(window)
    assert window.width() == available.width() + 100
