"""Icons: all drawings can be read, and take their ink."""

import importlib.resources

import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from ui.icons import application_icon, icon, pixmap
from ui.theme import DARK, LIGHT

NAMES = sorted(
    path.name.removesuffix(".svg")
    for path in (importlib.resources.files("resources") / "icons").iterdir()
)


@pytest.mark.parametrize("name", NAMES)
def test_every_drawing_leaves_ink(qtbot: QtBot, name: str) -> None:
    image = pixmap(name, DARK).toImage()
    alphas = [
        image.pixelColor(x, y).alpha() for x in range(image.width()) for y in range(image.height())
    ]
    assert max(alphas) > 200
    assert min(alphas) == 0


def test_the_ink_is_the_themes(qtbot: QtBot) -> None:
    for theme in (DARK, LIGHT):
        image = icon("stop", theme).pixmap(16, 16).toImage()
        centre = image.pixelColor(image.width() // 2, image.height() // 2)
        assert centre.name() == QColor(theme.text).name()


def test_the_application_has_an_icon_of_its_own(qtbot: QtBot) -> None:
    assert {size.width() for size in application_icon().availableSizes()} >= {16, 48, 256}


def test_a_missing_drawing_is_noticed(qtbot: QtBot) -> None:
    with pytest.raises(FileNotFoundError):
        icon("no such icon", DARK)
