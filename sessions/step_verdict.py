"""One step of one sequence taken apart: what was drafted, what the target said, how each token met
its number."""

import json
from dataclasses import dataclass

import numpy as np

from sessions.columns import MISSING_CODE, Array, TablePrefix
from sessions.snapshot import Snapshot
from sessions.tables import ORIGIN_CODES

_ORIGIN_NAMES = {code: "" if origin is None else str(origin)
                 for origin, code in ORIGIN_CODES.items()}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraToken:
    """The one token that a step adds itself."""

    text: str
    token_id: int
    origin: str  # "recovered" or "bonus"
    target_prob: float  # NaN where missing
    entropy: float  # nats; NaN where missing


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StepVerdict:
    """Arrays of one entry per draft token; NaN is missing. While ``is_judged`` is False only
    ``texts`` and ``draft_probs`` say something: the target has not answered."""

    sequence_id: int
    step: int
    gamma: int
    drafter: str
    reason: str  # why gamma is what it is
    is_judged: bool
    texts: tuple[str, ...]
    token_ids: Array
    draft_probs: Array
    target_probs: Array
    draft_confidences: Array
    target_confidences: Array
    overlaps: Array
    entropies: Array  # nats
    uniforms: Array
    fates: Array  # int8, FATE_CODES; MISSING_CODE while not judged
    extra: ExtraToken | None  # None also where the sequence ended inside the draft
    n_zero_residual: int
    n_non_finite_draft: int
    temperature: float | None  # in force; None where nobody said

    @property
    def is_greedy(self) -> bool:
        return self.temperature == 0

    @property
    def ratios(self) -> Array:
        """target / draft; NaN where the draft gave nothing."""
        drafts = np.where(self.draft_probs > 0, self.draft_probs, np.nan)
        return np.asarray(self.target_probs / drafts)

    @property
    def thresholds(self) -> Array:
        """min(1, target / draft): what the uniform must lie below."""
        ratios = self.ratios
        return np.asarray(np.where(np.isnan(ratios), np.nan, np.minimum(ratios, 1.0)))


def step_verdict(snapshot: Snapshot, sequence_id: int, step: int) -> StepVerdict | None:
    """The step, or None where the sequence took no part in it."""
    heads = _rows(snapshot.drafts, sequence_id, step)
    if not len(heads):
        return None
    head = int(heads[-1])
    drafts, verdicts = snapshot.drafts, snapshot.verdicts
    judged = _rows(verdicts, sequence_id, step)
    is_judged = len(judged) > 0
    table = snapshot.draft_tokens if is_judged else snapshot.proposals
    rows = _rows(table, sequence_id, step)
    unknown = np.full(len(rows), np.nan)

    def told(column: str) -> Array:
        return table[column][rows] if is_judged else unknown

    return StepVerdict(
        sequence_id=sequence_id,
        step=step,
        gamma=int(drafts["gamma"][head]),
        drafter=drafts.text("drafter", head),
        reason=drafts.text("reason", head),
        is_judged=is_judged,
        texts=tuple(table.texts("text", rows)),
        token_ids=table["token_id"][rows],
        draft_probs=table["draft_prob"][rows],
        target_probs=told("target_prob"),
        draft_confidences=told("draft_confidence"),
        target_confidences=told("target_confidence"),
        overlaps=told("overlap"),
        entropies=told("target_entropy"),
        uniforms=told("uniform"),
        fates=table["fate"][rows] if is_judged else np.full(len(rows), MISSING_CODE, np.int8),
        extra=_extra(verdicts, int(judged[-1])) if is_judged else None,
        n_zero_residual=int(verdicts["n_zero_residual"][judged[-1]]) if is_judged else 0,
        n_non_finite_draft=int(drafts["n_non_finite_draft"][head]),
        temperature=_temperature(snapshot, int(drafts["ordinal"][head])),
    )


def steps_of(snapshot: Snapshot, sequence_id: int) -> Array:
    """The numbers of the steps that a sequence took part in, drafted ones included; ascending."""
    drafts = snapshot.drafts
    steps: Array = drafts["step"][drafts["sequence_id"] == sequence_id]
    return steps


def sequences_of(snapshot: Snapshot, step: int) -> Array:
    """The sequences that were decoded in a step, in the order they were told."""
    drafts = snapshot.drafts
    first, last = _range(drafts, step)
    return drafts["sequence_id"][first:last]


def _range(table: TablePrefix, step: int) -> tuple[int, int]:
    """Steps never decrease in a table of steps: what belongs to one lies together."""
    steps, number = table["step"], np.int32(step)
    return int(steps.searchsorted(number, "left")), int(steps.searchsorted(number, "right"))


def _rows(table: TablePrefix, sequence_id: int, step: int) -> Array:
    first, last = _range(table, step)
    return first + np.flatnonzero(table["sequence_id"][first:last] == sequence_id)


def _extra(verdicts: TablePrefix, row: int) -> ExtraToken | None:
    origin = _ORIGIN_NAMES[int(verdicts["extra_origin"][row])]
    if not origin:
        return None
    return ExtraToken(
        text=verdicts.text("extra_text", row),
        token_id=int(verdicts["extra_token_id"][row]),
        origin=origin,
        target_prob=float(verdicts["extra_target_prob"][row]),
        entropy=float(verdicts["extra_entropy"][row]),
    )


def _temperature(snapshot: Snapshot, ordinal: int) -> float | None:
    """In force at an event: the last one set before it, or else the session's own."""
    settings = snapshot.settings
    n_set = int(settings["ordinal"].searchsorted(ordinal))
    if n_set:
        return float(settings["temperature"][n_set - 1])
    begun = snapshot.starts.text("config_json", 0) if len(snapshot.starts) else "{}"
    try:
        settings_told = json.loads(begun)
        return float(settings_told["temperature"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
