"""Events that a session should hold and does not, as a sentence."""

from sessions.snapshot import Snapshot


def n_missing_events(snapshot: Snapshot) -> int:
    """Holes in the events' numbers, as a damaged and recovered session has them."""
    return int(snapshot.gaps["n_missing"].sum())


def missing_events_note(snapshot: Snapshot, *, of: str = "this session") -> str:
    """That figures are incomplete, where they are; else ""."""
    n = n_missing_events(snapshot)
    if not n:
        return ""
    told = "1 event is" if n == 1 else f"{n:,} events are"
    return f"{told} missing from {of}: its figures are incomplete."
