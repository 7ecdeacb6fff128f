"""A page that is written anew."""

from pytestqt.qtbot import QtBot

from ui.page_browser import PageBrowser

LINES = [f"<p>line {n}</p>" for n in range(200)]


def test_a_new_page_is_seen_from_where_the_old_one_was_and_the_same_one_is_left_alone(
    qtbot: QtBot,
) -> None:
    browser = PageBrowser("What to do")
    qtbot.addWidget(browser)
    browser.resize(300, 200)
    browser.show()
    browser.show_page("".join(LINES))
    browser.verticalScrollBar().setValue(150)
    browser.show_page("".join([*LINES, "<p>one more</p>"]))
    assert browser.verticalScrollBar().value() == 150
    browser.selectAll()
    browser.show_page("".join([*LINES, "<p>one more</p>"]))
    assert browser.textCursor().hasSelection()
    browser.forget()
    browser.show_page("".join([*LINES, "<p>one more</p>"]))
    assert not browser.textCursor().hasSelection()
    assert browser.accessibleName() == "What to do"
