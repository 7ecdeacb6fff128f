"""Open sessions laid beside each other: which ones, at which moment, in which order."""

from collections.abc import Sequence

from sessions.compare_names import column_heads
from sessions.snapshot import Snapshot
from ui.moment import NamedSnapshot
from ui.open_session import OpenSession

MAX_SIDE_BY_SIDE = 4


def first_to_show(sessions: Sequence[OpenSession]) -> OpenSession | None:
    """The first session that drafts, of several."""
    if len(sessions) < 2:
        return None
    return next((each for each in sessions if not each.is_baseline), sessions[0])


def side_by_side(shown: OpenSession, sessions: Sequence[OpenSession]) -> tuple[NamedSnapshot, ...]:
    """The first sessions and always the shown one, each as far from its beginning as that is;
    the baseline first."""
    if len(sessions) < 2:
        return ()
    beside = list(sessions[:MAX_SIDE_BY_SIDE])
    if shown not in beside:
        beside[-1] = shown
    beside.sort(key=lambda each: not each.is_baseline)  # the rest as they came
    heads = column_heads([each.name for each in beside], [each.begun for each in beside])
    return tuple(
        NamedSnapshot(head, _as_far_as(shown, each), each.name)
        for head, each in zip(heads, beside, strict=True)
    )


def baseline_of(shown: OpenSession, sessions: Sequence[OpenSession]) -> Snapshot | None:
    """The first session that drafted nothing, as far from its beginning as the shown one is: what
    one card measures against is what the table beside it measures against. None if it is shown."""
    first = next((each for each in sessions if each.is_baseline), None)
    return None if first is None or first is shown else _as_far_as(shown, first)


def _as_far_as(shown: OpenSession, other: OpenSession) -> Snapshot:
    """``other`` at the moment as far from its beginning as the playhead of ``shown`` is."""
    if shown.playhead.t_ns >= shown.end_ns:
        return other.newest()
    return other.at(max(0, other.begin_ns + shown.playhead.t_ns - shown.begin_ns))
