"""Folds of the events of a step and of the caches: many events of one kind at once, into columns.

Each takes the events of its kinds in order, a column at a time: an event's fields are read once,
and the tokens of all events become one array.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
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
from sessions.columns import MISSING_COUNT, MISSING_INT, Table
from sessions.tables import FATE_CODES, ORIGIN_CODES, ROLE_CODES, KvChange

Tables = Mapping[str, Table]
Columns = dict[str, NDArray[Any]]
KvEvent = BlocksAllocated | BlocksFreed | KvAdvanced
_NAN = float("nan")


def fold_drafts(events: Sequence[DraftProposed], tables: Tables) -> None:
    drafts, proposals = tables["drafts"], tables["proposals"]
    heads = _heads(events)
    lengths = ints(len(event.token_ids) for event in events)
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
        **_repeated(heads, lengths),
        draft_index=_indexes(lengths),
        token_id=_flat((event.token_ids for event in events), np.int32, n),
        draft_prob=_flat((event.draft_probs for event in events), np.float64, n),
        text=_flat_codes((event.token_texts for event in events), code_of, n),
    )


def fold_verdicts(events: Sequence[DraftVerified], tables: Tables) -> None:
    verdicts, draft_tokens = tables["verdicts"], tables["draft_tokens"]
    heads = _heads(events)
    positions = ints(event.position for event in events)
    lengths = ints(len(event.token_ids) for event in events)
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
    indexes = _indexes(lengths)
    draft_tokens.append(
        n,
        **_repeated(heads, lengths),
        draft_index=indexes,
        position=np.repeat(positions, lengths) + indexes,
        token_id=_flat((event.token_ids for event in events), np.int32, n),
        draft_prob=_flat((event.draft_probs for event in events), np.float64, n),
        target_prob=_flat((event.target_probs for event in events), np.float64, n),
        draft_confidence=_flat((event.draft_confidences for event in events), np.float64, n),
        target_confidence=_flat((event.target_confidences for event in events), np.float64, n),
        overlap=_flat((event.overlaps for event in events), np.float64, n),
        target_entropy=_flat((event.target_entropies for event in events), np.float64, n),
        uniform=_flat((event.uniforms for event in events), np.float64, n),
        fate=_flat_codes((event.fates for event in events), FATE_CODES.__getitem__, n),
        text=_flat_codes((event.token_texts for event in events), code_of, n),
    )


def fold_commits(events: Sequence[StepCommitted], tables: Tables) -> None:
    steps, output_tokens = tables["steps"], tables["output_tokens"]
    heads = _heads(events)
    positions = ints(event.position for event in events)
    lengths = ints(len(event.token_ids) for event in events)
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
    )
    n = int(lengths.sum())
    output_tokens.append(
        n,
        **_repeated(heads, lengths),
        position=np.repeat(positions, lengths) + _indexes(lengths),
        token_id=_flat((event.token_ids for event in events), np.int32, n),
        origin=_flat_codes((event.origins for event in events), ORIGIN_CODES.__getitem__, n),
        text=_flat_codes(
            (event.token_texts for event in events), output_tokens.pool.__getitem__, n
        ),
    )


def fold_kv(events: Sequence[KvEvent], tables: Tables) -> None:
    rows: list[tuple[int, ...]] = []
    for event in events:
        head = (event.ordinal, event.t_ns, event.sequence_id)
        role = ROLE_CODES[event.role]
        if isinstance(event, KvAdvanced):
            place = (MISSING_COUNT, MISSING_COUNT, event.position)
            moved = (event.n_written, event.n_rolled_back)
            rows.append((*head, event.step, role, KvChange.ADVANCED.value, *place, *moved))
            continue
        change, first = KvChange.FREED.value, None
        if isinstance(event, BlocksAllocated):
            change, first = KvChange.ALLOCATED.value, event.first_logical_block
        nothing = (MISSING_COUNT, MISSING_COUNT, MISSING_COUNT)
        for index, block in enumerate(event.physical_blocks):
            logical = MISSING_COUNT if first is None else first + index
            rows.append((*head, MISSING_COUNT, role, change, logical, block, *nothing))
    table = tables["kv_changes"]
    if rows:
        columns = zip(*rows, strict=True)
        table.append(len(rows), **dict(zip(table.kinds, columns, strict=True)))


def fold_spans(events: Sequence[SpansMeasured], tables: Tables) -> None:
    spans = tables["spans"]
    lengths = ints(len(event.names) for event in events)
    n = int(lengths.sum())
    heads: Columns = {**stamps(events), "step": ints(event.step for event in events)}
    spans.append(
        n,
        **_repeated(heads, lengths),
        role=_flat_codes((event.roles for event in events), ROLE_CODES.__getitem__, n),
        start_ns=_flat((event.start_ns for event in events), np.int64, n),
        host_ns=_flat((event.host_ns for event in events), np.int64, n),
        gpu_ns=_flat_or_missing((event.gpu_ns for event in events), n),
        n_flops=_flat_or_missing((event.n_flops for event in events), n),
        n_bytes=_flat_or_missing((event.n_bytes for event in events), n),
        name=_flat_codes((event.names for event in events), spans.pool.__getitem__, n),
    )


def stamps(events: Sequence[Any]) -> Columns:
    """The columns ``ordinal`` and ``t_ns``."""
    return {
        "ordinal": np.array([event.ordinal for event in events], np.int64),
        "t_ns": np.array([event.t_ns for event in events], np.int64),
    }


def ints(values: Iterable[int]) -> NDArray[np.int32]:
    return np.array(list(values), np.int32)


def or_nan(value: float | None) -> float:
    return _NAN if value is None else value


def or_missing(value: int | None) -> int:
    return MISSING_INT if value is None else value


def or_missing_count(value: int | None) -> int:
    return MISSING_COUNT if value is None else value


def _heads(events: Sequence[Any]) -> Columns:
    """The columns that every table of a step begins with."""
    return {
        **stamps(events),
        "sequence_id": ints(event.sequence_id for event in events),
        "step": ints(event.step for event in events),
    }


def _repeated(heads: Columns, lengths: NDArray[np.int32]) -> Columns:
    """The event's values once for each of its tokens."""
    return {name: np.repeat(values, lengths) for name, values in heads.items()}


def _extra(origins: tuple[Origin, ...]) -> Origin | None:
    return origins[-1] if origins and origins[-1] is not Origin.ACCEPTED else None


def _indexes(lengths: NDArray[np.int32]) -> NDArray[np.int32]:
    """0, 1, ... within each event: lengths 2 and 3 give 0, 1, 0, 1, 2."""
    firsts = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum()), dtype=np.int32) - np.repeat(firsts, lengths)


def _flat(rows: Iterable[Sequence[Any]], dtype: type[np.generic], n: int) -> NDArray[Any]:
    return np.fromiter(chain.from_iterable(rows), dtype, n)


def _flat_codes(rows: Iterable[Sequence[Any]], code_of: Any, n: int) -> NDArray[np.int32]:
    return np.fromiter(map(code_of, chain.from_iterable(rows)), np.int32, n)


def _flat_or_missing(rows: Iterable[Sequence[int | None]], n: int) -> NDArray[np.int64]:
    return np.fromiter(map(or_missing, chain.from_iterable(rows)), np.int64, n)
