import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from ui.plots.paired_bars import Bars, PairedBars
from ui.step.verdict_words import short
from ui.theme import DARK, LIGHT

NAN = np.nan
BARS = Bars(
    labels=(" a", " longer", "\n"),
    draft=np.array([0.4, 0.5, NAN]),
    target=np.array([0.3, 0.1, 0.6]),
    thresholds=np.array([0.75, 0.2, NAN]),
    uniforms=np.array([0.5, 0.9, NAN]),
    fates=("accepted", "rejected", "recovered"),
    marked=1,
    n_places=5,
)


@pytest.fixture
def plot(qtbot: QtBot) -> PairedBars:
    plot = PairedBars(DARK, shorten=short)
    qtbot.addWidget(plot)
    plot.resize(500, 300)
    plot.show()
    plot.set_bars(BARS)
    return plot


def test_bars_stand_beside_each_other_and_missing_ones_do_not_stand(plot: PairedBars):
    assert plot.draft_bars.opts["x"].tolist() == pytest.approx([-0.17, 0.83])
    assert plot.draft_bars.opts["height"].tolist() == [0.4, 0.5]
    assert plot.target_bars.opts["x"].tolist() == pytest.approx([0.17, 1.17, 2.17])
    assert plot.target_bars.opts["height"].tolist() == [0.3, 0.1, 0.6]
    assert plot.draft_caps.data["y"].tolist() == [0.4, 0.5]
    assert plot.draft_caps.opts["symbol"] == "o"
    assert plot.target_caps.opts["symbol"] == "s"


def test_thresholds_are_lines_and_uniforms_diamonds(plot: PairedBars):
    x, y = plot.thresholds.getData()
    assert x.tolist() == pytest.approx([-0.42, 0.42, 0.58, 1.42])
    assert y.tolist() == [0.75, 0.75, 0.2, 0.2]
    assert plot.uniforms.data["x"].tolist() == [0, 1]
    assert plot.uniforms.data["y"].tolist() == [0.5, 0.9]


def test_every_fate_has_a_mark_of_its_own_shape(plot: PairedBars):
    symbols = [str(symbol) for symbol in plot.fates.data["symbol"]]
    assert len(set(symbols)) == 3
    assert plot.fates.data["x"].tolist() == [0, 1, 2]


def test_the_axis_has_room_for_the_whole_draft_and_stays(plot: PairedBars):
    (x0, x1), (y0, y1) = plot.getPlotItem().getViewBox().viewRange()
    assert (x0, x1) == pytest.approx((-0.6, 4.6))
    assert y0 == 0
    assert 1.0 < y1 < 1.3
    plot.setXRange(0, 1)
    plot.set_bars(BARS)
    assert plot.getPlotItem().getViewBox().viewRange()[0][1] < 2
    plot.show_all()
    assert plot.getPlotItem().getViewBox().viewRange()[0] == pytest.approx([-0.6, 4.6])


def test_the_marked_token_has_a_ground(plot: PairedBars):
    assert list(plot.ground.opts["x"]) == [1]


def test_tokens_are_found_at_their_bars(plot: PairedBars):
    assert [plot.index_at(x) for x in (-0.6, -0.4, 0.4, 1.17, 2.4, 2.6)] == [
        None, 0, 0, 1, 2, None,
    ]  # fmt: skip


def test_labels_are_as_long_as_there_is_room(plot: PairedBars):
    def labels() -> list[str]:
        return [text for _, text in plot._label_axis._tickLevels[0]]

    assert labels() == ["·a", "·longer", "\\n"]
    plot.resize(200, 300)
    assert labels()[1].endswith("…")


def test_what_is_shown_is_what_is_copied(plot: PairedBars):
    lines = plot.csv().splitlines()
    assert lines[0] == "token,draft,target,threshold,uniform,fate"
    assert lines[1] == " a,0.4,0.3,0.75,0.5,accepted"


def test_nothing_and_another_theme_can_be_shown(plot: PairedBars):
    before = plot.draft_caps.opts["brush"].color()
    plot.restyle(LIGHT)
    assert plot.draft_caps.opts["brush"].color() != before
    empty = np.empty(0)
    plot.set_bars(
        Bars(labels=(), draft=empty, target=empty, thresholds=empty, uniforms=empty, fates=())
    )
    assert len(plot.draft_bars.opts["x"]) == 0
    plot.grab()
