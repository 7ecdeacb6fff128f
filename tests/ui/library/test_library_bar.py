"""The line over the list of sessions."""

from pytestqt.qtbot import QtBot

from ui.library.library_bar import LibraryBar
from ui.theme import DARK


def test_without_room_the_buttons_are_icons_that_say_what_they_are(qtbot: QtBot) -> None:
    bar = LibraryBar(n_compared=4)
    qtbot.addWidget(bar)
    bar.restyle(DARK)
    bar.fit(600)
    assert (bar.open.text(), bar.compare.text()) == ("Open", "Compare")
    bar.fit(300)
    assert (bar.open.text(), bar.compare.text()) == ("", "")
    assert not bar.compare.icon().isNull()
    assert not bar.tags.icon().isNull()
    assert "2 to 4" in bar.compare.accessibleName()


def test_to_search_takes_the_keyboard_and_what_was_searched(qtbot: QtBot) -> None:
    bar = LibraryBar(n_compared=4)
    qtbot.addWidget(bar)
    bar.search.setText("night")
    bar.show()
    bar.to_search()
    assert bar.search.selectedText() == "night"
    assert bar.focusWidget() is bar.search
