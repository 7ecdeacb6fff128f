"""Folds of the events of a step and of the caches: many events of one kind at once, into columns.

Each takes the events of its kinds in order, a column at a time: an event's fields are read once,
and the tokens of all events become one array.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    DraftProposed,
    DraftVerified,
    KvAdvanced,
    Origin,
    SpansMeasured,
    StepCommitted,
)
from sessions.columns import MISSING_COUNT, Table
from sessions.event_columns import (
    Columns,
    flat,
    flat_codes,
    flat_or_missing,
    indexes_within,
    ints,
    or_missing_count,
    or_nan,
    repeated,
    stamps,
)
from sessions.tables import FATE_CODES, ORIGIN_CODES, ROLE_CODES, KvChange

Tables = Mapping[str, Table]
KvEvent = BlocksAllocated | BlocksFreed | KvAdvanced
_KV_CHANGES: dict[type[KvEvent], KvChange] = {
    BlocksAllocated: KvChange.ALLOCATED,
    BlocksFreed: KvChange.FREED,
    KvAdvanced: KvChange.ADVANCED,
}


def fold_drafts(events: Sequence[DraftProposed], tables: Tables) -> None:
    drafts, proposals = tables["drafts"], tables["proposals"]
    heads = _heads(events)
    lengths = ints([len(event.token_ids) for event in events])
    code_of = drafts.pool.__getitem__
    drafts.append(
        len(events),
        **heads,
        position=[event.position for event in events],
        gamma=[event.gamma for event in events],
        n_drafted=lengths,
        gamma_alpha=[or_nan(event.gamma_alpha) for event in events],
        n_non_finite_draft=[event.n_non_finite_draft for event in events],
        drafter=[code_of(event.drafter) for event in events],
        reason=[code_of(event.reason) for event in events],
    )
    n = int(lengths.sum())
    proposals.append(
        n,
        **repeated(heads, lengths),
        draft_index=indexes_within(lengths),
        token_id=flat((event.token_ids for event in events), np.int32, n),
        draft_prob=flat((event.draft_probs for event in events), np.float64, n),
        text=flat_codes((event.token_texts for event in events), code_of, n),
    )


def fold_verdicts(events: Sequence[DraftVerified], tables: Tables) -> None:
    verdicts, draft_tokens = tables["verdicts"], tables["draft_tokens"]
    heads = _heads(events)
    positions = ints([event.position for event in events])
    lengths = ints([len(event.token_ids) for event in events])
    code_of = verdicts.pool.__getitem__
    verdicts.append(
        len(events),
        **heads,
        position=positions,
        n_drafted=lengths,
        n_accepted=[event.n_accepted for event in events],
        extra_token_id=[or_missing_count(event.extra_token_id) for event in events],
        extra_text=[code_of(event.extra_token_text) for event in events],
        extra_origin=[ORIGIN_CODES[event.extra_origin] for event in events],
        extra_target_prob=[or_nan(event.extra_target_prob) for event in events],
        extra_entropy=[or_nan(event.extra_entropy) for event in events],
        n_non_finite_draft=[event.n_non_finite_draft for event in events],
        n_zero_residual=[event.n_zero_residual for event in events],
    )
    n = int(lengths.sum())
    indexes = indexes_within(lengths)
    draft_tokens.append(
        n,
        **repeated(heads, lengths),
        draft_index=indexes,
        position=np.repeat(positions, lengths) + indexes,
        token_id=flat((event.token_ids for event in events), np.int32, n),
        draft_prob=flat((event.draft_probs for event in events), np.float64, n),
        target_prob=flat((event.target_probs for event in events), np.float64, n),
        draft_confidence=flat((event.draft_confidences for event in events), np.float64, n),
        target_confidence=flat((event.target_confidences for event in events), np.float64, n),
        overlap=flat((event.overlaps for event in events), np.float64, n),
        target_entropy=flat((event.target_entropies for event in events), np.float64, n),
        uniform=flat((event.uniforms for event in events), np.float64, n),
        fate=flat_codes((event.fates for event in events), FATE_CODES.__getitem__, n),
        text=flat_codes((event.token_texts for event in events), code_of, n),
    )


def fold_commits(events: Sequence[StepCommitted], tables: Tables) -> None:
    steps, output_tokens = tables["steps"], tables["output_tokens"]
    heads = _heads(events)
    positions = ints([event.position for event in events])
    lengths = ints([len(event.token_ids) for event in events])
    steps.append(
        len(events),
        **heads,
        position=positions,
        gamma=[event.gamma for event in events],
        n_drafted=[event.n_drafted for event in events],
        n_accepted=[event.n_accepted for event in events],
        n_committed=lengths,
        extra_origin=[ORIGIN_CODES[_extra(event.origins)] for event in events],
        step_ns=[event.step_ns for event in events],
        is_profiled=[int(event.is_profiled) for event in events],
    )
    n = int(lengths.sum())
    output_tokens.append(
        n,
        **repeated(heads, lengths),
        position=np.repeat(positions, lengths) + indexes_within(lengths),
        token_id=flat((event.token_ids for event in events), np.int32, n),
        origin=flat_codes((event.origins for event in events), ORIGIN_CODES.__getitem__, n),
        text=flat_codes((event.token_texts for event in events), output_tokens.pool.__getitem__, n),
    )


def fold_kv(events: Sequence[KvEvent], tables: Tables) -> None:
    """One row per block or per advance; what does not apply to a row is missing."""
    advances = [event for event in events if isinstance(event, KvAdvanced)]
    blocks = [event for event in events if not isinstance(event, KvAdvanced)]
    is_advance = np.array([isinstance(event, KvAdvanced) for event in events])
    lengths = np.ones(len(events), np.int32)
    n_blocks = ints([len(event.physical_blocks) for event in blocks])
    lengths[~is_advance] = n_blocks
    n = int(lengths.sum())
    is_advance_row = np.repeat(is_advance, lengths)

    def placed(rows: NDArray[np.bool_], values: Any) -> NDArray[np.int32]:
        column = np.full(n, MISSING_COUNT, np.int32)
        column[rows] = values
        return column

    firsts = ints(
        event.first_logical_block if isinstance(event, BlocksAllocated) else MISSING_COUNT
        for event in blocks
    )
    is_allocated = np.repeat(firsts != MISSING_COUNT, n_blocks)
    logical = np.where(
        is_allocated,
        np.repeat(firsts, n_blocks) + indexes_within(n_blocks) * is_allocated,
        MISSING_COUNT,
    )
    heads: Columns = {
        **stamps(events),
        "sequence_id": ints([event.sequence_id for event in events]),
        "role": ints([ROLE_CODES[event.role] for event in events]),
        "change": ints([_KV_CHANGES[type(event)] for event in events]),
    }
    tables["kv_changes"].append(
        n,
        **repeated(heads, lengths),
        step=placed(is_advance_row, [event.step for event in advances]),
        logical_block=placed(~is_advance_row, logical),
        physical_block=placed(
            ~is_advance_row,
            flat((event.physical_blocks for event in blocks), np.int32, len(logical)),
        ),
        position=placed(is_advance_row, [event.position for event in advances]),
        n_written=placed(is_advance_row, [event.n_written for event in advances]),
        n_rolled_back=placed(is_advance_row, [event.n_rolled_back for event in advances]),
    )


def fold_spans(events: Sequence[SpansMeasured], tables: Tables) -> None:
    spans = tables["spans"]
    lengths = ints([len(event.names) for event in events])
    n = int(lengths.sum())
    heads: Columns = {
        **stamps(events),
        "step": ints([event.step for event in events]),
        "n_syncs": ints([or_missing_count(event.n_syncs) for event in events]),
    }
    spans.append(
        n,
        **repeated(heads, lengths),
        role=flat_codes((event.roles for event in events), ROLE_CODES.__getitem__, n),
        start_ns=flat((event.start_ns for event in events), np.int64, n),
        host_ns=flat((event.host_ns for event in events), np.int64, n),
        gpu_ns=flat_or_missing((event.gpu_ns for event in events), n),
        n_flops=flat_or_missing((event.n_flops for event in events), n),
        n_bytes=flat_or_missing((event.n_bytes for event in events), n),
        n_forwards=flat(
            (event.n_forwards or (1,) * len(event.names) for event in events), np.int32, n
        ),
        name=flat_codes((event.names for event in events), spans.pool.__getitem__, n),
    )


def _heads(events: Sequence[Any]) -> Columns:
    """The columns that every table of a step begins with."""
    return {
        **stamps(events),
        "sequence_id": ints([event.sequence_id for event in events]),
        "step": ints([event.step for event in events]),
    }


def _extra(origins: tuple[Origin, ...]) -> Origin | None:
    return origins[-1] if origins and origins[-1] is not Origin.ACCEPTED else None
