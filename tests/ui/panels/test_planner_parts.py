"""A memory plan in words, bars and parts: published figures, and what adds up."""

import pytest

from engine.theory.workload import to_gib
from ui.panels.planner_memory import MemoryInputs, planned
from ui.panels.planner_parts import bars, finding, parts_text
from ui.theme import DARK


def test_the_published_estimate() -> None:
    plan = planned(MemoryInputs(mode="document"), {})
    assert to_gib(plan.need.total_bytes) == pytest.approx(164.48, abs=0.01)
    assert finding(plan) == "164.5 GiB · fits on B200"
    assert "padding, 8 %" in parts_text(plan, DARK)


def test_bars_add_up() -> None:
    plan = planned(MemoryInputs(), {})
    target, draft, buffers, whole = bars(plan, DARK)
    assert whole.total == pytest.approx(to_gib(plan.need.total_bytes))
    assert whole.total == pytest.approx(target.total + draft.total + buffers.total)
    assert [part.hatch for part in target.parts] == [0, 1]
