"""Holds an event that was read from a file to what any engine could have said.

The codec checks types. A file from elsewhere may still hold a number no column can take or lists
that do not belong together; those are refused here, so that no reader needs to expect them. Every
event that is read passes through here, hence the loops without a line of Python for each.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from itertools import chain, starmap
from operator import add, attrgetter
from struct import Struct
from struct import error as StructError
from typing import Any, NamedTuple, get_type_hints

from engine.wire.config import MAX_BLOCKS
from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    CacheCreated,
    CalibrationMeasured,
    DraftProposed,
    DraftVerified,
    Event,
    KernelsRecorded,
    KvAdvanced,
    SequenceStarted,
    SpansMeasured,
    StepCommitted,
)

_WIDE_UNITS = ("_ns", "_bytes", "_flops", "_parameters", "_mw", "_mhz")
_WIDE_NAMES = {"ordinal", "seed", "bytes_per_block", "streams", "temperature_c"}
_SIGNED_NAMES = {"step"}

_COUNTS: dict[type[Any], Callable[[Any], tuple[int, ...]]] = {
    BlocksAllocated: lambda e: e.physical_blocks,
    BlocksFreed: lambda e: e.physical_blocks,
    DraftProposed: lambda e: e.token_ids,
    DraftVerified: lambda e: (*e.token_ids, e.extra_token_id or 0),
    StepCommitted: lambda e: e.token_ids,
}
"""Lists of ids and places, held to the same range as single ones. An event's other lists, and what
may be missing, need only fit their columns: 32 or 64 bits with a sign."""

_MAX_COUNT = 2**31 - 1
"""What a column of ids, positions and counts holds."""

_BETWEEN: dict[type[Any], tuple[tuple[str, int, int], ...]] = {
    CacheCreated: (("n_blocks", 0, MAX_BLOCKS), ("block_size", 1, 2**16)),
}
"""Numbers that readers size arrays by or divide by: the least and the most, both let in."""

_REACHES: dict[type[Any], tuple[Callable[[Any], int], Callable[[Any], int]]] = {
    BlocksAllocated: (attrgetter("first_logical_block"), lambda e: len(e.physical_blocks)),
    KvAdvanced: (attrgetter("position"), attrgetter("n_written")),
    DraftProposed: (attrgetter("position"), lambda e: len(e.token_ids)),
    DraftVerified: (attrgetter("position"), lambda e: len(e.token_ids)),
    StepCommitted: (attrgetter("position"), lambda e: len(e.token_ids)),
}
"""Where an event begins to count on, and how far: a column holds the end, too."""


class LimitError(ValueError):
    """An event no engine could have said; the message says why."""


def check_limits(events: Iterable[Event]) -> None:
    """Raise LimitError unless every integer fits its kind and parallel lists are equally long.

    Times and sizes are at most 64 bits wide with their sign. Counts, ids and positions, and the
    numbers of blocks, are 0 to 2^31 - 1, and so is what follows the last place of an event; a step
    may be below zero. A cache has no more blocks than an engine can be asked for.
    """
    groups: defaultdict[Any, list[Event]] = defaultdict(list)
    for event in events:
        groups[event.__class__].append(event)
    for kind, group in groups.items():
        _check_kind(kind, group, _CHECKS[kind])


def _check_kind(kind: type[Any], events: list[Event], check: "_Check") -> None:
    """``check_limits`` of events of one kind: a field of all of them at once."""
    scalars = list(map(check.scalars, events))
    try:
        for pack in check.packs:
            deque(starmap(pack, scalars), maxlen=0)
    except StructError as error:
        raise _out_of_range(kind) from error
    if check.counts is not None:
        counts = list(chain.from_iterable(map(check.counts, events)))
        if counts and (max(counts) > _MAX_COUNT or min(counts) < 0):
            raise _out_of_range(kind)
    if check.has_same_lengths is not None and not all(map(check.has_same_lengths, events)):
        raise LimitError(f"lists in {kind.__name__} differ in length")
    if check.reach is not None:
        firsts, lengths = (list(map(values, events)) for values in check.reach)
        is_near = max(firsts) + max(lengths) > _MAX_COUNT  # else none of them is
        if is_near and max(map(add, firsts, lengths)) > _MAX_COUNT:
            raise _out_of_range(kind)
    for name, least, most in _BETWEEN.get(kind, ()):
        if any(not least <= getattr(event, name) <= most for event in events):
            raise _out_of_range(kind)
    for values, bound in check.others:
        told = set(map(values, events))  # often alike, and often None
        numbers = [number for each in told for number in each if number is not None]
        if numbers and (max(numbers) >= bound or min(numbers) < -bound):
            raise _out_of_range(kind)


def _out_of_range(kind: type[Any]) -> LimitError:
    return LimitError(f"a number in {kind.__name__} is out of range")


class _Check(NamedTuple):
    """What is looked at in one kind of event."""

    packs: tuple[Callable[..., bytes], ...]
    scalars: Callable[[Any], tuple[Any, ...]]
    counts: Callable[[Any], tuple[int, ...]] | None
    reach: tuple[Callable[[Any], int], Callable[[Any], int]] | None
    has_same_lengths: Callable[[Any], bool] | None
    others: tuple[tuple[Callable[[Any], tuple[int | None, ...]], int], ...]  # and their bounds


_SAME_LENGTHS: dict[type[Any], Callable[[Any], bool]] = {
    CalibrationMeasured: lambda e: len(e.target_widths) == len(e.target_forward_ns),
    SequenceStarted: lambda e: len(e.prompt_token_ids) == len(e.prompt_token_texts),
    DraftProposed: lambda e: len(e.token_ids) == len(e.token_texts) == len(e.draft_probs),
    DraftVerified: lambda e: (
        len(e.token_ids)
        == len(e.token_texts)
        == len(e.draft_probs)
        == len(e.target_probs)
        == len(e.draft_confidences)
        == len(e.target_confidences)
        == len(e.overlaps)
        == len(e.target_entropies)
        == len(e.uniforms)
        == len(e.fates)
    ),
    StepCommitted: lambda e: len(e.token_ids) == len(e.token_texts) == len(e.origins),
    SpansMeasured: lambda e: (
        len(e.names)
        == len(e.roles)
        == len(e.start_ns)
        == len(e.host_ns)
        == len(e.gpu_ns)
        == len(e.n_flops)
        == len(e.n_bytes)
        and len(e.n_forwards) in (0, len(e.names))
        and len(e.gpu_start_ns) in (0, len(e.names))
    ),
    KernelsRecorded: lambda e: (
        len(e.names)
        == len(e.streams)
        == len(e.start_ns)
        == len(e.duration_ns)
        == len(e.span_indexes)
    ),
}
"""Whether the lists of an event that describe the same things are equally long."""


def _make_check(kind: type[Any]) -> _Check:
    hints = get_type_hints(kind)
    names = [name for name, hint in hints.items() if hint is int]
    lists = (tuple[int, ...], tuple[int | None, ...])
    others: list[tuple[Callable[[Any], tuple[int | None, ...]], int]] = []
    for name, hint in hints.items() if kind not in _COUNTS else ():
        bound = 2**63 if _code(name) == "q" else _MAX_COUNT + 1
        if hint in lists:
            others.append((attrgetter(name), bound))
        elif hint == int | None:
            others.append((attrgetter(name, name), bound))  # two, so that it gives a tuple
    codes = [_code(name) for name in names]
    # One refuses what is below zero, the other what is too large.
    packs = (Struct("=" + "".join(codes)).pack, Struct("=" + "".join(codes).lower()).pack)
    return _Check(
        packs=packs,
        scalars=attrgetter(*names),  # ordinal and t_ns at least
        counts=_COUNTS.get(kind),
        reach=_REACHES.get(kind),
        has_same_lengths=_SAME_LENGTHS.get(kind),
        others=tuple(others),
    )


def _code(name: str) -> str:
    """Of a ``Struct``: "I" for what is not below zero."""
    if name in _WIDE_NAMES or name.endswith(_WIDE_UNITS):
        return "q"
    return "i" if name in _SIGNED_NAMES else "I"


_CHECKS: dict[Any, _Check] = {kind: _make_check(kind) for kind in Event.__args__}
