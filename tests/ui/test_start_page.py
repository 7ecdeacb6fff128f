"""The start page: what can be begun from it."""

from pathlib import Path
from unittest.mock import Mock

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from sessions.library import LibraryEntry
from sessions.session_summary import FileSummary
from tests.ui.tab_stops import order_from
from ui.look import Look
from ui.start_page import StartPage, _Line


def page_of(qtbot: QtBot) -> StartPage:
    page = StartPage(Look("dark"))
    qtbot.addWidget(page)
    return page


def test_each_kind_can_be_run(qtbot: QtBot) -> None:
    page = page_of(qtbot)
    wanted: list[str] = []
    page.kind_wanted.connect(wanted.append)
    for button in page.kind_buttons.values():
        button.click()
    assert wanted == ["json", "code", "prose"]


def test_a_prompt_of_ones_own(qtbot: QtBot) -> None:
    page = page_of(qtbot)
    wanted: list[str] = []
    page.prompt_wanted.connect(wanted.append)
    page.prompt.setText("  ")
    page.prompt.returnPressed.emit()
    page.prompt.setText("def f(x):")
    page.prompt.returnPressed.emit()
    assert wanted == ["def f(x):"]


def test_broken_sessions_are_left_out_and_an_empty_library_says_so(qtbot: QtBot) -> None:
    page = page_of(qtbot)
    page.show_recent([LibraryEntry(Path("a.specscope"), None, "It is damaged.", 0)])
    widget = page._recent.itemAt(0).widget()
    assert widget is not None
    assert not isinstance(widget, QPushButton)


def test_the_machine_is_told_as_text(qtbot: QtBot) -> None:
    page = page_of(qtbot)
    page.show_machine([("GPU", "<b>none</b>")])
    assert "&lt;b&gt;none" in page._machine.text()


def test_a_sessions_name_is_shown_as_it_is(qtbot: QtBot) -> None:
    line = _Line("<b>bold</b> & more", "now")
    qtbot.addWidget(line)
    assert line._name.textFormat() is Qt.TextFormat.PlainText


def test_tab_goes_from_recent_session_to_recent_session(qtbot: QtBot) -> None:
    page = page_of(qtbot)
    lines = [_Line(name, "now") for name in "ab"]
    page._recent_line = lambda _entry: lines.pop(0)  # type: ignore[method-assign,assignment]
    shown = tuple(lines)
    summary = Mock(spec=FileSummary)
    page.show_recent([LibraryEntry(Path(f"{n}.specscope"), summary, "", 0) for n in "ab"])
    assert order_from(page.open_button, 4) == [page.open_button, *shown, page.library_button]
