"""Folds of the rarer events: the session's own, its sequences, samples, logs and losses."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from engine.wire.events import (
    CacheCreated,
    CalibrationMeasured,
    EngineStateChanged,
    Event,
    EventBase,
    EventsDropped,
    GpuSampled,
    HostSampled,
    KernelsRecorded,
    LogEmitted,
    ModelLoaded,
    PrefillCompleted,
    SequenceFinished,
    SequenceSetBack,
    SequenceStarted,
    SessionEnded,
    SessionStarted,
    SettingsChanged,
)
from sessions.columns import MISSING_COUNT, Kind, TextPool
from sessions.event_columns import or_missing, or_missing_count, or_nan
from sessions.folds import Tables
from sessions.tables import (
    DRAFT,
    END_CODES,
    FINISH_CODES,
    ROLE_CODES,
    STATE_CODES,
    TARGET,
    SequenceChange,
)

TABLE_OF: dict[type[EventBase], str] = {
    SessionStarted: "starts",
    ModelLoaded: "models",
    CacheCreated: "caches",
    EngineStateChanged: "states",
    SettingsChanged: "settings",
    SessionEnded: "ends",
    PrefillCompleted: "prefills",
    HostSampled: "host_samples",
    GpuSampled: "gpu_samples",
    LogEmitted: "logs",
    EventsDropped: "drops",
}
"""Kinds of which one event is one row, with columns named like the event's fields."""

_CODES = {"role": ROLE_CODES, "state": STATE_CODES, "reason": END_CODES}


def fold_rows(events: Sequence[Event], tables: Tables) -> None:
    """Events of one of ``TABLE_OF``'s kinds."""
    table = tables[TABLE_OF[type(events[0])]]
    columns = {}
    for name, kind in table.kinds.items():
        values: list[Any] = [getattr(event, name) for event in events]
        columns[name] = [_CONVERT[kind](name, value, table.pool) for value in values]
    table.append(len(events), **columns)


def fold_calibrations(events: Sequence[CalibrationMeasured], tables: Tables) -> None:
    rows = [
        (event.ordinal, event.t_ns, role, width, forward_ns, event.context_length,
         or_nan(event.draft_launch_share), or_nan(event.uncaptured_launch_share),
         event.elapsed_ns)
        for event in events
        for role, width, forward_ns in _timed(event)
    ]  # fmt: skip
    _append_rows("calibrations", rows, tables)


def fold_sequences(
    events: Sequence[SequenceStarted | SequenceSetBack | SequenceFinished], tables: Tables
) -> None:
    code_of = tables["sequences"].pool.__getitem__
    rows: list[tuple[int, ...]] = []
    tokens: list[tuple[int, ...]] = []
    for event in events:
        stamp = (event.ordinal, event.t_ns, event.sequence_id)
        asked, came = (MISSING_COUNT,) * 2, (-1, MISSING_COUNT, or_missing(None))
        match event:
            case SequenceStarted():
                change = SequenceChange.STARTED
                asked = (len(event.prompt_token_ids), event.max_new_tokens)
                more = (event.seed, event.n_resumed)
                texts = (code_of(event.prompt_text), code_of(event.label), code_of(None))
                tokens += [
                    (*stamp, position, token_id, code_of(text))
                    for position, (token_id, text) in enumerate(
                        zip(event.prompt_token_ids, event.prompt_token_texts, strict=True)
                    )
                ]
            case SequenceSetBack():
                change = SequenceChange.SET_BACK
                more = (or_missing(None), MISSING_COUNT)
                came = (-1, event.n_output_tokens, or_missing(None))
                texts = (code_of(None),) * 3
            case SequenceFinished():
                change = SequenceChange.FINISHED
                more = (or_missing(None), MISSING_COUNT)
                came = (FINISH_CODES[event.reason], event.n_output_tokens, event.elapsed_ns)
                texts = (code_of(event.text), code_of(None), code_of(event.detail))
        rows.append((*stamp, change.value, *asked, *more, *came, *texts))
    _append_rows("sequences", rows, tables)
    _append_rows("prompt_tokens", tokens, tables)


def fold_kernels(events: Sequence[KernelsRecorded], tables: Tables) -> None:
    code_of = tables["kernels"].pool.__getitem__
    rows = [
        (event.ordinal, event.t_ns, event.step, stream, start_ns, duration_ns, span, code_of(name))
        for event in events
        for stream, start_ns, duration_ns, span, name in zip(
            event.streams, event.start_ns, event.duration_ns, event.span_indexes, event.names,
            strict=True,
        )
    ]  # fmt: skip
    _append_rows("kernels", rows, tables)
    recordings = [
        (event.ordinal, event.t_ns, event.step, len(event.names), event.recording_ns,
         or_missing(event.clock_error_ns))
        for event in events
    ]  # fmt: skip
    _append_rows("recordings", recordings, tables)


def _timed(event: CalibrationMeasured) -> Iterator[tuple[int, int, int]]:
    """(role, width, ns) of each forward of a calibration."""
    if event.draft_forward_ns is not None:
        yield DRAFT, 1, event.draft_forward_ns
    for width, forward_ns in zip(event.target_widths, event.target_forward_ns, strict=True):
        yield TARGET, width, forward_ns


def _append_rows(name: str, rows: Sequence[tuple[Any, ...]], tables: Tables) -> None:
    """Rows with their values in the order of the table's columns."""
    table = tables[name]
    if rows:
        table.append(len(rows), **dict(zip(table.kinds, zip(*rows, strict=True), strict=True)))


def _to_text(name: str, value: Any, pool: TextPool) -> int:
    return pool["\n".join(value) if isinstance(value, tuple) else value]


_CONVERT: dict[Kind, Callable[[str, Any, TextPool], float]] = {
    Kind.INT: lambda name, value, pool: or_missing(value),
    Kind.COUNT: lambda name, value, pool: or_missing_count(value),
    Kind.FLOAT: lambda name, value, pool: or_nan(value),
    Kind.CODE: lambda name, value, pool: _CODES[name][value],
    Kind.TEXT: _to_text,
}
