"""Stacked bars: the parts lie end to end; labels where they fit."""

from ui.plots.stacked_bars import BarPart, StackedBars
from ui.theme import DARK


def test_parts_lie_end_to_end(qtbot: object) -> None:
    bars = StackedBars(DARK)
    qtbot.addWidget(bars)  # type: ignore[attr-defined]
    bars.resize(500, 120)
    bars.show()
    parts = [
        BarPart("draft", 0.3, "3.0 ms", DARK.draft, 0),
        BarPart("commit", 0.01, "0.1 ms", DARK.commit, 4),
        BarPart("verify", 0.69, "6.9 ms", DARK.verify, 0),
    ]
    bars.set_rows([("all", parts), ("last 2", parts)])
    assert [round(bar.x1, 9) for bar in bars.bars.bars[:3]] == [0.3, 0.31, 1.0]
    assert [bar.y0 for bar in bars.bars.bars[2:4]] == [-0.38, 0.62]
    assert bars.label_texts() == ["3.0 ms", "6.9 ms"] * 2
    bars.resize(500, 34)
    bars._fit()
    assert bars.label_texts() == []
    bars.resize(500, 120)
    bars.set_rows([("all", parts)])
    assert bars.label_texts() == ["3.0 ms", "6.9 ms"]
