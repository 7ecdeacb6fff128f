"""The sheet's keys of cards are those that the cards know."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from pytestqt.qtbot import QtBot

from ui.dialogs.card_keys import CARD_KEYS
from ui.look import Look
from ui.panels.library import LibraryPanel
from ui.panels.timeline import TimelinePanel
from ui.plots.block_grid import BlockGrid
from ui.plots.plot import Plot
from ui.text.token_view import TokenView
from ui.view_state import ViewState

TOLD = {name: [keys for keys, _ in lines] for name, lines in CARD_KEYS}


def test_those_of_the_library(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECSCOPE_DATA_DIR", str(tmp_path))
    panel = LibraryPanel(ViewState(), Look("dark"))
    qtbot.addWidget(panel)
    known = {each.key().toString() for each in panel.findChildren(QShortcut)}
    assert known - {"Return"} == set(TOLD["In the list of sessions"])
    panel.close_tasks()


def test_those_of_plots_and_texts() -> None:
    key = Qt.Key
    assert Plot.own_keys == {key.Key_Home}
    assert TimelinePanel.own_keys == {key.Key_End}
    arrows = {key.Key_Left, key.Key_Right, key.Key_Up, key.Key_Down}
    assert BlockGrid.own_keys == Plot.own_keys | arrows
    copy = QKeySequence(QKeySequence.StandardKey.Copy).toString()
    assert TOLD["In a plot"] == ["Home", copy, "End", "Arrows"]
    assert TokenView.own_keys == {key.Key_Left, key.Key_Right, key.Key_Home, key.Key_End}
    assert TOLD["In a text"] == ["Left, Right", "Home, End", f"Ctrl+A, {copy}"]
