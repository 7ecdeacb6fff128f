"""A tile: a figure and what it is compared with."""

from pytestqt.qtbot import QtBot

from ui.bars.tiles import Tile
from ui.look import Look


def test_a_tile_shows_its_figure(qtbot: QtBot) -> None:
    tile = Tile("Tokens / s", "committed / time in steps", Look("dark"))
    qtbot.addWidget(tile)
    tile.show_figure("84.2", "baseline 43.9", ink="#35B58A")
    assert (tile.figure.text(), tile.beneath.text()) == ("84.2", "baseline 43.9")
    assert "#35B58A" in tile.figure.styleSheet()
    tile.show_figure("n/a", "no baseline")
    assert tile.figure.styleSheet() == ""
    assert tile.toolTip() == "committed / time in steps"


def test_a_line_that_is_too_long_is_cut_and_whole_in_its_tooltip(qtbot: QtBot) -> None:
    tile = Tile("Step", "", Look("dark"))
    qtbot.addWidget(tile)
    tile.resize(170, 70)
    tile.show()
    line = "draft 30% · verify 61% · other 10%"
    tile.show_figure("9.1 ms", line)
    assert tile.beneath.text() == "draft 30% · verify 61% …"
    assert tile.beneath.toolTip() == line
    tile.resize(400, 70)
    assert tile.beneath.text() == line
