"""What of a session is exported: all of it, some steps, or a stretch of time."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

from engine.wire.events import (
    CacheCreated,
    CalibrationMeasured,
    Event,
    ModelLoaded,
    SequenceStarted,
    SessionEnded,
    SessionStarted,
    SpansMeasured,
)

NS_PER_S = 1_000_000_000


class ExportError(Exception):
    """Why something cannot be exported or read, as a sentence."""


@dataclass(frozen=True)
class StepRange:
    """Steps ``first`` to ``last``, both included."""

    first: int
    last: int


@dataclass(frozen=True)
class TimeRange:
    """From ``start_ns`` up to and without ``end_ns``, since the session's start."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class ExportOptions:
    """Args:
    part: what to export; None is the whole session.
    per_step: leave out what comes once a token: ``draft_forward`` ranges, token arguments,
        rejections and kernels. Only timelines can.
    """

    part: StepRange | TimeRange | None = None
    per_step: bool = False


WHOLE = ExportOptions()


Told = tuple[Event, bool]
"""An event, and whether it belongs to the part that is exported."""


def parse_part(text: str) -> StepRange | TimeRange:
    """``steps:10-20`` or ``time:1.5-2.0`` (seconds, up to nine decimals).

    Raises:
        ExportError: it is neither, or empty.
    """
    if match := re.fullmatch(r"steps:([0-9]{1,12})-([0-9]{1,12})", text):
        steps = StepRange(int(match[1]), int(match[2]))
        if steps.first > steps.last:
            raise ExportError(f"The range {text} is empty: its first step is behind its last.")
        return steps
    number = r"([0-9]{1,9}(?:[.][0-9]{1,9})?)"
    if match := re.fullmatch(f"time:{number}-{number}", text):
        times = TimeRange(_nanoseconds(match[1]), _nanoseconds(match[2]))
        if times.start_ns >= times.end_ns:
            raise ExportError(f"The range {text} is empty: it does not end after its start.")
        return times
    raise ExportError(
        f"{text!r} is no range: write steps:10-20, or time:1.5-2.0 for seconds since the start."
    )


def select(events: Iterable[Event], part: StepRange | TimeRange | None) -> Iterator[Told]:
    """Every event, with whether it is kept. What describes the session and its sequences always
    is; spans are when any of them reaches into the stretch; what has no step of its own is kept
    while the steps are."""
    return zip(events, repeat(True)) if part is None else _marked(events, part)


def _marked(events: Iterable[Event], part: StepRange | TimeRange) -> Iterator[Told]:
    if isinstance(part, TimeRange):
        for event in events:
            yield event, isinstance(event, _ALWAYS) or _is_within(event, part)
    else:
        newest = 0
        for event in events:
            step = getattr(event, "step", -1)
            if step >= 0:
                newest = step
            is_kept = part.first <= (step if step >= 0 else newest) <= part.last
            yield event, is_kept or isinstance(event, _ALWAYS)


def reaches_into(part: StepRange | TimeRange | None, step: int, start_ns: int, end_ns: int) -> bool:
    """Whether something of ``step`` that lasts from ``start_ns`` to ``end_ns`` is of the part."""
    if part is None:
        return True
    if isinstance(part, StepRange):
        return part.first <= step <= part.last
    return start_ns < part.end_ns and end_ns >= part.start_ns


_ALWAYS = (
    SessionStarted,
    ModelLoaded,
    CacheCreated,
    CalibrationMeasured,
    SequenceStarted,
    SessionEnded,
)


def _is_within(event: Event, part: TimeRange) -> bool:
    if isinstance(event, SpansMeasured) and event.start_ns:
        ends = (start + host for start, host in zip(event.start_ns, event.host_ns, strict=True))
        return min(event.start_ns) < part.end_ns and max(ends) >= part.start_ns
    return part.start_ns <= event.t_ns < part.end_ns


def _nanoseconds(seconds: str) -> int:
    whole, _, decimals = seconds.partition(".")
    return int(whole) * NS_PER_S + int(decimals.ljust(9, "0"))
