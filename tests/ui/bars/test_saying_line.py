"""A line that says something: its button acts and hides it."""

from pytestqt.qtbot import QtBot

from ui.bars.saying_line import SayingLine
from ui.look import Look


class Line(SayingLine):
    def _dress(self) -> None:
        self.n_dressed = getattr(self, "n_dressed", 0) + 1


def test_what_is_offered_is_done_once_and_hides_the_line(qtbot: QtBot) -> None:
    line = Line(Look("dark"), "line")
    qtbot.addWidget(line)
    done: list[int] = []
    line._offer("Undo", lambda: done.append(1))
    line.show()
    line.action.click()
    assert done == [1]
    assert line.isHidden()
    line._offer("", None)
    assert line.action.isHidden()


def test_it_is_dressed_anew_with_the_theme(qtbot: QtBot) -> None:
    look = Look("dark")
    line = Line(look, "line")
    qtbot.addWidget(line)
    look.choose("light")
    assert line.n_dressed == 1
