"""Which part of the timeline shows what was gone to elsewhere."""

import numpy as np

from sessions.metrics.landmarks import step_moment
from sessions.playhead import step_ends
from sessions.snapshot import Snapshot
from ui.step.between_rests import BESIDE, last_worked, long_rests, without_rests

STEPS_BESIDE = 8
"""Steps shown before and after it, where the newest were followed."""
NEWEST_SEEN = 12
"""Of the newest steps, so many are surely in sight while following, if no rest lies behind them."""


def window_with(
    snapshot: Snapshot, step: int, window_ns: tuple[int, int] | None
) -> tuple[int, int] | None:
    """Where to look, or None where the step is in sight already (or is none).

    A window that was chosen keeps its width, the step in its middle.
    """
    moment = step_moment(snapshot, step)
    if moment is None:
        return None
    if window_ns is not None:
        low, high = window_ns
        if low <= moment <= high:
            return None
        half = (high - low) // 2
        return moment - half, moment + half
    ends = step_ends(snapshot)
    place = int(np.searchsorted(ends, moment))
    rests = long_rests(snapshot)
    since_ns, _ = last_worked(rests, int(ends[-1]) if len(ends) else moment)
    if place >= len(ends) - NEWEST_SEEN and (since_ns is None or moment > since_ns):
        return None
    first, last = max(0, place - STEPS_BESIDE), min(len(ends) - 1, place + STEPS_BESIDE)
    return without_rests(rests, (int(ends[first]), int(ends[last])), moment)


def window_up_to(t_ns: int, window_ns: tuple[int, int] | None) -> tuple[int, int] | None:
    """Where to look once the playhead was sent to ``t_ns``: as wide as the window that was chosen,
    what leads up to the playhead in it, for there is nothing behind. None where the playhead is in
    sight, or no window was chosen: what is followed follows the playhead."""
    if window_ns is None or window_ns[0] <= t_ns <= window_ns[1]:
        return None
    width = window_ns[1] - window_ns[0]
    high = t_ns + round(width * BESIDE)
    return high - width, high
