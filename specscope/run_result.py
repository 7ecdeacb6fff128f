"""A run's result as one JSON object, from what its events became."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sessions.compare import Column
from sessions.findings import Finding, find
from sessions.metrics.breakdown import acceptance_by_position
from sessions.metrics.kernels import launch_gaps, recording_cost, tensor_core_share
from sessions.metrics.phase_utilization import phase_utilization
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.summary import summarise
from sessions.outputs import sequence_outputs
from sessions.run_facts import run_facts
from sessions.snapshot import Snapshot
from sessions.speed_reasons import SpeedReason
from sessions.what_if import gamma_what_if


def run_result(snapshot: Snapshot) -> dict[str, Any]:
    """All figures of the run; one sequence's own facts beside them, several under ``sequences``."""
    sequences = []
    for output in sequence_outputs(snapshot):
        selection = Selection(output.sequence_id)
        facts = asdict(output)
        del facts["token_texts"]
        # Of this sequence, from entering the batch to its end: no part of the session's elapsed_s.
        facts["latency_s"] = facts.pop("elapsed_s")
        facts["n_output_tokens"] = len(output.token_ids)
        sequences.append({**_figures(snapshot, selection), **facts})
    result = _figures(snapshot, EVERYTHING)
    if len(sequences) == 1:
        result = {**sequences[0], **result}
    else:
        result["sequences"] = sequences
    return {
        **result,
        "utilization": [asdict(each) for each in phase_utilization(snapshot)],
        "kernels": _kernels(snapshot),
        "nsys_report": run_facts(snapshot).settings.get("nsys_report") or None,
        "settings": settings_in_force(snapshot),
    }


def _kernels(snapshot: Snapshot) -> dict[str, Any] | None:
    """What was recorded of kernels and what that cost; None where none were."""
    cost = recording_cost(snapshot)
    if cost is None:
        return None
    gaps = {
        name: asdict(found) | {"gap_share": found.gap_share}
        for name in ("draft_forward", "verify")
        if (found := launch_gaps(snapshot, span_name=name)) is not None
    }
    return {
        **asdict(cost),
        "launch_gaps": gaps,
        "tensor_core_share": tensor_core_share(snapshot),
    }


def show_result(snapshot: Snapshot) -> dict[str, Any]:
    """The run's result, what another gamma would have done, and the findings."""
    what_if = gamma_what_if(snapshot)
    return {
        **run_result(snapshot),
        "gamma_what_if": None if what_if is None else asdict(what_if),
        "findings": [_finding(finding) for finding in find(snapshot)],
    }


def settings_in_force(snapshot: Snapshot) -> dict[str, Any]:
    """The settings of the run with what "auto" and the defaults became."""
    facts = run_facts(snapshot)
    settings: dict[str, Any] = dict(facts.settings)
    settings["torch_version"] = facts.torch_version
    settings["device_name"] = facts.device_name
    for role, model in (("target", facts.target), ("draft", facts.draft)):
        if model is not None:
            settings[f"{role}_model"] = asdict(model)
    return settings


def comparison_result(
    columns: tuple[Column, ...],
    notes: Sequence[str] = (),
    *,
    reasons: Sequence[SpeedReason] = (),
) -> dict[str, Any]:
    """A comparison, the baseline first, with what to bear in mind about it, and why each session is
    slower than the fastest."""
    return {
        "sessions": [_column(column) for column in columns],
        "notes": list(notes),
        "reasons": [{**asdict(reason), "kind": str(reason.kind)} for reason in reasons],
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "draft": column.facts.drafter,
        "gamma": column.facts.gamma,
        "is_baseline": column.is_baseline,
        "is_sampled": column.is_sampled,
        "rank": column.rank,
        "metrics": dict(column.metrics),
        "speedup": asdict(column.speedup) if column.speedup else None,
        "draft_bytes": column.draft_bytes,
        "draft_weight_bytes": column.draft_weight_bytes,
        "draft_kv_bytes": column.draft_kv_bytes,
        "n_diverging": column.n_diverging,
        "divergences": [asdict(each) for each in column.divergences],
        "findings": [_finding(finding) for finding in column.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "key": finding.key,
        "severity": str(finding.severity),
        "sentence": finding.sentence,
        "is_doubted": finding.is_doubted,
        "values": dict(finding.values),
    }


def _figures(snapshot: Snapshot, selection: Selection) -> dict[str, Any]:
    places = [
        {
            "draft_index": place.draft_index,
            "n_drafted": place.n_drafted,
            "n_tested": place.conditional.n_of,
            "n_accepted": place.conditional.n,
            "conditional": place.conditional.value,
            "unconditional": place.unconditional.value,
        }
        for place in acceptance_by_position(snapshot, selection)
    ]
    figures: dict[str, Any] = {
        key: value
        for key, value in summarise(snapshot, selection).items()
        if value is not None or selection.is_everything
    }
    figures.setdefault("elapsed_s", None)
    return {**figures, "acceptance_by_position": places}
