"""All metrics of the catalog for one part of a session, by their keys."""

from collections.abc import Mapping

import numpy as np

from sessions.columns import MISSING_COUNT
from sessions.kv_map import kv_map
from sessions.metrics.costs import measured_costs
from sessions.metrics.counts import count
from sessions.metrics.over_time import tokens_per_second
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.speedup import measured_speedup, predicted_speedup
from sessions.metrics.time_split import session_time, time_split
from sessions.snapshot import Snapshot
from sessions.tables import TARGET

Value = int | float | None


def summarise(
    snapshot: Snapshot,
    selection: Selection = EVERYTHING,
    *,
    baseline: Snapshot | None = None,
) -> Mapping[str, Value]:
    """Each key of ``sessions.metric_catalog``. What has no denominator, or was not measured, is
    None. Times and memory are the whole session's, None for a part of it."""
    counts = count(snapshot, selection)
    predicted = predicted_speedup(snapshot, selection)
    split = time_split(snapshot, selection)
    costs = predicted.costs if predicted else measured_costs(snapshot, selection)
    length = counts.mean_draft_length
    is_whole = selection.is_everything
    measured = measured_speedup(snapshot, baseline) if baseline and is_whole else None
    time = session_time(snapshot) if is_whole else None
    cache = kv_map(snapshot, TARGET) if is_whole else None
    return {
        "acceptance_rate": counts.acceptance_rate,
        "expected_acceptance_rate": counts.expected_acceptance_rate,
        "draft_efficiency": counts.draft_efficiency,
        "tokens_per_step": counts.tokens_per_step,
        "tokens_per_drafted_step": counts.tokens_per_drafted_step,
        "mean_draft_length": length,
        "tokens_per_second": tokens_per_second(snapshot, selection),
        "measured_speedup": measured.value if measured else None,
        "predicted_speedup": predicted.value if predicted else None,
        "c": costs.c if costs else None,
        "verify_width_cost": costs.v(length + 1) if costs and length is not None else None,
        "overhead_share": split.overhead_share if split else None,
        "syncs_per_step": _syncs_per_step(snapshot, selection),
        "draft_launch_share": _newest_share(snapshot, "draft_launch_share"),
        "uncaptured_launch_share": _newest_share(snapshot, "uncaptured_launch_share"),
        "draft_share": split.share(split.draft_ns) if split else None,
        "verify_share": split.share(split.verify_ns) if split else None,
        "decode_s": time.step_ns / 1e9 if time else None,
        "elapsed_s": time.whole_ns / 1e9 if time else None,
        "prefill_s": time.prefill_ns / 1e9 if time else None,
        "calibration_s": time.calibration_ns / 1e9 if time else None,
        "paused_s": time.paused_ns / 1e9 if time else None,
        "n_steps": counts.n_steps,
        "n_engine_steps": counts.n_engine_steps,
        "n_steps_drafted": counts.n_steps_drafted,
        "n_output_tokens": counts.n_committed,
        "n_drafted": counts.n_drafted,
        "n_tested": counts.n_tested,
        "n_accepted": counts.n_accepted,
        "n_rejected": counts.n_rejected,
        "n_discarded": counts.n_discarded,
        "n_recovered": counts.n_recovered,
        "n_bonus": counts.n_bonus,
        "n_non_finite_draft": counts.n_non_finite_draft,
        "n_zero_residual": counts.n_zero_residual,
        "kv_occupancy": cache.occupancy if cache else None,
        "kv_fragmentation": cache.fragmentation if cache else None,
        "n_missing_events": int(np.sum(snapshot.gaps["n_missing"])) if is_whole else None,
    }


def _syncs_per_step(snapshot: Snapshot, selection: Selection) -> float | None:
    """Waits of the host for the device, of the engine's steps; None on a CPU."""
    spans = snapshot.spans
    rows = selection.span_rows(snapshot)
    n_syncs = spans["n_syncs"][rows][spans["name"][rows] == spans.code("step")]
    n_syncs = n_syncs[n_syncs != MISSING_COUNT]
    return float(n_syncs.mean()) if len(n_syncs) else None


def _newest_share(snapshot: Snapshot, name: str) -> float | None:
    """Of the newest calibration; None where it told none."""
    shares = snapshot.calibrations[name]
    return float(shares[-1]) if len(shares) and shares[-1] == shares[-1] else None
