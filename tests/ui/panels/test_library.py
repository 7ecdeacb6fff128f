"""The list of sessions as a person uses it: find, rename, delete, bring back, import, compare."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from engine.wire.events import SessionStarted
from sessions.library import Library
from tests.sessions.recorded import record, script
from ui.library.library_rows import Column
from ui.look import Look
from ui.panels.library import LibraryPanel
from ui.theme import DARK, LIGHT
from ui.view_state import ViewState

PATIENCE_S = 20.0

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # offscreen, for every window


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A library of three: by date c, b, a; by speed b, c, a."""
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    folder = Library().folder
    folder.mkdir(parents=True)
    for day, (name, speed) in enumerate((("a", 1.0), ("b", 30.0), ("c", 4.0))):
        events = script(3)
        first = events[0]
        assert isinstance(first, SessionStarted)
        started = 1_700_000_000_000_000_000 + day * 86_400_000_000_000
        events[0] = replace(first, started_unix_ns=started)
        record(folder / f"{name}.specscope", events, figures={"tokens_per_second": speed})
    return folder


@pytest.fixture
def panel(folder: Path, qtbot: QtBot) -> Iterator[LibraryPanel]:
    panel = LibraryPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.resize(900, 420)
    with qtbot.waitExposed(panel):
        panel.show()
    settle(panel)
    yield panel
    panel.close_tasks()


def settle(panel: LibraryPanel) -> None:
    """Ticks until nothing is under way and the list was read behind it."""
    deadline = time.monotonic() + PATIENCE_S

    def tick_while(is_waiting: Callable[[], bool]) -> None:
        while is_waiting():
            panel.tick()
            assert time.monotonic() < deadline
            time.sleep(0.001)

    tick_while(lambda: panel.desk.is_busy)
    panel.desk.look()
    panel.tick()
    tick_while(lambda: panel.desk._reading is not None)
    panel.tick()


def shown(panel: LibraryPanel) -> list[str]:
    return [row.name for row in panel.table.shown()]


def test_newest_first_and_sorted_by_any_column(panel: LibraryPanel) -> None:
    assert shown(panel) == ["c", "b", "a"]
    panel.table.sortByColumn(Column.SPEED, Qt.SortOrder.DescendingOrder)
    assert shown(panel) == ["b", "c", "a"]
    panel.table.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
    assert shown(panel) == ["a", "b", "c"]


def test_a_search_leaves_what_matches_and_says_how_many(
    panel: LibraryPanel, folder: Path, qtbot: QtBot
) -> None:
    panel.desk.set_tags(folder / "b.specscope", ["night"])
    settle(panel)
    told: list[str] = []
    panel.noted.connect(told.append)
    qtbot.keyClicks(panel.bar.search, "night")
    assert shown(panel) == ["b"]
    assert told[-1] == "1 of 3 sessions"
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert panel.bar.search.selectedText() == "night"


def test_enter_and_a_double_click_open(panel: LibraryPanel, folder: Path, qtbot: QtBot) -> None:
    panel.table.select([folder / "b.specscope"])
    panel.table.setFocus()
    with qtbot.waitSignal(panel.opened) as opened:
        qtbot.keyClick(panel.table, Qt.Key.Key_Return)
    assert opened.args == [folder / "b.specscope"]
    place = panel.table.visualRect(panel.table.currentIndex()).center()
    with qtbot.waitSignal(panel.opened):
        qtbot.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        qtbot.mouseDClick(panel.table.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_two_to_four_can_be_compared(panel: LibraryPanel, folder: Path, qtbot: QtBot) -> None:
    panel.table.select([folder / "a.specscope"])
    assert not panel.bar.compare.isEnabled()
    panel.table.select([folder / "a.specscope", folder / "c.specscope"])
    assert panel.bar.compare.isEnabled()
    with qtbot.waitSignal(panel.compare_wanted) as wanted:
        panel.bar.compare.click()
    assert wanted.args == [[folder / "c.specscope", folder / "a.specscope"]]
    for name in "def":
        record(folder / f"{name}.specscope", script(3))
    settle(panel)
    panel.table.selectAll()
    assert not panel.bar.compare.isEnabled()


def test_renamed_in_place(panel: LibraryPanel, folder: Path, qtbot: QtBot) -> None:
    panel.table.select([folder / "b.specscope"])
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_F2)
    editor = panel.table.findChild(QLineEdit)
    assert editor is not None
    editor.setText("night run")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not panel.table.is_editing)
    settle(panel)
    assert shown(panel) == ["c", "night run", "a"]
    assert [row.path for row in panel.table.selected()] == [folder / "b.specscope"]


def test_tags_and_notes_are_kept_when_the_field_is_left(panel: LibraryPanel, folder: Path) -> None:
    panel.table.select([folder / "b.specscope"])
    assert panel.form.isVisible()
    panel.form.tags.setText("x, y ,")
    panel.form.tags.editingFinished.emit()
    panel.form.notes.setPlainText("two\nlines")
    panel.table.select([folder / "a.specscope"])  # the notes were left
    settle(panel)
    (row,) = [row for row in panel.table.shown() if row.name == "b"]
    assert (row.tags, row.notes) == (("x", "y"), "two\nlines")
    assert panel.form.notes.toPlainText() == ""


