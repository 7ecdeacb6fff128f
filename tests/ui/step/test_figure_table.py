"""The figures of a step, a row each."""

import pytest
from pytestqt.qtbot import QtBot

from ui.step.figure_table import HEADS, FigureTable


def rows(n: int) -> list[tuple[str, ...]]:
    return [tuple(f"{row}{head}" for head in HEADS) for row in range(n)]


@pytest.fixture
def table(qtbot: QtBot) -> FigureTable:
    table = FigureTable()
    qtbot.addWidget(table)
    return table


def test_every_head_says_what_it_means(table: FigureTable) -> None:
    heads = [table.horizontalHeaderItem(column) for column in range(table.columnCount())]
    assert [head.text() for head in heads] == list(HEADS)
    assert all(head.toolTip() for head in heads)


def test_rows_come_and_go_and_one_is_marked(table: FigureTable) -> None:
    table.show_rows(rows(4), 2)
    assert table.item(3, 1).text() == "3draft"
    assert [index.row() for index in table.selectionModel().selectedRows()] == [2]
    first = table.item(0, 0)
    table.show_rows(rows(1), None)
    assert table.rowCount() == 1
    assert table.item(0, 0) is first  # written anew, not made anew
    assert not table.selectionModel().hasSelection()


def test_it_is_as_high_as_so_many_rows(table: FigureTable) -> None:
    table.fit(3)
    three = table.height()
    table.fit(5)
    assert table.height() == three + 2 * table.verticalHeader().defaultSectionSize()
