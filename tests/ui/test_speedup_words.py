"""What tells the three speed-ups apart is said wherever one of them is shown."""

from ui.panels.speedup_curve import CurvePanel
from ui.panels.waterfall import WaterfallPanel
from ui.speedup_words import THE_OTHERS


def test_each_is_defined_by_its_formula() -> None:
    for word in ("Measured: baseline ns", "Predicted: E[N] / (gamma c + v)", "Of mean steps"):
        assert word in THE_OTHERS


def test_every_card_that_shows_one_says_so() -> None:
    assert THE_OTHERS in CurvePanel.explanation
    assert THE_OTHERS in WaterfallPanel.explanation
