"""Layouts: every preset names panels there are, and lies as it should."""

import pytest
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabBar
from pytestqt.qtbot import QtBot

from ui.layouts import (
    PRESETS,
    Preset,
    arrange,
    cards,
    column,
    keys_of,
    restore_arrangement,
    row,
    save_arrangement,
)


def host(qtbot: QtBot, *keys: str) -> tuple[QMainWindow, dict[str, QDockWidget]]:
    window = QMainWindow()
    window.setDockNestingEnabled(True)
    qtbot.addWidget(window)
    docks = {}
    for key in keys:
        docks[key] = QDockWidget(key)
        docks[key].setObjectName(key)
    window.resize(1000, 800)
    window.show()
    return window, docks


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.key)
def test_a_preset_names_each_card_once_and_only_cards_there_are(preset: Preset) -> None:
    from ui.panel_table import PANELS

    keys = keys_of(preset.tree)
    assert len(set(keys)) == len(keys)
    assert set(keys) <= {panel.key for panel in PANELS}


def test_presets_have_keys_of_their_own() -> None:
    assert len({preset.shortcut for preset in PRESETS}) == len(PRESETS)
    assert len({preset.key for preset in PRESETS}) == len(PRESETS)


def test_rows_columns_and_tabs_lie_where_they_should(qtbot: QtBot) -> None:
    window, docks = host(qtbot, "a", "b", "c", "d", "hidden")
    tree = column((60, row((30, cards("a")), (70, cards("b", "c")))), (40, cards("d")))
    arrange(window, docks, Preset("x", "X", "", "", tree))
    qtbot.wait(20)
    a, b, d = (docks[key].geometry() for key in "abd")
    assert a.right() < b.left()
    assert a.top() == b.top()
    assert d.top() > a.bottom()
    assert d.width() > a.width() + b.width()
    assert docks["c"] in window.tabifiedDockWidgets(docks["b"])
    assert not docks["hidden"].isVisible()
    assert 0.2 < a.width() / 1000 < 0.4


def test_an_arrangement_comes_back(qtbot: QtBot) -> None:
    window, docks = host(qtbot, "a", "b")
    preset = Preset("x", "X", "", "", row((50, cards("a")), (50, cards("b"))))
    arrange(window, docks, preset)
    docks["a"].setFloating(True)
    kept = save_arrangement(window)
    arrange(window, docks, preset)
    assert not docks["a"].isFloating()
    assert restore_arrangement(window, kept)
    assert docks["a"].isFloating()


def test_only_tab_bars_in_use_are_shown(qtbot: QtBot) -> None:
    """Whatever was laid out before, fresh or as it was left."""
    window, docks = host(qtbot, "a", "b", "c", "d")
    one = Preset("x", "X", "", "", row((50, cards("a", "b")), (50, cards("c", "d"))))
    other = Preset("y", "Y", "", "", column((50, cards("a", "b")), (50, cards("c"))))
    kept: dict[str, str] = {}
    for preset in (one, other, one, other, one):
        for is_fresh in (True, False):
            if is_fresh or not restore_arrangement(window, kept[preset.key]):
                arrange(window, docks, preset)
            qtbot.wait(10)
            shown = [bar for bar in window.findChildren(QTabBar) if bar.isVisible()]
            titles = [[bar.tabText(i) for i in range(bar.count())] for bar in shown]
            assert sorted(titles) == ([["a", "b"], ["c", "d"]] if preset is one else [["a", "b"]])
            for bar in shown:  # under its cards, as Qt has it where nothing is said
                card = docks[bar.tabText(bar.currentIndex())].geometry()
                assert (bar.x(), bar.y()) == (card.x(), card.bottom() + 1)
            kept[preset.key] = save_arrangement(window)


@pytest.mark.parametrize("text", ["", "no base64", "AAAA"])
def test_what_is_no_arrangement_is_refused(qtbot: QtBot, text: str) -> None:
    window, _ = host(qtbot, "a")
    assert not restore_arrangement(window, text)
