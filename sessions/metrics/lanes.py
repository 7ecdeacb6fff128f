"""What the engine worked at over time: a lane per kind of work, as single bars where there are few,
and as the busy time of each column of a grid where there are many."""

from dataclasses import dataclass

import numpy as np

from engine.wire.events import EngineState
from sessions.columns import MISSING_INT, Array, TablePrefix
from sessions.snapshot import Snapshot
from sessions.tables import STATE_CODES

SPAN_LANES = ("draft", "draft_forward", "verify", "sample", "commit")
PREFILL, KERNELS, PAUSED = "prefill", "kernels", "paused"


@dataclass(frozen=True, slots=True)
class Grid:
    """``n`` columns of time, each ``column_ns`` wide. Edges are multiples of the width, so that
    columns stay where they are when the part that is looked at moves."""

    first_ns: int
    column_ns: int
    n: int

    @property
    def edges_ns(self) -> Array:
        """[n + 1] int64."""
        return self.first_ns + self.column_ns * np.arange(self.n + 1, dtype=np.int64)

    @property
    def end_ns(self) -> int:
        return self.first_ns + self.column_ns * self.n


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Single pieces of work, in the order told."""

    start_ns: Array  # [n] int64
    end_ns: Array  # [n] int64, by the host's clock; of kernels by the device's
    gpu_ns: Array  # [n] int64: what the device took, MISSING_INT where nobody measured it
    step: Array  # [n] int32; -1 for a prefill
    names: tuple[str, ...] = ()  # of kernels; else the lane says it


@dataclass(frozen=True, slots=True, eq=False)
class Lane:
    """One of ``bars`` and ``busy_ns`` is there, the other None."""

    key: str
    n: int  # pieces of work in it
    bars: Bars | None = None
    busy_ns: Array | None = None  # [grid.n] int64, what overlaps counted once


def grid_over(start_ns: int, end_ns: int, n_columns: int) -> Grid:
    """At most about ``n_columns`` columns over a time; widths are powers of two."""
    whole = max(end_ns - start_ns, 1)
    column_ns = 1 << max(0, (-(-whole // max(n_columns, 1)) - 1).bit_length())
    first = start_ns // column_ns
    return Grid(first * column_ns, column_ns, max(1, -(-end_ns // column_ns) - first))


def rows_within(table: TablePrefix, start_ns: int, end_ns: int) -> slice:
    """The rows whose work may lie within a time. Work is told when it is over, in order: what
    reaches into the time is told after its start, and at the latest by the first event behind its
    end."""
    t_ns = table["t_ns"]
    first = int(t_ns.searchsorted(np.int64(start_ns), "left"))
    last = int(t_ns.searchsorted(np.int64(end_ns), "left"))
    if last < len(t_ns):
        last = int(t_ns.searchsorted(t_ns[last], "right"))
    return slice(first, last)


def busy_in_columns(start_ns: Array, end_ns: Array, edges_ns: Array) -> Array:
    """How long something was at work in each column, [n_edges - 1] int64, exactly: a piece that
    lies over an edge is divided there, and a time that several cover is counted once."""
    if not len(start_ns):
        return np.zeros(len(edges_ns) - 1, np.int64)
    if np.any(start_ns[1:] < end_ns[:-1]):  # the rule for kernels, never for phases
        order = np.argsort(start_ns, kind="stable")
        start_ns, end_ns = start_ns[order], end_ns[order]
        reached = np.maximum.accumulate(end_ns)
        start_ns = np.concatenate((start_ns[:1], np.maximum(start_ns[1:], reached[:-1])))
        end_ns = np.maximum(start_ns, end_ns)
    lengths = end_ns - start_ns
    before = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=before[1:])
    begun = np.searchsorted(start_ns, edges_ns, side="right")  # pieces that have begun at an edge
    newest = np.maximum(begun - 1, 0)
    within = np.minimum(edges_ns - start_ns[newest], lengths[newest])
    return np.diff(np.where(begun > 0, before[newest] + within, 0))


def lanes_within(snapshot: Snapshot, grid: Grid, *, max_bars: int) -> tuple[Lane, ...]:
    """The lanes over the grid's time; a lane with more than ``max_bars`` pieces comes as columns.

    Draft, draft forward, verify, sample, commit and prefill are always there, kernels where some
    were recorded.
    """
    spans, prefills, kernels = snapshot.spans, snapshot.prefills, snapshot.kernels
    rows = rows_within(spans, grid.first_ns, grid.end_ns)
    names = spans["name"][rows]
    lanes = []
    for key in SPAN_LANES:
        picked = np.flatnonzero(names == spans.code(key)) + rows.start
        steps = spans["step"]
        lanes.append(_lane(key, spans, picked, grid, max_bars, steps, lengths="host_ns"))
    rows = rows_within(prefills, grid.first_ns, grid.end_ns)
    picked = np.arange(rows.start, rows.stop)
    no_step = np.full(len(prefills), -1, np.int32)
    lanes.append(_lane(PREFILL, prefills, picked, grid, max_bars, no_step, lengths="host_ns"))
    if len(kernels):
        rows = rows_within(kernels, grid.first_ns, grid.end_ns)
        picked = np.arange(rows.start, rows.stop)
        steps = kernels["step"]
        lanes.append(_lane(KERNELS, kernels, picked, grid, max_bars, steps, lengths="duration_ns"))
    return tuple(lanes)


def pauses(snapshot: Snapshot) -> tuple[Array, Array]:
    """When the engine rested by command: starts and ends, [n] int64 each. A pause that goes on
    reaches to the snapshot's moment."""
    states = snapshot.states
    t_ns = states["t_ns"]
    is_paused = states["state"] == STATE_CODES[EngineState.PAUSED]
    ends = np.append(t_ns[1:], max(snapshot.t_ns, int(t_ns[-1]))) if len(t_ns) else t_ns
    return t_ns[is_paused], ends[is_paused]


def pause_lane(snapshot: Snapshot, grid: Grid, *, max_bars: int) -> Lane:
    """The pauses over the grid's time."""
    start_ns, end_ns = pauses(snapshot)
    is_within = (end_ns > grid.first_ns) & (start_ns < grid.end_ns)
    start_ns, end_ns = start_ns[is_within], end_ns[is_within]
    n = len(start_ns)
    if n > max_bars:
        return Lane(PAUSED, n, busy_ns=busy_in_columns(start_ns, end_ns, grid.edges_ns))
    missing = np.full(n, MISSING_INT, np.int64)
    return Lane(PAUSED, n, Bars(start_ns, end_ns, missing, np.full(n, -1, np.int32)))


def _lane(
    key: str,
    table: TablePrefix,
    rows: Array,
    grid: Grid,
    max_bars: int,
    steps: Array,
    *,
    lengths: str,
) -> Lane:
    start_ns = table["start_ns"][rows]
    end_ns = start_ns + table[lengths][rows]
    if len(rows) > max_bars:
        return Lane(key, len(rows), busy_ns=busy_in_columns(start_ns, end_ns, grid.edges_ns))
    is_kernel = key == KERNELS
    gpu_ns = np.full(len(rows), MISSING_INT, np.int64) if is_kernel else table["gpu_ns"][rows]
    names = tuple(table.texts("name", rows)) if is_kernel else ()
    return Lane(key, len(rows), Bars(start_ns, end_ns, gpu_ns, steps[rows], names))
