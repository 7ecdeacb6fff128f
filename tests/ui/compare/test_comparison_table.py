"""The table of a comparison: what its cells say and how they look, copied, as high as its rows."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from ui.compare.comparison_rows import Cell, Row
from ui.compare.comparison_table import ComparisonTable
from ui.look import Look
from ui.plain_text import plain_tip
from ui.theme import DARK

ROWS = (
    Row(
        "tokens/s",
        "How fast.",
        (Cell(text="10", bar=0.5), Cell(text="▲ 20", bar=1.0, is_best=True)),
    ),
    Row("alpha", "How often.", (Cell(text="n/a", why="nothing drafted"), Cell(text="0.8"))),
)


@pytest.fixture
def table(qtbot: QtBot) -> ComparisonTable:
    table = ComparisonTable(Look("dark"))
    qtbot.addWidget(table)
    table.show_rows(("plain", "fast"), ROWS)
    return table


def test_the_cells(table: ComparisonTable) -> None:
    model, role = table.model_, Qt.ItemDataRole
    assert (model.rowCount(), model.columnCount()) == (2, 3)
    assert [model.headerData(i, Qt.Orientation.Horizontal) for i in range(3)] == [
        "", "plain", "fast",
    ]  # fmt: skip
    assert model.index(0, 0).data() == "tokens/s"
    assert model.index(0, 0).data(role.ToolTipRole) == "How fast."
    assert model.index(1, 1).data(role.ToolTipRole) == "nothing drafted"
    assert model.index(1, 1).data(role.ForegroundRole).name().upper() == DARK.dim
    assert model.index(1, 2).data(role.ForegroundRole).name().upper() == DARK.text
    assert model.index(0, 2).data(role.FontRole).bold()
    assert model.index(0, 1).data(role.FontRole) is None


def test_the_best_bar_is_longer_and_fuller(table: ComparisonTable, qtbot: QtBot) -> None:
    table.resize(500, 200)
    image = table.grab().toImage()

    def widths(column: int) -> int:
        box = table.visualRect(table.model_.index(0, column))
        y = box.top() + table.horizontalHeader().height() + 5
        ground = image.pixelColor(box.left() + 1, y)
        return sum(image.pixelColor(x, y) != ground for x in range(box.left() + 1, box.right()))

    assert widths(2) > 1.5 * widths(1) > 0


def test_it_is_as_high_as_its_rows(table: ComparisonTable) -> None:
    two = table.height()
    table.show_rows(("plain", "fast"), ROWS[:1])
    assert table.height() < two
    assert table.model_.rowCount() == 1


def test_it_is_copied_as_a_spreadsheet_takes_it(table: ComparisonTable, qtbot: QtBot) -> None:
    qtbot.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().splitlines() == [
        "\tplain\tfast", "tokens/s\t10\t▲ 20", "alpha\tn/a\t0.8",
    ]  # fmt: skip


def test_a_headings_tooltip_says_the_name_as_it_is(table: ComparisonTable) -> None:
    table.show_rows(("a & <b>", "fast"), ROWS)
    horizontal, role = Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole
    assert table.model_.headerData(1, horizontal, role) == plain_tip("a & <b>")
    table.show_rows(("a", "fast"), ROWS, ("a session", "a faster one"))
    assert table.model_.headerData(2, horizontal, role) == plain_tip("a faster one")
