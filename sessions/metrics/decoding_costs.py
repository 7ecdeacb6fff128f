"""What a forward cost while this session decoded.

A calibration times forwards before decoding, on a machine that may be busier, or calmer, than it is
later. What the steps themselves took is known for drafts and for verifications of the widths that
were run; of ordinary decoding, a forward one token wide, only the calibration tells.
"""

from dataclasses import replace

from sessions.metrics.costs import MeasuredCosts, measured_costs
from sessions.metrics.counts import count
from sessions.metrics.doubt import MOST_DRIFT
from sessions.metrics.monotone_costs import monotone
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.speedup import draft_lengths
from sessions.metrics.time_split import TimeSplit, time_split
from sessions.snapshot import Snapshot


def decoding_costs(
    snapshot: Snapshot, selection: Selection = EVERYTHING, *, split: TimeSplit | None = None
) -> MeasuredCosts | None:
    """``measured_costs``, never falling with the width, made to give the steps the mean time that
    they took. A draft forward takes what it did. Verifications that were timed within the steps
    are medians, and all stretched to the mean. Of calibrated ones what wider forwards take over
    one of a single token is stretched or shrunk in one proportion. Where even that one took longer
    when it was timed than whole verifications did later, all are shrunk; and where these took so
    much longer that the calibration is doubted, all are stretched: ordinary decoding would have
    been slowed as well.

    None where no cost of a forward is known.

    Args:
        split: ``time_split`` of the same, where it is at hand.
    """
    costs = measured_costs(snapshot, selection)
    if costs is None:
        return None
    even = monotone(costs)
    split, counts = split or time_split(snapshot, selection), count(snapshot, selection)
    lengths = draft_lengths(snapshot, selection)
    is_comparable = split is not None and bool(lengths) and counts.n_steps == counts.n_engine_steps
    if not is_comparable:
        return even
    assert split is not None
    n_drafts = sum(lengths.values())
    timed_ns = sum(n * even.verify_ns(length + 1) for length, n in lengths.items()) / n_drafts
    took_ns = split.verify_ns / split.n_steps
    if split.n_draft_forwards:
        even = replace(even, draft_ns=split.draft_forward_ns / split.n_draft_forwards)
    if took_ns <= 0.0 or max(lengths) == 0:
        return even
    return replace(even, target_ns=_as_they_took(even, timed_ns, took_ns))


def _as_they_took(costs: MeasuredCosts, timed_ns: float, took_ns: float) -> tuple[float, ...]:
    """Of each width, such that verifications that were ``timed_ns`` on average are ``took_ns``."""
    plain_ns = costs.plain_ns
    is_own = costs.source == "spans"
    if is_own or took_ns < plain_ns or took_ns > MOST_DRIFT * timed_ns:
        return tuple(ns * took_ns / timed_ns for ns in costs.target_ns)
    if timed_ns <= plain_ns:  # wider forwards were timed as free, and were not
        return (plain_ns, *(took_ns for _ in costs.target_ns[1:]))
    stretch = (took_ns - plain_ns) / (timed_ns - plain_ns)
    return tuple(plain_ns + stretch * (ns - plain_ns) for ns in costs.target_ns)
