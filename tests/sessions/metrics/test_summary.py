"""Everything at once, by the catalog's keys."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.wire.events import CalibrationMeasured, EngineState, SpansMeasured
from sessions.findings import find
from sessions.metric_catalog import CATALOG
from sessions.metrics.selection import Selection
from sessions.metrics.summary import summarise
from sessions.metrics.waterfall import waterfall
from sessions.what_if import gamma_what_if
from tests.sessions.played import drafted, model_of, snapshot_of
from tests.support.event_script import EventScript
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


STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=8)


@given(STEPS, st.floats(0.0, 1.0), st.booleans())
@settings(max_examples=40, deadline=None)
def test_no_session_at_no_moment_divides_by_nothing(
    steps: list[tuple[int, int, bool]], share: float, is_calibrated: bool
) -> None:
    script = EventScript()
    if is_calibrated:
        script.say(
            CalibrationMeasured(
                context_length=0, draft_forward_ns=None, target_widths=(1,), target_forward_ns=(7,)
            )
        )
    script.sequence("ab")
    for n_drafted, n_accepted, is_paused in steps:
        script.step(drafted=n_drafted, accepted=min(n_accepted, n_drafted))
        if is_paused:
            script.state(EngineState.PAUSED)
    model = model_of(script.events)
    snapshot = model.snapshot(round(model.last_t_ns * share))
    for key, value in summarise(snapshot, baseline=model.snapshot()).items():
        assert value is None or math.isfinite(value), key
    for baseline in (None, model.snapshot()):
        result = waterfall(snapshot, baseline)
        assert result is None or math.isfinite(result.measured)
        for finding in find(snapshot, baseline=baseline):
            assert all(map(math.isfinite, finding.values.values()))
    answer = gamma_what_if(snapshot)
    assert answer is None or math.isfinite(answer.best.tokens_per_second)


def test_waits_for_the_device_are_averaged_over_steps() -> None:
    def measured(ordinal: int, n_syncs: int | None) -> SpansMeasured:
        nothing = (None, None)
        return SpansMeasured(
            ordinal=ordinal, t_ns=ordinal * 100 + 50, step=ordinal, names=("step", "draft"),
            roles=nothing, start_ns=(ordinal * 100,) * 2, host_ns=(10, 5), gpu_ns=(9, 4),
            n_flops=nothing, n_bytes=nothing, n_syncs=n_syncs,
        )  # fmt: skip

    assert summarise(snapshot_of([measured(0, 1), measured(1, 2)]))["syncs_per_step"] == 1.5
    assert summarise(snapshot_of([measured(0, None)]))["syncs_per_step"] is None


def test_launch_overhead_is_that_of_the_newest_calibration() -> None:
    def measured(ordinal: int, share: float | None) -> CalibrationMeasured:
        return CalibrationMeasured(
            ordinal=ordinal, t_ns=ordinal, context_length=5, draft_forward_ns=3,
            target_widths=(1,), target_forward_ns=(9,), draft_launch_share=share,
            uncaptured_launch_share=0.75,
        )  # fmt: skip

    summary = summarise(snapshot_of([measured(0, 0.5), measured(1, 0.125)]))
    assert (summary["draft_launch_share"], summary["uncaptured_launch_share"]) == (0.125, 0.75)
    assert summarise(snapshot_of([measured(0, None)]))["draft_launch_share"] is None
