"""Everything at once, by the catalog's keys."""

import math

import pytest

from sessions.metric_catalog import CATALOG
from sessions.metrics.selection import Selection
from sessions.metrics.summary import summarise
from tests.sessions.played import drafted, model_of, snapshot_of
from tests.support.running_engine import RunningEngine
from tests.support.toy_model import ToyModel


def test_the_summary_has_the_catalogs_keys() -> None:
    assert set(summarise(snapshot_of([]))) == set(CATALOG)


def test_of_an_empty_session_rates_are_none_and_counts_zero() -> None:
    for key, value in summarise(snapshot_of([])).items():
        is_total = key.startswith("n_") or key in {
            "decode_s", "elapsed_s", "prefill_s", "calibration_s", "paused_s",
        }  # fmt: skip
        assert value == 0 if is_total else value is None, key


def test_a_scripted_session() -> None:
    events = drafted([2, 4], 4, draft_ns=5, target_ns=[100, 100, 100, 100, 130], with_spans=True)
    result = summarise(snapshot_of(events), baseline=snapshot_of(events))
    assert result["acceptance_rate"] == 6 / 7
    assert result["verify_width_cost"] == 1.3
    assert result["c"] == 0.05
    assert result["measured_speedup"] == 1.0
    assert result["n_output_tokens"] == 8
    assert result["kv_occupancy"] == 0.0  # all finished
    assert result["kv_fragmentation"] is None


def test_a_part_has_no_totals_of_the_whole() -> None:
    result = summarise(snapshot_of(drafted([2, 4], 4)), Selection(0, first_step=1))
    assert result["n_accepted"] == 4
    assert result["elapsed_s"] is None
    assert result["kv_occupancy"] is None


@pytest.mark.parametrize("gamma", [0, 2])
def test_an_engines_session_has_no_value_that_is_no_number(gamma: int) -> None:
    engine = RunningEngine(
        ToyModel(12, seed=1), ToyModel(12, seed=2), gamma=gamma, batch=2, calibrate=True
    )
    engine.run("abc", "de", max_new_tokens=12, check=False)
    model = model_of(engine.events)
    for t_ns in range(0, model.last_t_ns + 1, max(1, model.last_t_ns // 40)):
        for key, value in summarise(model.snapshot(t_ns)).items():
            assert value is None or math.isfinite(value), key
    assert summarise(model.snapshot())["n_output_tokens"] == 24
