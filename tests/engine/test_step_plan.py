from typing import Any

import pytest

from engine.sequence import StepUniforms
from engine.step_plan import Plan


def test_a_plan_is_fixed_and_is_only_itself() -> None:
    sequence: Any = object()
    uniforms = StepUniforms([0.1], [0.2], 0.3)
    plan = Plan(sequence, 1, "fixed", None, uniforms)
    assert (plan.sequence, plan.gamma, plan.reason, plan.alpha) == (sequence, 1, "fixed", None)
    assert plan != Plan(sequence, 1, "fixed", None, uniforms)
    with pytest.raises(AttributeError, match="immutable"):
        plan.gamma = 2  # type: ignore[misc]
