"""Playhead: which moment of a session is shown. It has no clock of its own: it is told the time."""

from enum import StrEnum

import numpy as np

from sessions.columns import Array
from sessions.snapshot import Snapshot


class Mode(StrEnum):
    FOLLOWING = "following"  # the newest moment, as the session grows
    PAUSED = "paused"  # one moment, until told otherwise
    PLAYING = "playing"  # session time passes at a speed


class Playhead:
    """A moment of a session in ``t_ns``, between 0 and the session's newest.

    Pausing it pauses nothing but the view: the session goes on behind it.
    """

    def __init__(self) -> None:
        self._mode = Mode.FOLLOWING
        self._t_ns = 0
        self._speed = 1.0
        self._clock_ns: int | None = None  # at the last advance, while playing

    @property
    def mode(self) -> Mode:
        return self._mode

    @property
    def t_ns(self) -> int:
        return self._t_ns

    @property
    def speed(self) -> float:
        """Session seconds per second, while playing."""
        return self._speed

    def advance(self, clock_ns: int, end_ns: int) -> int:
        """Move to where the playhead is at ``clock_ns`` (any steady clock) in a session whose
        newest moment is ``end_ns``; returns ``t_ns``. At the end it waits for more."""
        if self._mode is Mode.FOLLOWING:
            self._t_ns = end_ns
        elif self._mode is Mode.PLAYING:
            if self._clock_ns is not None:
                passed_ns = max(0, clock_ns - self._clock_ns)
                self._t_ns += passed_ns if self._speed == 1.0 else round(passed_ns * self._speed)
            self._clock_ns = clock_ns
        self._t_ns = max(0, min(self._t_ns, end_ns))
        return self._t_ns

    def follow(self) -> None:
        self._mode = Mode.FOLLOWING

    def pause(self) -> None:
        """Rest at the moment that is shown."""
        self._mode = Mode.PAUSED

    def play(self, *, speed: float = 1.0) -> None:
        """Go on from the moment that is shown. ValueError unless ``speed`` is above 0."""
        if not 0.0 < speed < float("inf"):
            raise ValueError(f"speed must be a number above 0, got {speed!r}.")
        if self._mode is not Mode.PLAYING:
            self._clock_ns = None
        self._mode, self._speed = Mode.PLAYING, speed

    def scrub(self, t_ns: int) -> None:
        """Show the moment ``t_ns``, and rest there."""
        self._mode = Mode.PAUSED
        self._t_ns = max(0, t_ns)

    def step(self, moments: Array, *, n: int = 1) -> bool:
        """Go to the ``n``-th of ``moments`` (ascending) from here, forward or, with a negative
        ``n``, backward, and rest there. False, and no move, where there is none that far."""
        side = np.searchsorted(moments, self._t_ns, side="right" if n > 0 else "left")
        target = int(side) + (n - 1 if n > 0 else n)
        if not n or not 0 <= target < len(moments):
            return False
        self.scrub(int(moments[target]))
        return True


def step_ends(snapshot: Snapshot) -> Array:
    """The moment each engine step was complete, ascending [n_steps] int64: its last commit, and
    its spans where they were measured."""
    steps, spans = snapshot.steps, snapshot.spans
    numbers, t_ns = _lasts(steps["step"], steps["t_ns"])
    span_steps, span_t_ns = _lasts(spans["step"], spans["t_ns"])
    if not len(span_steps):
        return t_ns
    place = np.searchsorted(span_steps, numbers).clip(max=len(span_steps) - 1)
    is_measured = span_steps[place] == numbers
    ends: Array = np.where(is_measured, np.maximum(t_ns, span_t_ns[place]), t_ns)
    return ends


def resting_points(snapshot: Snapshot) -> Array:
    """The moments after each step's last proposal and after each step's end, ascending int64:
    where an engine that is paused rests."""
    drafts = snapshot.drafts
    _, drafted = _lasts(drafts["step"], drafts["t_ns"])
    points = np.concatenate((drafted, step_ends(snapshot)))
    points.sort(kind="stable")  # two ascending runs are merged
    return points


def _lasts(steps: Array, t_ns: Array) -> tuple[Array, Array]:
    """Each step once, and the time of its last row."""
    lasts = np.flatnonzero(steps[1:] != steps[:-1])
    if len(steps):
        lasts = np.append(lasts, len(steps) - 1)
    return steps[lasts], t_ns[lasts]
