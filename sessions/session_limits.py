"""Holds an event that was read from a file to what any engine could have said.

The codec checks types. A file from elsewhere may still hold a number no column can take or lists
that do not belong together; those are refused here, so that no reader needs to expect them. Every
event that is read passes through here, hence the short way for the usual one.
"""

from collections.abc import Callable
from operator import attrgetter
from struct import Struct
from struct import error as StructError
from typing import Any, NamedTuple, get_type_hints

from engine.wire.events import (
    BlocksAllocated,
    BlocksFreed,
    CalibrationMeasured,
    DraftProposed,
    DraftVerified,
    Event,
    KernelsRecorded,
    SequenceStarted,
    SpansMeasured,
    StepCommitted,
)

_WIDE_UNITS = ("_ns", "_bytes", "_flops", "_parameters", "_mw", "_mhz")
_WIDE_NAMES = {"ordinal", "seed", "top_k", "bytes_per_block", "n_events"}
_SIGNED_NAMES = {"step"}

_COUNTS: dict[type[Any], Callable[[Any], tuple[int, ...]]] = {
    BlocksAllocated: lambda e: e.physical_blocks,
    BlocksFreed: lambda e: e.physical_blocks,
    DraftProposed: lambda e: e.token_ids,
    DraftVerified: lambda e: (*e.token_ids, e.extra_token_id or 0),
    StepCommitted: lambda e: e.token_ids,
}
"""Lists of ids and places, held to the same range as single ones. An event's other lists, and what
may be missing, are looked at in its line."""

_MAX_COUNT = 2**32 - 1
_DIGITS_TO_ZERO = bytes(ord("0") if byte in b"0123456789" else byte for byte in range(256))
_MANY_DIGITS = b"0" * 19
"""No integer of fewer digits is too wide for 64 bits."""


class LimitError(ValueError):
    """An event no engine could have said; the message says why."""


def check_limits(event: Event, line: bytes) -> None:
    """Raise LimitError unless every integer fits its kind and parallel lists are equally long.

    All integers are at most 64 bits wide with their sign. Single counts, ids and positions, and
    the numbers of blocks, are 0 to 2^32 - 1; a step may be below zero.

    Args:
        line: what ``event`` was decoded from.
    """
    pack, scalars, counts, has_same_lengths, has_more = _CHECKS[event.__class__]
    try:
        pack(*scalars(event))
    except StructError as error:
        raise _out_of_range(event) from error
    if counts is not None:
        numbers = counts(event)
        if numbers and (max(numbers) > _MAX_COUNT or min(numbers) < 0):
            raise _out_of_range(event)
    if has_same_lengths is not None and not has_same_lengths(event):
        raise LimitError(f"lists in {type(event).__name__} differ in length")
    if has_more and _MANY_DIGITS in line.translate(_DIGITS_TO_ZERO):
        _check_width(event)


def _check_width(event: Event) -> None:
    """The long way, for lines that hold many digits in a row."""
    for name in event.__struct_fields__:
        value = getattr(event, name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int) and not -(2**63) <= number < 2**63:
                raise _out_of_range(event)


def _out_of_range(event: Event) -> LimitError:
    return LimitError(f"a number in {type(event).__name__} is out of range")


class _Check(NamedTuple):
    """What is looked at in one kind of event."""

    pack: Callable[..., bytes]
    scalars: Callable[[Any], tuple[Any, ...]]
    counts: Callable[[Any], tuple[int, ...]] | None
    has_same_lengths: Callable[[Any], bool] | None
    has_more: bool  # integers that none of the others looks at


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
    names: list[str] = []
    codes = "="
    has_more = False
    for name, hint in get_type_hints(kind).items():
        if hint is int:
            names.append(name)
            codes += _code(name)
        elif hint in (int | None, tuple[int, ...], tuple[int | None, ...]):
            has_more = has_more or kind not in _COUNTS
    return _Check(
        pack=Struct(codes).pack,
        scalars=attrgetter(*names),  # ordinal and t_ns at least, so that it gives a tuple
        counts=_COUNTS.get(kind),
        has_same_lengths=_SAME_LENGTHS.get(kind),
        has_more=has_more,
    )


def _code(name: str) -> str:
    if name in _WIDE_NAMES or name.endswith(_WIDE_UNITS):
        return "q"
    return "i" if name in _SIGNED_NAMES else "I"


_CHECKS: dict[Any, _Check] = {kind: _make_check(kind) for kind in Event.__args__}
