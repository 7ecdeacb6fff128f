"""Whether what was calibrated before decoding still describes the decoding itself."""

from dataclasses import dataclass

from sessions.metrics.costs import measured_costs
from sessions.metrics.counts import count
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.time_split import time_split
from sessions.snapshot import Snapshot

MOST_DRIFT = 1.35
"""Times that a verification may take longer, or shorter, than it was calibrated at."""
LEAST_WIDTH_COST = 0.95
"""T(width) / T(1) below which a wider forward was timed quicker than a narrow one."""
MIN_STEPS = 20


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why estimates made from the calibration may mislead; ``drift`` is the mean verification
    while decoding / as calibrated at that width."""

    sentence: str
    drift: float


def calibration_doubt(snapshot: Snapshot, selection: Selection = EVERYTHING) -> Doubt | None:
    """None where costs come from the steps themselves, where there is too little to compare with,
    or where both agree."""
    costs = measured_costs(snapshot, selection)
    split, counts = time_split(snapshot, selection), count(snapshot, selection)
    length = counts.mean_draft_length
    if costs is None or costs.source != "calibration" or split is None or length is None:
        return None
    if split.n_steps < MIN_STEPS or counts.n_steps > counts.n_engine_steps:
        return None
    calibrated_ns = costs.verify_ns(length + 1)
    drift = split.verify_ns / split.n_steps / calibrated_ns
    if not 1 / MOST_DRIFT <= drift <= MOST_DRIFT:
        when = "now" if drift > 1 else "then"
        return Doubt(
            f"A verification took {drift:.2f} times as long while decoding as when it was timed "
            f"before: the machine was busy with something else {when}. Estimates of the speed-up "
            "and of other gammas may mislead.",
            drift,
        )
    if costs.v(length + 1) < LEAST_WIDTH_COST:
        return Doubt(
            "A verification of a whole draft was timed quicker than one of a single token: the "
            "machine was busy with something else. Estimates of the speed-up and of other gammas "
            "may mislead.",
            drift,
        )
    return None
