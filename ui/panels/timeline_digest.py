"""What the timeline shows of a moment: pure, no Qt. The part that is looked at and as much again on
both sides, so that dragging uncovers what is already there."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sessions.columns import Array
from sessions.metrics.fate_columns import (
    FateTokens,
    fate_counts,
    fates_within,
    longest_draft,
)
from sessions.metrics.lanes import (
    KERNELS,
    PREFILL,
    SPAN_LANES,
    Grid,
    Lane,
    grid_over,
    lanes_within,
    pause_lane,
    rows_within,
)
from sessions.metrics.slots import Slots, sequence_slots
from sessions.metrics.step_times import (
    StepTimes,
    first_and_last_step,
    step_bounds,
    steps_within,
)
from sessions.snapshot import Snapshot
from ui.moment import Moment, View
from ui.panels.base import Empty
from ui.step.between_rests import (
    BESIDE,
    Rests,
    behind_rests,
    last_worked,
    long_rests,
    usual_work_ns,
)
from ui.step.looked_at import newest_step

N_FOLLOWED = 18
"""Steps in the picture while it follows the newest."""
_LEAST_STEPS = 0.25
"""A window that begins behind a rest is never narrower than this part of a usual step."""
NARROW_PX = 3
"""A step narrower than this is not drawn alone."""
MAX_SEQUENCES = 4
MAX_POSITIONS = 32
_MAX_BARS = 400
_STEPS_A_COLUMN = 4

Interval = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TimelineDigest:
    """Times are ns since the session's start. ``tokens`` or ``counts`` is there, not both."""

    window_ns: Interval
    covered_ns: Interval
    extent_ns: Interval  # all there is
    is_following: bool
    width_ns: int  # wanted while following
    least_ns: int  # narrower would hide what was done since the engine rested
    lanes: tuple[Lane, ...]
    grid: Grid  # of the lanes' columns
    pauses: Lane
    steps: StepTimes
    """Those of the covered time where they are drawn singly, else none."""
    tokens: FateTokens | None
    token_ns: tuple[Array, Array] | None  # starts and ends, [n] each
    chosen: int | None  # of the tokens, the selected one
    counts: Array | None  # [n_slots, n_positions, 3, fate_grid.n]
    fate_grid: Grid
    column_steps: Array  # [fate_grid.n] the step of each column's first commit
    n_slots: int
    n_positions: int
    captions: tuple[tuple[int, int, int], ...]  # slot, from when, sequence
    selected_ns: Interval | None
    playhead_ns: int | None
    kernels_name: str
    note: str
    problem: str  # why the lanes are empty


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the raster's rows stand for."""

    slots: Slots
    n_slots: int
    n_positions: int


