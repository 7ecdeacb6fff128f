"""What the open session has to offer the planner's forms: figures it measured, models it loaded."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from engine.theory.shape import ModelShape
from engine.theory.shape_source import NamedShape
from engine.wire.config import MAX_BATCH, MAX_GAMMA
from sessions.metrics.costs import MeasuredCosts
from sessions.metrics.counts import count
from sessions.metrics.decoding_costs import decoding_costs
from sessions.metrics.doubt import calibration_doubt
from sessions.metrics.selection import Selection
from sessions.metrics.time_split import time_split
from sessions.run_facts import ModelFacts, RunFacts, run_facts
from sessions.snapshot import Snapshot
from sessions.tables import SequenceChange
from sessions.what_if import gamma_what_if
from ui.panels.planner_memory import MOST_TOKENS, NONE, MemoryInputs
from ui.panels.planner_speedup import SpeedupInputs

_WIDEST = 17
"""Verify costs are filled in up to this width, gamma 16."""

_LARGEST = 2**63 - 1
"""No number of a model is larger; more would not fit the arithmetic, which is in floats."""


@dataclass(frozen=True, slots=True)
class SessionFigures:
    """What fills the forms; None where the session cannot, with the reason."""

    speedup: SpeedupInputs | None
    reason: str
    memory: MemoryInputs | None
    models: Mapping[str, NamedShape]
    run_best: int | None = None
    """The best gamma by the session's own drafts, as its S(gamma) curve and findings have it."""
    is_doubtful: bool = False  # whether its timing contradicts itself


def session_figures(snapshot: Snapshot, selection: Selection) -> SessionFigures:
    speedup, reason = session_speedup(snapshot, selection)
    what_if = gamma_what_if(snapshot, selection)
    return SessionFigures(
        speedup,
        reason,
        session_memory(snapshot),
        loaded_models(snapshot),
        None if what_if is None else what_if.best_seen.gamma,
        is_doubtful=calibration_doubt(snapshot, selection) is not None,
    )


def session_speedup(snapshot: Snapshot, selection: Selection) -> tuple[SpeedupInputs | None, str]:
    """The equation's figures as the session measured them, or why there are none."""
    counts, costs = count(snapshot, selection), decoding_costs(snapshot, selection)
    if counts.acceptance_rate is None or counts.mean_draft_length is None:
        return None, "No draft token was tested in this session yet."
    if costs is None:
        return None, "What a forward costs was not measured in this session."
    return SpeedupInputs(
        alpha=round(counts.acceptance_rate, 3),
        gamma=max(1, round(counts.mean_draft_length)),
        c=round(costs.c, 3),
        v=",".join(f"{costs.v(width):.4g}" for width in range(1, _WIDEST + 1)),
        overhead=round(_overhead(snapshot, selection, costs), 3),
    ), ""


def session_memory(snapshot: Snapshot) -> MemoryInputs | None:
    """The models as they were loaded and the load of the session; None before a target is."""
    facts, shapes = run_facts(snapshot), loaded_models(snapshot)
    target, draft = facts.target, facts.draft
    if target is None or target.name not in shapes:
        return None
    return MemoryInputs(
        target=target.name,
        draft=draft.name if draft is not None and draft.name in shapes else NONE,
        batch=_told(facts, "batch", MAX_BATCH) or 1,
        context=min(_longest(snapshot) or target.context_length, MOST_TOKENS),
        gamma=_most_drafted(facts),
        target_bits=_weight_bits(target),
        draft_bits=16.0 if draft is None else _weight_bits(draft),
        kv_bits=32.0 if target.dtype.endswith("float32") else 16.0,
    )


def loaded_models(snapshot: Snapshot) -> dict[str, NamedShape]:
    """The shapes that the session's models told, by their names; those that told none are left
    out."""
    models, found = snapshot.models, {}
    for row in range(len(models)):
        try:
            told = json.loads(models.text("shape_json", row))
            shape = ModelShape(**told)
        except (ValueError, TypeError, RecursionError):
            continue
        if any(number > _LARGEST for number in told.values() if isinstance(number, int)):
            continue
        name = models.text("name", row)
        found[name] = NamedShape(name, shape, shape.n_parameters)
    return found


def _overhead(snapshot: Snapshot, selection: Selection, costs: MeasuredCosts) -> float:
    """Of a step, in plain target forwards; 0 where steps were not measured."""
    split = time_split(snapshot, selection)
    if split is None:
        return 0.0
    rest_ns = max(0, split.whole_ns - split.forward_ns) / split.n_steps
    return rest_ns / costs.plain_ns


def _most_drafted(facts: RunFacts) -> int:
    """Tokens of a step; 0 for plain decoding, whatever gamma its settings hold."""
    if facts.is_baseline:
        return 0
    name = "max_gamma" if facts.gamma == "auto" else "gamma"
    return _told(facts, name, MAX_GAMMA)


def _told(facts: RunFacts, name: str, most: int) -> int:
    """A whole number of the settings, as far as a run can have it; 0 where it is none."""
    number = facts.settings.get(name)
    return min(max(number, 0), most) if isinstance(number, int) else 0


def _longest(snapshot: Snapshot) -> int:
    """Tokens of the longest sequence, if each becomes as long as it may; 0 before the first."""
    sequences = snapshot.sequences
    starts = sequences["change"] == SequenceChange.STARTED
    lengths = sequences["n_prompt_tokens"][starts] + sequences["max_new_tokens"][starts]
    return int(lengths.max(initial=0))


def _weight_bits(model: ModelFacts) -> float:
    return round(8 * model.weight_bytes / max(1, model.n_parameters), 1)
