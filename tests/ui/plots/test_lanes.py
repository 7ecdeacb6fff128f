"""Lanes: a name and a hatch each, the first at the top."""

import numpy as np

from ui.plots.lanes import LaneStrip
from ui.theme import DARK


def test_lanes_are_named_and_hatched_apart(qtbot: object) -> None:
    strip = LaneStrip(DARK)
    qtbot.addWidget(strip)  # type: ignore[attr-defined]
    strip.set_lanes({"json": np.array([[0.0, 2.0], [3.0, 4.0]]), "code": np.array([[2.0, 3.0]])})
    bars = strip.blocks.bars
    assert [(bar.x0, bar.x1, bar.hatch) for bar in bars] == [(0, 2, 0), (3, 4, 0), (2, 3, 1)]
    assert (bars[0].y0, bars[2].y0) == (0.2, 1.2)
    assert strip._name_at(1.5) == "code"
    assert strip._name_at(7.0) == ""
    high = strip.height()
    strip.set_lanes({"json": np.zeros((0, 2))})
    assert strip.height() < high
    assert strip.blocks.bars == ()
