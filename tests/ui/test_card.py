"""Cards: a title, a note that is never wider than its line, a dock."""

from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMainWindow, QMenu
from pytestqt.qtbot import QtBot

from ui.card import CardDock, CardHeader
from ui.look import Look
from ui.moment import Moment, View
from ui.panel_table import ListedPanel
from ui.panels.base import Empty, Panel
from ui.view_state import ViewState


class Words(Panel):
    key, title, reads, explanation = "words", "Some α words", ("steps",), "what they mean"  # noqa: RUF001

    def build(self) -> None:
        """Nothing."""

    @staticmethod
    def digest(moment: Moment, view: View) -> Any:
        return None

    def draw(self, digest: Any) -> None:
        self.noted.emit("noted")


LISTED = ListedPanel(Words.key, Words.title, __name__, "Words", Words.title)


def test_a_note_is_shown_beside_the_title(qtbot: QtBot) -> None:
    dock = CardDock(LISTED, ViewState(), Look("dark"))
    qtbot.addWidget(dock)
    dock.panel.show_digest(1)
    assert dock.header.title.text() == "SOME α WORDS"  # noqa: RUF001
    assert dock.header.note.text() == "noted"
    assert dock.objectName() == "words"
    assert dock.header.title.toolTip() == "what they mean"


def test_a_note_that_is_too_long_is_cut_and_whole_in_its_tooltip(qtbot: QtBot) -> None:
    header = CardHeader("Title")
    qtbot.addWidget(header)
    header.resize(200, 30)
    header.show()
    note = "a note of many words " * 9
    header.set_note(note)
    assert header.note.toolTip() == f"<p>{note}</p>"
    assert header.sizeHint().width() < 400
    header.set_note("short")
    assert header.note.toolTip() == ""


def test_a_note_loses_whole_parts_first(qtbot: QtBot) -> None:
    header = CardHeader("Title")
    qtbot.addWidget(header)
    header.resize(300, 30)
    header.show()
    note = "first of it · second of it · third of it, which is much longer than there is room for"
    header.set_note(note)
    assert header.note.text() == "first of it · second of it …"
    assert note in header.note.toolTip()
    header.resize(900, 30)
    assert header.note.text() == note
    assert header.note.toolTip() == ""


def test_a_hidden_card_is_not_seen(qtbot: QtBot) -> None:
    dock = CardDock(LISTED, ViewState(), Look("dark"))
    qtbot.addWidget(dock)
    assert not dock.is_seen
    dock.show()
    qtbot.waitExposed(dock)
    assert dock.is_seen


def test_a_panel_is_made_when_it_is_first_asked_for(qtbot: QtBot) -> None:
    dock = CardDock(LISTED, ViewState(), Look("dark"))
    qtbot.addWidget(dock)
    told: list[object] = []
    dock.made.connect(told.append)
    assert not dock.is_made
    panel = dock.panel
    assert dock.panel is panel
    assert told == [panel]


def test_an_empty_panel_says_what_it_will_show(qtbot: QtBot) -> None:
    panel = Words(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.show_digest(None)
    assert panel.is_empty
    panel.show_digest(1)
    assert not panel.is_empty


def test_a_note_is_rich_text_whether_or_not_it_holds_a_tag(qtbot: QtBot) -> None:
    header = CardHeader("Title")
    qtbot.addWidget(header)
    assert header.note.textFormat() is Qt.TextFormat.RichText  # "&amp;" alone is an "&"


def test_a_placeholder_shows_markup_as_it_is(qtbot: QtBot) -> None:
    panel = Words(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    panel.show_digest(Empty("the file <s> is not there"))
    assert panel._placeholder.textFormat() is Qt.TextFormat.PlainText


def test_what_can_be_done_with_a_card_is_at_its_title(qtbot: QtBot) -> None:
    host, dock = QMainWindow(), CardDock(LISTED, ViewState(), Look("dark"))
    qtbot.addWidget(host)
    host.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    host.show()

    def act(beginning: str) -> None:
        (action,) = [each for each in dock.menu().actions() if each.text().startswith(beginning)]
        action.trigger()

    place, size = dock.mapToGlobal(QPoint()), dock.size()
    act("Float")
    assert dock.isFloating()
    assert dock.geometry().topLeft() - place == QPoint(40, 40)  # and not over its old place
    assert size == size.boundedTo(dock.size())
    assert dock.screen().availableGeometry().contains(dock.geometry())
    assert not dock.windowFlags() & Qt.WindowType.FramelessWindowHint
    act("Put back")
    assert not dock.isFloating()
    act("Hide")
    assert dock.isHidden()
    with qtbot.waitSignal(dock.reset_wanted):
        act("Reset this layout")


def test_the_menu_opens_where_the_title_is_clicked(qtbot: QtBot, monkeypatch: Any) -> None:
    dock = CardDock(LISTED, ViewState(), Look("dark"))
    qtbot.addWidget(dock)
    opened: list[QMenu] = []
    monkeypatch.setattr("ui.card.pop_up", lambda menu, _place: opened.append(menu))
    dock.header.customContextMenuRequested.emit(QPoint(5, 5))
    assert len(opened) == 1


def test_a_tab_has_a_shorter_title_and_a_window_all_of_it(qtbot: QtBot) -> None:
    listed = ListedPanel(Words.key, Words.title, __name__, "Words", "words")
    host, dock = QMainWindow(), CardDock(listed, ViewState(), Look("dark"))
    qtbot.addWidget(host)
    host.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
    host.show()
    assert (dock.windowTitle(), dock.title) == ("words", "Some α words")  # noqa: RUF001
    assert dock.header.title.text() == "SOME α WORDS"  # noqa: RUF001
    dock.setFloating(True)
    assert dock.windowTitle() == dock.title
