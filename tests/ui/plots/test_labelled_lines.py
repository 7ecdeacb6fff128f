"""Lines told apart by their markers and their names."""

import numpy as np

from ui.plots.home_plot import HomePlot
from ui.plots.labelled_lines import LabelledLines, NamedLine
from ui.theme import DARK


def test_each_line_has_a_shape_and_a_name(qtbot: object) -> None:
    plot = HomePlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    lines = LabelledLines(plot)
    x = np.arange(3.0)
    gone = np.full(3, np.nan)
    lines.show(
        [NamedLine("a", x, np.array([1.0, np.nan, 3.0])), NamedLine("b", x, x),
         NamedLine("c", x, gone)], DARK.text,
    )  # fmt: skip
    assert [item.opts["symbol"] for item in lines.items] == ["d", "t1", "s"]
    assert lines.items[0].getData()[1].tolist() == [1.0, 3.0]
    assert lines.labels.texts == ["◆ a", "▲ b"]
    lines.show([NamedLine("b", x, x)], DARK.text)
    assert len(lines.items) == 1
    assert lines.labels.texts == ["◆ b"]
