"""The time at which the engine worked, without that at which it rested by command: beside a rest of
a minute nothing would be seen of steps of milliseconds."""

import numpy as np

from sessions.columns import Array
from sessions.metrics.lanes import pauses
from sessions.metrics.step_times import N_USUAL
from sessions.snapshot import Snapshot

Interval = tuple[int, int]
Rests = tuple[Array, Array]

BESIDE = 0.04
"""Of the width of a window, shown of a rest beside it."""
_SHORT_STEPS = 2
"""A rest no longer than so many usual steps may stand in the picture."""
_ROWS_A_STEP = 8


def long_rests(snapshot: Snapshot) -> Rests:
    """The rests beside which steps are not to be seen: starts and ends, ascending [n] int64."""
    starts, ends = whole = _whole_rests(snapshot)
    is_long = ends - starts > _SHORT_STEPS * (_usual_ns(snapshot, whole) or 0)
    return starts[is_long], ends[is_long]


def usual_work_ns(snapshot: Snapshot) -> int | None:
    """From one step's end to the next one's without the rests between them, the median of the
    newest; None before the first."""
    return _usual_ns(snapshot, _whole_rests(snapshot))


def last_worked(rests: Rests, t_ns: int) -> tuple[int | None, int]:
    """The newest spell of work at ``t_ns``: since the end of a rest (None: since the beginning) and
    until when."""
    starts, ends = rests
    place = int(np.searchsorted(starts, t_ns, side="left")) - 1
    if place >= 0 and ends[place] >= t_ns:  # it rests
        t_ns = int(starts[place])
        place -= 1
    return (int(ends[place]) if place >= 0 else None), t_ns


def behind_rests(rests: Rests, start_ns: Array, end_ns: Array) -> Array:
    """Where pieces of work begin, [n]: of one with rests within, the part behind the last."""
    _, ends = rests
    if not len(ends):
        return start_ns
    place = np.searchsorted(ends, end_ns, side="left") - 1
    return np.where(place >= 0, np.maximum(start_ns, ends[np.maximum(place, 0)]), start_ns)


def without_rests(rests: Rests, window: Interval, moment: int) -> Interval:
    """The part of a window around ``moment`` that no rest lies in, but for its edges."""
    starts, ends = rests
    before, after = ends[ends < moment], starts[starts >= moment]
    low = max(window[0], int(before[-1])) if len(before) else window[0]
    high = min(window[1], int(after[0])) if len(after) else window[1]
    beside = round((high - low) * BESIDE)
    return max(window[0], low - beside), min(window[1], high + beside)


def _whole_rests(snapshot: Snapshot) -> Rests:
    """The pauses, what was told piece by piece as one."""
    starts, ends = pauses(snapshot)
    if not len(starts):
        return starts, ends
    is_first = np.append(True, starts[1:] > ends[:-1])
    return starts[is_first], ends[np.append(is_first[1:], True)]


def _usual_ns(snapshot: Snapshot, rests: Rests) -> int | None:
    steps = snapshot.steps
    n = len(steps)
    if not n:
        return None
    tail = slice(max(0, n - _ROWS_A_STEP * N_USUAL), n)
    numbers, t_ns = steps["step"][tail], steps["t_ns"][tail]
    lasts = np.flatnonzero(np.diff(numbers, append=numbers[-1:] + 1))[-N_USUAL - 1 :]
    ends = t_ns[lasts]
    if len(ends) == 1:  # from its own beginning
        ends = np.append(ends - steps["step_ns"][tail][lasts], ends)
    return max(1, int(np.median(np.diff(_worked_ns(rests, ends)))))


def _worked_ns(rests: Rests, moments: Array) -> Array:
    """How long was worked up to each of ``moments``."""
    starts, ends = rests
    if not len(starts):
        return moments
    lengths = np.cumsum(ends - starts)
    place = np.searchsorted(starts, moments, side="right") - 1
    newest = np.maximum(place, 0)
    rested = lengths[newest] - np.maximum(ends[newest] - moments, 0)
    return moments - np.where(place >= 0, rested, 0)
