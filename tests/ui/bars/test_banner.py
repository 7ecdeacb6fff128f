"""The banner: said, acted upon, closed."""

from pytestqt.qtbot import QtBot

from ui.bars.banner import Banner
from ui.look import Look


def test_a_long_text_shows_its_beginning_and_its_end(qtbot: QtBot) -> None:
    banner = Banner(Look("dark"))
    qtbot.addWidget(banner)
    banner.say("\n".join(["It ended.", *[f"line {n}" for n in range(50)]]))
    assert not banner.isHidden()
    assert banner._words.text() == "It ended.\n…\nline 48\nline 49"
    assert "line 20" in banner._words.toolTip()


def test_what_an_engine_printed_is_never_markup(qtbot: QtBot) -> None:
    banner = Banner(Look("dark"))
    qtbot.addWidget(banner)
    banner.say("<b>a</b>\n" * 9)
    assert "&lt;b&gt;" in banner._words.toolTip()
    assert banner._words.text().startswith("<b>a</b>")


def test_its_button_acts_and_closes(qtbot: QtBot) -> None:
    banner = Banner(Look("light"))
    qtbot.addWidget(banner)
    done: list[int] = []
    banner.say("Deleted.", kind="warning", action="Undo", act=lambda: done.append(1))
    banner.action.click()
    assert done == [1]
    assert banner.isHidden()


def test_without_an_action_there_is_no_button(qtbot: QtBot) -> None:
    banner = Banner(Look("dark"))
    qtbot.addWidget(banner)
    banner.say("No.")
    assert banner.action.isHidden()
