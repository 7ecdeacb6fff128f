"""Where a step goes: parts by hand, the last steps beside the whole."""

import pytest

from tests.sessions.metrics.test_time_split import spans
from tests.sessions.played import drafted
from tests.ui.panels.moments import EVERYTHING, in_both_themes, moment_of, shown
from ui.look import Look
from ui.moment import View
from ui.panels.base import Empty
from ui.panels.step_split import PARTS, RECENT_STEPS, SplitPanel, Splits
from ui.view_state import ViewState


def digest_of(moment: object, view: View = EVERYTHING) -> Splits:
    digest = SplitPanel.digest(moment, view)  # type: ignore[arg-type]
    assert isinstance(digest, Splits)
    return digest


def test_the_parts_make_the_step() -> None:
    digest = digest_of(moment_of([spans(0, 0, ordinal=0), spans(1, 300, ordinal=1)]))
    # 100 ns: two draft forwards of 10 in 30 of drafting, 40, 15, 5, and 10 that none covers.
    assert digest.whole.shares == pytest.approx((0.2, 0.1, 0.4, 0.15, 0.05, 0.1))
    assert digest.whole.ms[2] == pytest.approx(40e-6)
    assert digest.whole.step_ms == pytest.approx(100e-6)
    assert digest.recent is None
    assert digest.clock == "host"
    assert digest.width_share is None


def test_the_last_steps_are_told_where_there_are_more() -> None:
    n = RECENT_STEPS + 5
    digest = digest_of(moment_of([spans(i, 300 * i, ordinal=i) for i in range(n)]))
    assert digest.whole.n_steps == n
    assert digest.recent is not None
    assert digest.recent.n_steps == RECENT_STEPS


def test_what_wider_verifications_cost() -> None:
    events = drafted([2] * 4, 2, draft_ns=900, target_ns=[1_000_000, 2_000_000, 3_000_000],
                     with_spans=True)  # fmt: skip
    digest = digest_of(moment_of(events))
    assert digest.width_share == pytest.approx(2.0 / digest.whole.step_ms)


def test_what_is_on_the_screen(qtbot: object, look: Look, state: ViewState) -> None:
    panel = SplitPanel(state, look)
    qtbot.addWidget(panel)  # type: ignore[attr-defined]
    panel.resize(700, 300)
    panel.show()
    notes = shown(panel, moment_of([spans(i, 300 * i, ordinal=i) for i in range(40)]))
    assert notes == ["drafting costs 30%"]
    for _ in in_both_themes(panel, look):
        bars = panel.bars.bars.bars
        assert len(bars) == 2 * len(PARTS)
        assert [bar.x1 - bar.x0 for bar in bars[:6]] == pytest.approx(
            [0.2, 0.1, 0.4, 0.15, 0.05, 0.1]
        )
        assert bars[2].colour == look.theme.verify
        assert len({(bar.colour, bar.hatch) for bar in bars[:6]}) == 6
    assert [cell.text() for cell in panel.cells[3]] == ["verify", "0.00", "40%", "40%"]
    assert panel.cells[0][3].text() == "last 32"
    assert any(text.endswith("40%") for text in panel.bars.label_texts())
    panel.resize(260, 190)
    qtbot.waitUntil(lambda: panel.bars.width() < 300)  # type: ignore[attr-defined]
    assert len(panel.bars.label_texts()) < 4


def test_without_measurements_it_says_why() -> None:
    assert SplitPanel.digest(moment_of([]), EVERYTHING) is None
    assert isinstance(SplitPanel.digest(moment_of(drafted([1], 2)), EVERYTHING), Empty)