def timeline_digest(
    moment: Moment, view: View, *, width_px: int = 1000
) -> TimelineDigest | Empty | None:
    """``width_px`` is how wide the data area is."""
    snapshot, newest = moment.snapshot, moment.newest
    extent = _extent(newest)
    if extent is None:
        return None
    is_later = newest.t_ns > snapshot.t_ns
    end_ns = snapshot.t_ns if is_later else extent[1]
    usual_ns = usual_work_ns(snapshot) or max(1, (extent[1] - extent[0]) // N_FOLLOWED)
    rests = long_rests(snapshot)
    since_ns, end_ns = last_worked(rests, end_ns)
    width_ns, least_ns = usual_ns * N_FOLLOWED, 0
    if since_ns is not None:
        whole_ns = round((end_ns - since_ns) / (1 - 2 * BESIDE))
        least_ns = min(width_ns, max(whole_ns, round(usual_ns * _LEAST_STEPS)))
        width_ns = least_ns
    window = view.window_ns or followed_window(extent, end_ns, width_ns)
    reach = window[1] - window[0]
    # While following, the picture may be up to twice as wide as wanted: see the panel.
    covered = (window[0] - reach, window[1] + reach)
    n_steps = _n_steps(snapshot, window)
    is_narrow = n_steps * NARROW_PX > width_px
    max_bars = max(_MAX_BARS, width_px // NARROW_PX) * 3
    n_columns = max(8, min(width_px // NARROW_PX, n_steps // _STEPS_A_COLUMN))
    grid, fate_grid = (_grid(covered, window, extent, n) for n in (width_px, n_columns))
    steps = _no_steps() if is_narrow else steps_within(snapshot, *covered)
    n_positions = min(longest_draft(newest), MAX_POSITIONS)
    rows = _rows(snapshot, window, view.sequence_id, n_positions)
    return TimelineDigest(
        window_ns=window,
        covered_ns=covered,
        extent_ns=extent,
        is_following=view.window_ns is None,
        width_ns=width_ns,
        least_ns=least_ns,
        lanes=lanes_within(snapshot, grid, max_bars=max_bars),
        grid=grid,
        pauses=pause_lane(snapshot, grid, max_bars=max_bars),
        steps=steps,
        fate_grid=fate_grid,
        **_raster(snapshot, view, rows, fate_grid if is_narrow else (covered, steps, rests)),
        column_steps=_column_steps(snapshot, fate_grid),
        selected_ns=None if view.step is None else step_bounds(snapshot, view.step),
        playhead_ns=snapshot.t_ns if is_later else None,
        kernels_name=_kernels_name(snapshot),
        note=_note(snapshot, newest, window, rows),
        problem=_problem(snapshot),
    )


def _raster(
    snapshot: Snapshot, view: View, rows: _Rows, place: Grid | tuple[Interval, StepTimes, Rests]
) -> dict[str, Any]:
    """The digest's fields of the raster: counts in the columns of a grid, or single tokens in the
    steps of a time, without its rests."""
    tokens, token_ns, counts = None, None, None
    if isinstance(place, Grid):
        counts = fate_counts(
            snapshot, rows.slots, place,
            n_slots=rows.n_slots, n_positions=rows.n_positions,
        )  # fmt: skip
    else:
        covered, steps, rests = place
        found = fates_within(snapshot, rows.slots, *covered)
        tokens, token_ns = _placed(found, steps, rows, rests)
    return {
        "tokens": tokens,
        "token_ns": token_ns,
        "chosen": _chosen(tokens, view),
        "counts": counts,
        "n_slots": rows.n_slots,
        "n_positions": rows.n_positions,
        "captions": _captions(snapshot, rows),
    }


def followed_window(extent: Interval, end_ns: int, width_ns: int) -> Interval:
    """The newest ``width_ns``, some room behind them; from the beginning until there is so much."""
    right = max(end_ns + round(width_ns * BESIDE), extent[0] + width_ns)
    return right - width_ns, right


def _extent(snapshot: Snapshot) -> Interval | None:
    """From the first to the last piece of work."""
    starts = [int(t["start_ns"][0]) for t in (snapshot.prefills, snapshot.spans) if len(t)]
    starts += [int(snapshot.drafts["t_ns"][0])] if len(snapshot.drafts) else []
    if not starts:
        return None
    told = (snapshot.prefills, snapshot.spans, snapshot.drafts, snapshot.verdicts, snapshot.steps)
    end = max(int(table["t_ns"][-1]) for table in told if len(table))
    return min(starts), max(end, min(starts) + 1)


def _clipped(covered: Interval, extent: Interval) -> Interval:
    """Columns are made only where there is something."""
    start = min(max(covered[0], extent[0]), extent[1])
    return start, max(min(covered[1], extent[1]), start + 1)


def _grid(covered: Interval, window: Interval, extent: Interval, in_window: int) -> Grid:
    """Columns over the covered time, as far as there is something; ``in_window`` in the window."""
    start, end = _clipped(covered, extent)
    n_columns = -(-in_window * (end - start) // max(1, window[1] - window[0]))
    return grid_over(start, end, max(1, n_columns))


def _n_steps(snapshot: Snapshot, window: Interval) -> int:
    """Engine steps committed in the window."""
    seen = first_and_last_step(snapshot, *window)
    return 0 if seen is None else seen[1] - seen[0] + 1


def _rows(snapshot: Snapshot, window: Interval, looked_at: int | None, n_positions: int) -> _Rows:
    """Without the rows of which nothing is seen, of finished sequences. The row of the sequence
    ``looked_at`` alone, as long as anything is seen of it: one that ran at another time hides
    nothing."""
    slots = sequence_slots(snapshot)
    if slots.n <= 1:
        return _Rows(slots, 1, n_positions)
    drafts = snapshot.drafts
    used = np.unique(slots.of(np.unique(drafts["sequence_id"][rows_within(drafts, *window)])))
    used = used[used >= 0]
    if looked_at is not None and len(own := np.intersect1d(used, slots.of(np.array([looked_at])))):
        return _Rows(_only(slots, own, slots.n), 1, n_positions)
    n = len(used)
    return _Rows(_only(slots, used, n), max(1, min(n, MAX_SEQUENCES)), n_positions)


def _only(slots: Slots, used: Array, n: int) -> Slots:
    """The rows ``used``, numbered anew, the sequences of others without one; of ``n`` in all."""
    is_used = np.isin(slots.slots, used)
    renumbered = np.searchsorted(used, slots.slots[is_used]).astype(np.int32)
    return Slots(slots.sequence_ids[is_used], renumbered, n)


def _no_steps() -> StepTimes:
    none = np.zeros(0, np.int64)
    return StepTimes(none, none, none)


def _placed(
    tokens: FateTokens, steps: StepTimes, rows: _Rows, rests: Rests
) -> tuple[FateTokens, tuple[Array, Array]]:
    """The tokens that have a place: a row, and a step whose time is known. Of a step that was
    stopped on its way they have the part behind the rest."""
    entry = steps.place_of(tokens.step)
    has_row = (tokens.slot >= 0) & (tokens.slot < rows.n_slots)
    has_row &= tokens.draft_index < rows.n_positions
    keeps = np.flatnonzero((entry >= 0) & has_row)
    kept = tokens.picked(keeps)
    start_ns, end_ns = steps.start_ns[entry[keeps]], steps.end_ns[entry[keeps]]
    return kept, (behind_rests(rests, start_ns, end_ns), end_ns)


def _chosen(tokens: FateTokens | None, view: View) -> int | None:
    token = view.token
    if tokens is None or token is None or token.draft_index is None:
        return None
    is_it = (tokens.step == token.step) & (tokens.draft_index == token.draft_index)
    found = np.flatnonzero(is_it & (tokens.sequence_id == token.sequence_id))
    return int(found[0]) if len(found) else None


def _column_steps(snapshot: Snapshot, grid: Grid) -> Array:
    steps = snapshot.steps
    if not len(steps):
        return np.zeros(grid.n, np.int64)
    rows = steps["t_ns"].searchsorted(grid.edges_ns[:-1], "left").clip(max=len(steps) - 1)
    found: Array = steps["step"][rows]
    return found


def _captions(snapshot: Snapshot, rows: _Rows) -> tuple[tuple[int, int, int], ...]:
    """Where each sequence begins, if there is more than one row of them."""
    if rows.n_slots < 2:
        return ()
    sequences = snapshot.sequences
    ids, firsts = np.unique(sequences["sequence_id"], return_index=True)
    row = rows.slots.of(ids)
    keeps = (row >= 0) & (row < rows.n_slots)
    columns = (row[keeps], sequences["t_ns"][firsts[keeps]], ids[keeps])
    return tuple(zip(*(column.tolist() for column in columns), strict=True))


def _kernels_name(snapshot: Snapshot) -> str:
    """Without a device, what was recorded are operators on the processor."""
    models = snapshot.models
    on_cpu = len(models) > 0 and all(device.startswith("cpu") for device in models.texts("device"))
    return "operators" if on_cpu else KERNELS


def _note(snapshot: Snapshot, newest: Snapshot, window: Interval, rows: _Rows) -> str:
    seen = _seen_steps(snapshot, window)
    last_of_all = newest_step(newest)
    n_all = 0 if last_of_all is None else last_of_all + 1
    if seen is None:
        words = f"none of {number(n_all)} steps here" if n_all else "no step yet"
    else:
        first, last = (number(step) for step in seen)
        told = f"step {first}" if first == last else f"steps {first}\u2013{last}"
        words = f"{told} ({number(n_all)} step{'s' * (n_all != 1)})"
    if rows.slots.n > rows.n_slots > 1:
        words += f" \u00b7 {rows.n_slots} of {rows.slots.n} sequences side by side"
    return words


def _seen_steps(snapshot: Snapshot, window: Interval) -> Interval | None:
    """The first and the last step in a window, the one that is being made among them."""
    seen, open_step = first_and_last_step(snapshot, *window), newest_step(snapshot)
    drafts, steps = snapshot.drafts, snapshot.steps
    is_open = len(drafts) and (not len(steps) or open_step != int(steps["step"][-1]))
    if open_step is None or not is_open or not window[0] <= drafts["t_ns"][-1] < window[1]:
        return seen
    return (open_step if seen is None else seen[0]), open_step


def _problem(snapshot: Snapshot) -> str:
    if len(snapshot.spans) or not len(snapshot.steps):
        return ""
    return "This session was recorded without spans: what became of the drafts is below."


def number(value: int) -> str:
    """Thousands set apart."""
    return f"{value:,}".replace(",", "\u2009")


LANE_NAMES = (*(key for key in SPAN_LANES if key != "draft_forward"), PREFILL)
"""In the picture, from the top; a draft's forwards lie inside it."""
