"""Moment and View: all that a panel is told. Frozen, so that a thread may be handed them."""

from dataclasses import dataclass
from functools import cache

from sessions.model import SessionModel
from sessions.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class NamedSnapshot:
    """One of several sessions side by side: ``name`` is short and no other's."""

    name: str
    snapshot: Snapshot
    whole_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What there is to show at one tick of the clock."""

    snapshot: Snapshot
    """The session at the playhead."""
    newest: Snapshot
    """The session as far as it was taken in: what axes that must not jump reach to."""
    baseline: Snapshot | None = None
    """The session that speed is measured against, if one is open; as far as this one is."""
    others: tuple[NamedSnapshot, ...] = ()
    """All sessions of a comparison at their playheads, the baseline first, this one among them;
    empty while one session is open."""
    is_live: bool = False
    """Whether an engine still speaks."""


@cache
def nothing_yet(*, is_live: bool) -> Moment:
    """Before anything was said: ``is_live`` while an engine starts, of which much will come."""
    nothing = SessionModel().snapshot()
    return Moment(snapshot=nothing, newest=nothing, is_live=is_live)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRef:
    """One token: a draft token by ``draft_index``, or with None the extra one of the step."""

    sequence_id: int
    step: int
    draft_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the user points at. The same for all panels."""

    sequence_id: int | None = None
    """The sequence whose text, steps and blocks are looked at; None: whichever is newest."""
    only_sequence_id: int | None = None
    """The sequence that figures are of; None: all of the session. Never by the way: looking at a
    token changes no figure."""
    step: int | None = None
    """The selected step; None: the newest."""
    token: TokenRef | None = None
    """The selected token, of the selected step."""
    window_ns: tuple[int, int] | None = None
    """The part of the timeline that is looked at; None: the newest steps."""
    shows_refused: bool = True
    """Whether the text shows rejected and discarded tokens, struck through."""
    block: tuple[int, int] | None = None
    """The selected cache block: its role code, its physical number."""
