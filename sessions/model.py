"""SessionModel: folds events into append-only tables, and holds no other state."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    CalibrationMeasured,
    DraftProposed,
    DraftVerified,
    Event,
    EventBase,
    KernelsRecorded,
    KvAdvanced,
    SequenceFinished,
    SequenceSetBack,
    SequenceStarted,
    SpansMeasured,
    StepCommitted,
)
from sessions.columns import MISSING_CODE, Array, Kind, Table, TextPool
from sessions.folds import Tables, fold_commits, fold_drafts, fold_kv, fold_spans, fold_verdicts
from sessions.session_folds import (
    TABLE_OF,
    fold_calibrations,
    fold_kernels,
    fold_rows,
    fold_sequences,
)
from sessions.snapshot import Snapshot, take_snapshot
from sessions.spill import Spill
from sessions.tables import TABLE_COLUMNS

_AT_ONCE = 8192
"""Events folded together: bounds the lists that are made on the way."""

_Fold = Callable[[Any, Tables], None]

_FOLDS: dict[type[EventBase], _Fold] = {
    DraftProposed: fold_drafts,
    DraftVerified: fold_verdicts,
    StepCommitted: fold_commits,
    SpansMeasured: fold_spans,
    KernelsRecorded: fold_kernels,
    CalibrationMeasured: fold_calibrations,
    **dict.fromkeys((BlocksAllocated, BlocksFreed, KvAdvanced), fold_kv),
    **dict.fromkeys((SequenceStarted, SequenceSetBack, SequenceFinished), fold_sequences),
}
"""Kinds that feed the same table share a fold, so that their rows keep their order."""


@dataclass(frozen=True)
class FoldedColumns:
    """All that a model is after a number of events: ``SessionModel.adopt`` takes it."""

    n_events: int
    last_ordinal: int
    last_t_ns: int
    texts: list[str]
    tables: Mapping[str, Mapping[str, Array]]  # name -> column -> values, of all tables


@dataclass(frozen=True)
class ColumnPiece:
    """The columns of some events in a row, from a model that began with them."""

    first_ordinal: int
    first_t_ns: int
    columns: FoldedColumns


class SessionModel:
    """What is known of a session: an ``EventSink`` that becomes tables.

    The fold of the first events is the beginning of the fold of all of them, table by table; so
    the session at an earlier moment is the same tables, shorter (``snapshot``). Not thread-safe:
    one thread consumes and looks.
    """

    def __init__(self, *, after: int = -1, spill: Spill | None = None) -> None:
        """
        Args:
            after: the ordinal behind which its events begin: those before are not missing.
            spill: makes the room for a session that may grow for hours; None: in memory.
        """
        pool = TextPool()
        self.tables = {
            name: Table(name, kinds, pool, spill=spill) for name, kinds in TABLE_COLUMNS.items()
        }
        self._n_events = 0
        self._last_ordinal = after
        self._last_t_ns = 0

    @property
    def n_events(self) -> int:
        """Events taken in so far."""
        return self._n_events

    @property
    def last_ordinal(self) -> int:
        """The highest ordinal so far; before the first event that behind which they begin."""
        return self._last_ordinal

    @property
    def last_t_ns(self) -> int:
        """Time of the newest event; 0 before the first."""
        return self._last_t_ns

    def consume(self, events: Sequence[Event]) -> None:
        """Fold the next events of the stream."""
        for first in range(0, len(events), _AT_ONCE):
            self._fold(events[first : first + _AT_ONCE])

    def adopt(self, columns: FoldedColumns) -> None:
        """Become what the fold of earlier events was; nothing may have been consumed before."""
        assert not self._n_events, "the model has events"
        self.tables["starts"].pool.adopt(columns.texts)
        for name, table in columns.tables.items():
            self.tables[name].adopt(table)
        self._n_events = columns.n_events
        self._last_ordinal, self._last_t_ns = columns.last_ordinal, columns.last_t_ns

    def append(self, piece: ColumnPiece) -> None:
        """Take in what another model made of events that follow those taken in so far."""
        columns, n_missing = piece.columns, piece.first_ordinal - self._last_ordinal - 1
        self._tell_gap(piece.first_ordinal, piece.first_t_ns, n_missing)
        code_of = self.tables["starts"].pool.__getitem__
        codes = np.array([*map(code_of, columns.texts), MISSING_CODE], np.int32)  # -1: the last
        for name, added in columns.tables.items():
            table = self.tables[name]
            values = {
                column: codes[rows] if table.kinds[column] is Kind.TEXT else rows
                for column, rows in added.items()
            }
            table.append(len(added["t_ns"]), **values)
        self._n_events += columns.n_events
        self._last_ordinal = columns.last_ordinal
        self._last_t_ns = max(self._last_t_ns, columns.last_t_ns)

    def snapshot(self, t_ns: int | None = None) -> Snapshot:
        """The session as it was at ``t_ns``, what happened at that very moment included; as it is
        now by default."""
        return take_snapshot(self.tables, self._last_t_ns if t_ns is None else t_ns)

    def close(self) -> None:
        """Nothing: the tables stay."""

    def _fold(self, events: Sequence[Event]) -> None:
        self._n_events += len(events)
        groups: dict[Any, list[Event]] = {}
        for event in events:
            kind = type(event)
            key = _FOLDS.get(kind, kind)
            if (group := groups.get(key)) is None:
                group = groups[key] = []
            group.append(event)
        self._find_gaps(events)
        for key, group in groups.items():
            (fold_rows if key in TABLE_OF else key)(group, self.tables)

    def _find_gaps(self, events: Sequence[Event]) -> None:
        """A row for each hole in the ordinals. An ordinal that was already there is no hole."""
        told = [event.ordinal for event in events]
        self._last_t_ns = max(self._last_t_ns, *[event.t_ns for event in events])
        following = self._last_ordinal + 1
        if told == list(range(following, following + len(told))):  # nearly always
            self._last_ordinal = told[-1]
            return
        ordinals = np.array(told, np.int64)
        before = np.maximum.accumulate(np.concatenate(([self._last_ordinal], ordinals)))
        n_missing = ordinals - before[:-1] - 1
        for row in np.flatnonzero(n_missing > 0).tolist():
            self._tell_gap(told[row], events[row].t_ns, int(n_missing[row]))
        self._last_ordinal = int(before[-1])

    def _tell_gap(self, ordinal: int, t_ns: int, n_missing: int) -> None:
        """Before the event ``ordinal`` so many are missing, if any."""
        if n_missing > 0:
            self.tables["gaps"].append(1, ordinal=ordinal, t_ns=t_ns, n_missing=n_missing)
