"""The look: chosen, followed, told."""

from pytestqt.qtbot import QtBot

from ui.look import Look
from ui.theme import DARK, LIGHT


def test_a_chosen_theme_is_told_once(qtbot: QtBot) -> None:
    look = Look("dark")
    told: list[str] = []
    look.changed.connect(lambda: told.append(look.theme.name))
    look.choose("light")
    look.choose("light")
    assert told == ["light"]
    assert look.theme is LIGHT
    assert look.choice == "light"


def test_the_application_is_dressed(qtbot: QtBot) -> None:
    from PySide6.QtWidgets import QApplication

    look = Look("light")
    look.choose("dark")
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    assert DARK.window.lower() == application.palette().window().color().name()
    assert DARK.panel in application.styleSheet()
    application.setStyleSheet("")
