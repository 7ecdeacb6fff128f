"""Refuses events that are valid field by field and not as a whole: files come from anywhere."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain, starmap
from operator import attrgetter
from typing import Any

from engine.wire.events import DraftProposed, DraftVerified, Event, KernelsRecorded, SpansMeasured
from sessions.export.options import ExportError

LARGEST_NS = 2**53
"""A hundred days; what a reader of doubles still tells apart."""

_SPANS = ("names", "roles", "start_ns", "host_ns", "gpu_ns", "n_flops", "n_bytes")
_KERNELS = ("names", "streams", "start_ns", "duration_ns", "span_indexes")
_DRAFT = ("token_ids", "token_texts", "draft_probs")
_VERDICT = (
    *_DRAFT, "fates", "target_probs", "overlaps", "uniforms", "draft_confidences",
    "target_confidences", "target_entropies",
)  # fmt: skip
_LISTS: dict[type[Any], list[Callable[[Any], tuple[Any, ...]]]] = {
    kind: list(map(attrgetter, names))
    for kind, names in {
        SpansMeasured: _SPANS,
        KernelsRecorded: _KERNELS,
        DraftProposed: _DRAFT,
        DraftVerified: _VERDICT,
    }.items()
}
_LISTS[SpansMeasured].append(lambda event: event.gpu_start_ns or event.names)  # may be left out

_Times = tuple[Callable[[Any], Sequence[int]], int]
"""Where times are, and the smallest they may be; the clock of a device's kernels may be off."""

_TIMES: dict[type[Any], tuple[_Times, ...]] = {
    SpansMeasured: (
        (attrgetter("start_ns"), 0),
        (attrgetter("host_ns"), 0),
        (lambda event: event.gpu_start_ns and _told(event.gpu_start_ns), 0),
        (lambda event: event.gpu_start_ns and _told(event.gpu_ns), 0),
    ),
    KernelsRecorded: ((attrgetter("start_ns"), -LARGEST_NS), (attrgetter("duration_ns"), 0)),
}
_t_ns = attrgetter("t_ns")


def check_shapes(events: Sequence[Event]) -> None:
    """``check_shape`` of each; a field of all of them at once, as long as nothing is wrong."""
    groups: defaultdict[Any, list[Event]] = defaultdict(list)
    for event in events:
        groups[event.__class__].append(event)
    is_late = max(map(_t_ns, events), default=0) > LARGEST_NS
    if is_late or not all(starmap(_is_whole, groups.items())):
        for event in events:
            check_shape(event)


def _is_whole(kind: type[Any], events: Sequence[Event]) -> bool:
    lengths = [list(map(len, map(values, events))) for values in _LISTS.get(kind, ())]
    if lengths and lengths.count(lengths[0]) < len(lengths):
        return False
    return all(
        _are_within(list(chain.from_iterable(map(times, events))), smallest)
        for times, smallest in _TIMES.get(kind, ())
    )


def _told(times: Sequence[int | None]) -> list[int]:
    return [ns for ns in times if ns is not None]


def _are_within(times: Sequence[int], smallest: int) -> bool:
    return not times or (min(times) >= smallest and max(times) <= LARGEST_NS)


def check_shape(event: Event) -> None:
    """Raises ExportError with a sentence: lists of one event differ in length, or a time is
    negative or longer than ``LARGEST_NS``."""
    kind = type(event)
    if event.t_ns > LARGEST_NS:
        _refuse(event, f"its time, {event.t_ns} ns, is too large")
    if len({len(values(event)) for values in _LISTS.get(kind, ())}) > 1:
        _refuse(event, "its lists differ in length")
    if not all(_are_within(times(event), smallest) for times, smallest in _TIMES.get(kind, ())):
        _refuse(event, "a time in it is negative or too large")


def _refuse(event: Event, why: str) -> None:
    raise ExportError(f"Event {event.ordinal} ({type(event).__name__}) is damaged: {why}.")
