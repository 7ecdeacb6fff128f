"""The cost of the window beside a run: outputs of one prompt are held against each other."""

from types import SimpleNamespace

import numpy as np
import pytest

from specscope import window_bench
from specscope.beside_bench import paired_costs


def decoded(step_ms: list[float], *, n_steps: int = 100) -> SimpleNamespace:
    """A session of one output after the other, each with steps that take so long."""
    steps = np.repeat(step_ms, n_steps) * 1e6
    ids = np.repeat(np.arange(len(step_ms)) + 7, n_steps)
    return SimpleNamespace(steps={"t_ns": np.cumsum(steps).astype(np.int64), "sequence_id": ids})


def test_which_of_two_is_drawn_takes_turns() -> None:
    # Drawn, at rest; at rest, drawn; drawn, at rest.
    costs = paired_costs(decoded([5.0, 4.0, 4.0, 5.0, 4.0, 4.0]))
    assert costs == pytest.approx([0.2, 0.2, 0.0], abs=1e-6)


def test_what_is_too_short_is_left_out() -> None:
    assert len(paired_costs(decoded([5.0, 4.0], n_steps=4))) == 0
    assert len(paired_costs(decoded([5.0]))) == 0


@pytest.mark.usefixtures("data_folder")
def test_a_run_is_drawn_and_rests() -> None:
    found = window_bench._child("beside", "2")
    assert len(found["costs"]) == 2
    assert min(found["costs"]) <= found["cost"] <= max(found["costs"])
    assert 0 < found["standard_error"] < 10
    assert isinstance(found["has_own_core"], bool)
