"""Steps of several sessions on one time axis."""

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from ui.plots.step_rows import StepRow, StepRows, outline
from ui.theme import DARK

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # offscreen, for every window


def row(name: str, *, first: float = 0.0, n: int = 4) -> StepRow:
    start = first + np.arange(n, dtype=float)
    return StepRow(name, start, start + 0.5, np.arange(1.0, n + 1), playhead=first + n)


def test_a_block_is_as_wide_as_its_step_and_as_high_as_its_tokens() -> None:
    x, y = outline(row("a"), slice(1, 3), base=2.0, highest=4.0)
    np.testing.assert_allclose(x, [1, 1, 1.5, 1.5, 2, 2, 2.5, 2.5])
    np.testing.assert_allclose(y, [2, 2.4, 2.4, 2, 2, 2.6, 2.6, 2])


def test_rows_stand_over_each_other_and_one_that_is_past_says_when(qtbot: QtBot) -> None:
    plot = StepRows(DARK)
    qtbot.addWidget(plot)
    plot.resize(500, 200)
    plot.show()
    plot.set_rows([row("a"), row("b", first=10.0)], (9.0, 15.0))
    _, y = plot.curves[0].getData()
    assert y.min() == 1.0
    _, y = plot.curves[1].getData()
    assert y.min() == 0.0
    assert plot.ends[0].isVisible()
    assert plot.ends[0].toPlainText() == "◀ last step at 3.50 s"
    assert not plot.ends[1].isVisible()
    plot.set_rows([row("a")], (0.0, 5.0))
    x, _ = plot.curves[1].getData()
    assert x is None or len(x) == 0


def test_the_read_out_names_the_step(qtbot: QtBot) -> None:
    plot = StepRows(DARK)
    qtbot.addWidget(plot)
    plot.set_rows([row("a"), row("b")], (0.0, 5.0))
    assert plot._read(1.2, 1.5) == "a\n2 tokens in 500.00 ms, at 1.2000 s"
    assert "between steps" in plot._read(1.7, 0.5)
    assert plot._read(1.2, 2.5) == ""
