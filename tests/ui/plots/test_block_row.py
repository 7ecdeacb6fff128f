"""The block table as a row: scrolling, choosing, painting."""

import numpy as np
from PySide6.QtCore import QPoint, Qt

from ui.plots.block_row import BlockRow
from ui.theme import DARK, LIGHT


def test_a_click_chooses_the_physical_block(qtbot) -> None:
    row = BlockRow(DARK)
    qtbot.addWidget(row)
    row.resize(200, row.height())
    row.show()
    row.set_table(np.arange(90, 190), colour=DARK.accent, selected=None)
    assert row.horizontalScrollBar().maximum() == 100 * row.cell_px - row.viewport().width()
    middle = QPoint(row.cell_px + 5, 20)
    with qtbot.waitSignal(row.chosen) as chosen:
        qtbot.mouseClick(row.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert chosen.args == [91]
    row.horizontalScrollBar().setValue(10 * row.cell_px)
    with qtbot.waitSignal(row.chosen) as chosen:
        qtbot.mouseClick(row.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert chosen.args == [101]


def test_a_selected_block_is_scrolled_to(qtbot) -> None:
    row = BlockRow(DARK)
    qtbot.addWidget(row)
    row.resize(200, row.height())
    row.show()
    row.set_table(np.arange(100), colour=DARK.accent, selected=80)
    left = 80 * row.cell_px - row.horizontalScrollBar().value()
    assert 0 <= left <= row.viewport().width() - row.cell_px


def test_an_empty_table_says_so_and_takes_no_clicks(qtbot) -> None:
    row = BlockRow(DARK)
    qtbot.addWidget(row)
    row.resize(200, row.height())
    row.show()
    row.set_table(np.zeros(0, np.int64), colour=DARK.dim, selected=None, words="owns no block")
    before = row.grab().toImage()
    row.restyle(LIGHT)
    assert row.grab().toImage() != before
    with qtbot.assertNotEmitted(row.chosen):
        qtbot.mouseClick(row.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(5, 20))
