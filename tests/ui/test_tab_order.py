"""Tab goes in reading order, whatever was made first."""

from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.tab_stops import order_from
from ui.tab_order import stops_before, tab_through


def named(widget: QWidget, name: str) -> QWidget:
    widget.setObjectName(name)
    return widget


def test_parts_that_came_late_take_their_place(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    last = named(QPushButton(), "last")
    column.addWidget(last)
    parts = []
    for part_name in ("second", "first"):
        part = QWidget()
        inner = QVBoxLayout(part)
        for name in ("a", "b"):
            inner.addWidget(named(QLineEdit(), f"{part_name} {name}"))
        column.addWidget(part)
        parts.append(part)
    tab_through(parts[1], parts[0], last)
    met = order_from(parts[1].findChildren(QLineEdit)[0], 5)
    assert [each.objectName() for each in met] == [
        "first a",
        "first b",
        "second a",
        "second b",
        "last",
    ]


def test_the_stop_before_is_what_takes_the_keyboard(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    column = QVBoxLayout(window)
    first, words, last = QPushButton(), QLabel(), QPushButton()
    for widget in (first, words, last):
        column.addWidget(widget)
    assert stops_before(last) == [first]
    alone = QWidget()
    qtbot.addWidget(alone)
    assert stops_before(alone) == []