def test_what_is_being_written_outlives_a_reading(panel: LibraryPanel, folder: Path) -> None:
    panel.table.select([folder / "b.specscope"])
    panel.form.notes.setPlainText("half a sen")
    record(folder / "d.specscope", script(3))
    settle(panel)
    assert panel.form.path == folder / "b.specscope"
    assert panel.form.notes.toPlainText() == "half a sen"


def test_tagged_in_place(panel: LibraryPanel, folder: Path, qtbot: QtBot) -> None:
    assert not panel.bar.tags.isEnabled()
    panel.table.select([folder / "a.specscope"])
    qtbot.mouseClick(panel.bar.tags, Qt.MouseButton.LeftButton)
    field = panel.table.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    field.setText("night, h100")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not panel.table.is_editing)
    settle(panel)
    assert panel.table.selected()[0].tags == ("night", "h100")


def test_deleted_and_undone(panel: LibraryPanel, folder: Path, qtbot: QtBot) -> None:
    panel.table.select([folder / "b.specscope"])
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_Delete)
    settle(panel)
    assert shown(panel) == ["c", "a"]
    assert panel.note.text == "Deleted b."
    panel.note.action.click()
    settle(panel)
    assert shown(panel) == ["c", "b", "a"]
    assert panel.note.isHidden()


def test_deleted_for_good_when_closed(panel: LibraryPanel, folder: Path) -> None:
    panel.table.select([folder / "b.specscope"])
    panel._delete()
    settle(panel)
    panel.close_tasks()
    assert sorted(path.name for path in folder.iterdir()) == ["a.specscope", "c.specscope"]


def test_dropped_files_are_imported_and_a_bad_one_said(panel: LibraryPanel, tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.specscope", record(tmp_path / "good.specscope", script(3))
    bad.write_text("text")
    for path in (good, bad):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        panel.dropEvent(
            QDropEvent(
                QPointF(5, 5),
                Qt.DropAction.CopyAction,
                data,
                Qt.MouseButton.LeftButton,
                Qt.KeyboardModifier.NoModifier,
            )
        )
    settle(panel)
    assert "good" in shown(panel)
    assert "bad" not in shown(panel)
    assert panel.note.is_error
    assert "not a session file" in panel.note.text


def test_a_broken_file_is_listed_with_its_problem(panel: LibraryPanel, folder: Path) -> None:
    (folder / "broken.specscope").write_text("text")
    settle(panel)
    assert "broken" in shown(panel)
    panel.table.select([folder / "broken.specscope"])
    assert "not a session file" in panel.form.facts
    assert not panel.form.notes.isEnabled()
    assert not panel.bar.compare.isEnabled()
    place = shown(panel).index("broken")
    index = panel.table.sieve.index(place, Column.NAME)
    assert index.data().startswith("⚠")
    assert index.data(Qt.ItemDataRole.ForegroundRole) == QColor(DARK.rejected)
    panel.look.choose("light")
    assert index.data(Qt.ItemDataRole.ForegroundRole) == QColor(LIGHT.rejected)
    panel.look.choose("dark")


def test_a_search_without_hits_says_so_and_how_to_see_all_again(
    panel: LibraryPanel, qtbot: QtBot
) -> None:
    qtbot.keyClicks(panel.bar.search, "no such <b>")
    assert panel.table.isHidden()
    assert not panel._empty.isHidden()
    assert "No session matches \u201cno such <b>\u201d" in panel._empty.text()
    assert "shows all again" in panel._empty.text()
    panel.bar.search.clear()
    assert not panel.table.isHidden()
    assert panel._empty.isHidden()


def test_an_empty_library_says_what_to_do(panel: LibraryPanel, folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    settle(panel)
    assert panel.table.isHidden()
    assert not panel._empty.isHidden()


def test_the_menu_offers_what_can_be_done(panel: LibraryPanel, folder: Path) -> None:
    def enabled() -> set[str]:
        menu = panel.menu()
        return {a.text().split("\t")[0] for a in menu.actions() if a.text() and a.isEnabled()}

    panel.table.clearSelection()
    assert enabled() == {"Show in its folder", "Import…"}
    panel.table.select([folder / "a.specscope"])
    assert enabled() == {
        "Open", "Rename", "Tags…", "Export…", "Show in its folder", "Delete", "Import…",
    }  # fmt: skip
    panel.table.selectAll()
    assert enabled() == {"Compare", "Delete", "Import…"}


def test_export_is_asked_for(panel: LibraryPanel, folder: Path, qtbot: QtBot) -> None:
    panel.table.select([folder / "a.specscope"])
    with qtbot.waitSignal(panel.export_wanted) as wanted:
        panel._export()
    assert wanted.args == [folder / "a.specscope"]


def test_small_it_keeps_the_table(panel: LibraryPanel, folder: Path) -> None:
    panel.resize(260, 180)
    panel.table.select([folder / "a.specscope"])
    assert panel.form.isHidden()
    assert panel.bar.open.text() == ""
    assert panel.table.height() > 60
