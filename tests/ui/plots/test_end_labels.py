"""Names at the ends of lines do not lie on each other."""

import numpy as np
import pytest

from ui.plots.end_labels import EndLabel, EndLabels, spread
from ui.plots.home_plot import HomePlot
from ui.theme import DARK


def test_labels_are_moved_apart_and_stay_in_order() -> None:
    places = spread(np.array([50.0, 52.0, 10.0]), 12.0, low=6.0, high=94.0)
    assert places.tolist() == [50.0, 62.0, 10.0]


def test_labels_stay_within_the_plot() -> None:
    places = spread(np.array([99.0, 98.0, 97.0]), 12.0, low=6.0, high=94.0)
    assert places.tolist() == [94.0, 82.0, 70.0]
    assert spread(np.array([-5.0]), 12.0, low=6.0, high=94.0).tolist() == [6.0]
    crowded = spread(np.array([5.0, 5.0, 5.0]), 12.0, low=6.0, high=20.0)
    assert np.diff(crowded) == pytest.approx([12.0, 12.0])
    assert spread(np.zeros(0), 12.0, low=6.0, high=94.0).tolist() == []


def test_a_label_outside_is_hidden(qtbot: object) -> None:
    plot = HomePlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    plot.resize(300, 200)
    plot.show()
    plot.set_home((0.0, 10.0), (0.0, 1.0))
    labels = EndLabels(plot)
    assert labels.room_px == 0
    labels.show([EndLabel("one", 4.0, 0.5, DARK.text), EndLabel("two", 40.0, 0.5, DARK.text)])
    assert labels.texts == ["one", "two"]
    assert labels.room_px > 10
    assert [item.isVisible() for item in labels._items] == [True, False]
    labels.show([])
    assert [item.isVisible() for item in labels._items] == [False, False]


def shown_at(qtbot: object, width: int) -> tuple[HomePlot, EndLabels]:
    """A plot of that many pixels."""
    plot = HomePlot(DARK)
    qtbot.addWidget(plot)  # type: ignore[attr-defined]
    plot.resize(width, 200)
    plot.show()
    return plot, EndLabels(plot)


def test_a_label_that_would_be_cut_is_shortened_in_the_middle(qtbot: object) -> None:
    plot, labels = shown_at(qtbot, 300)
    labels.show([EndLabel("a draft of a long name", 9.0, 0.5, DARK.text)])
    plot.set_home((0.0, 10.0), (0.0, 1.0), right_px=labels.room_px)
    text = labels._items[0].textItem.toPlainText()
    assert text.startswith("a d")
    assert text.endswith("me")
    assert "…" in text
    assert labels.texts == ["a draft of a long name"]
    plot.resize(700, 200)
    qtbot.wait(20)  # type: ignore[attr-defined]
    plot.set_home((0.0, 10.0), (0.0, 1.1), right_px=labels.room_px)
    assert labels._items[0].textItem.toPlainText() == "a draft of a long name"


def test_a_plot_that_makes_the_room_asked_for_shortens_none(qtbot: object) -> None:
    plot, labels = shown_at(qtbot, 701)
    names = ["bundled-draft", "composite", "ngram", "an odd name of some length"]
    labels.show([EndLabel(name, 4.0, n / 4, DARK.text) for n, name in enumerate(names)])
    plot.set_home((0.6, 4.0), (0.0, 1.0), right_px=labels.room_px)
    assert [item.textItem.toPlainText() for item in labels._items] == names
