"""The library as a table: sorted, searched, selected by file, edited in place."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from tests.ui.library.test_library_form import row
from ui.library.library_rows import HEADINGS, Column
from ui.library.library_table import LibraryTable
from ui.look import Look
from ui.plain_text import plain_tip
from ui.theme import DARK


@pytest.fixture
def table(qtbot: QtBot) -> LibraryTable:
    table = LibraryTable(Look("dark"))
    qtbot.addWidget(table)
    table.show_rows([row(name) for name in "bca"])
    return table


def names(table: LibraryTable) -> list[str]:
    return [each.name for each in table.shown()]


def test_it_sorts_by_keys_and_searches(table: LibraryTable) -> None:
    table.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
    assert names(table) == ["a", "b", "c"]
    table.sortByColumn(Column.NAME, Qt.SortOrder.DescendingOrder)
    assert names(table) == ["c", "b", "a"]
    table.sieve.search("b")
    assert names(table) == ["b"]


def test_the_selection_stays_with_its_files(table: LibraryTable) -> None:
    table.select([Path("b.specscope")])
    told: list[int] = []
    table.picked.connect(lambda: told.append(1))
    table.show_rows([row(name) for name in "adbc"])
    assert [each.name for each in table.selected()] == ["b"]
    told.clear()
    table.show_rows([row(name, notes="other") for name in "adbc"])
    assert [each.notes for each in table.selected()] == ["other"]
    assert told == []  # the same files: nothing was picked anew


def test_headings_and_looks(table: LibraryTable) -> None:
    table.show_rows([row("a", problem="Broken.")])
    model, horizontal = table.model_, Qt.Orientation.Horizontal
    assert [model.headerData(c, horizontal) for c in Column] == [HEADINGS[c] for c in Column]
    assert model.headerData(0, Qt.Orientation.Vertical) is None
    index = model.index(0, Column.NAME)
    assert index.data() == "⚠ a"
    assert index.data(Qt.ItemDataRole.EditRole) == "a"
    assert index.data(Qt.ItemDataRole.ForegroundRole).name().upper() == DARK.rejected
    assert index.data(Qt.ItemDataRole.ToolTipRole) == plain_tip("Broken.")


@pytest.mark.parametrize(
    ("told", "can_edit"), [({}, True), ({"problem": "No."}, False), ({"is_recording": True}, False)]
)
def test_names_and_tags_of_whole_files_are_edited(
    table: LibraryTable, told: dict[str, object], can_edit: bool
) -> None:
    table.show_rows([row("a", **told)])
    edited = {
        column
        for column in Column
        if table.model_.flags(table.model_.index(0, column)) & Qt.ItemFlag.ItemIsEditable
    }
    assert edited == ({Column.NAME, Column.TAGS} if can_edit else set())


def test_an_edit_is_told_only_if_it_changes_something(table: LibraryTable) -> None:
    told: list[tuple[Path, int, str]] = []
    table.model_.edited.connect(lambda *edit: told.append(edit))
    index = table.model_.index(0, Column.NAME)
    assert not table.model_.setData(index, " b ")
    assert table.model_.setData(index, " night ")
    assert told == [(Path("b.specscope"), int(Column.NAME), "night")]
    assert index.data() == "b"  # until it was read again


def test_names_have_the_room_that_is_left_over(table: LibraryTable) -> None:
    table.resize(700, 300)
    table.show()
    narrow = table.columnWidth(Column.NAME)
    table.resize(1200, 300)
    assert table.columnWidth(Column.NAME) > narrow
    assert sum(table.columnWidth(column) for column in Column) <= table.viewport().width()


def test_tags_are_edited_in_their_own_cell(table: LibraryTable, qtbot: QtBot) -> None:
    told: list[object] = []
    table.model_.edited.connect(lambda *what: told.append(what))
    table.show()
    table.edit_tags()  # nothing is current
    assert not table.is_editing
    table.select([Path("b.specscope")])
    table.edit_tags()
    assert table.is_editing
    field = table.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    field.setText("night, h100")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not table.is_editing)
    assert told == [(Path("b.specscope"), int(Column.TAGS), "night, h100")]
