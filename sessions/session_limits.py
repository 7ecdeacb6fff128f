"""Holds an event that was read from a file to what any engine could have said.

The codec checks types. A file from elsewhere may still hold a number no column can take or lists
that do not belong together; those are refused here, so that no reader needs to expect them.
"""

from array import array
from collections.abc import Callable
from operator import attrgetter
from struct import Struct
from struct import error as StructError
from typing import Any, get_type_hints

import msgspec

from engine.wire.events import (
    CalibrationMeasured,
    DraftProposed,
    DraftVerified,
    Event,
    KernelsRecorded,
    SequenceStarted,
    SpansMeasured,
    StepCommitted,
)

_SAME_LENGTH: dict[type[Any], tuple[str, ...]] = {
    CalibrationMeasured: ("target_widths", "target_forward_ns"),
    SequenceStarted: ("prompt_token_ids", "prompt_token_texts"),
    DraftProposed: ("token_ids", "token_texts", "draft_probs"),
    DraftVerified: (
        "token_ids",
        "token_texts",
        "draft_probs",
        "target_probs",
        "draft_confidences",
        "target_confidences",
        "overlaps",
        "target_entropies",
        "uniforms",
        "fates",
    ),
    StepCommitted: ("token_ids", "token_texts", "origins"),
    SpansMeasured: ("names", "roles", "start_ns", "host_ns", "gpu_ns", "n_flops", "n_bytes"),
    KernelsRecorded: ("names", "streams", "start_ns", "duration_ns", "span_indexes"),
}
"""Lists that describe the same things."""

_WIDE_UNITS = ("_ns", "_bytes", "_flops", "_parameters", "_mw", "_mhz")
_WIDE_NAMES = {"ordinal", "seed", "top_k", "streams", "bytes_per_block", "n_events"}
_SIGNED_NAMES = {"step", "span_indexes", "temperature_c"}


class LimitError(ValueError):
    """An event no engine could have said; the message says why."""


def check_limits(event: Event) -> None:
    """Raise LimitError unless every integer fits its kind and parallel lists are equally long.

    Times, sizes and seeds are 64 bits wide with a sign; counts, ids and positions 0 to 2^32 - 1;
    a step may be -1.
    """
    check = _CHECKS[type(event)]
    try:
        check.scalar_struct.pack(*check.scalars(event))
        for code, read in check.lists:
            array(code, read(event))
        if check.optional is not None:
            _check_optional(check.optional, event)
    except (StructError, OverflowError) as error:
        raise LimitError(f"a number in {type(event).__name__} is out of range") from error
    if check.columns is not None and len(set(map(len, check.columns(event)))) != 1:
        raise LimitError(f"lists in {type(event).__name__} differ in length")


class _Check(msgspec.Struct, frozen=True):
    """What is looked at in one kind of event."""

    scalar_struct: Struct
    scalars: Callable[[Any], tuple[Any, ...]]  # ordinal and t_ns at least
    lists: tuple[tuple[str, Callable[[Any], Any]], ...]  # array code and getter
    optional: (
        Callable[[Any], tuple[Any, ...]] | None
    )  # integers that may be None, and lists of such
    columns: Callable[[Any], tuple[Any, ...]] | None


def _check_optional(read: Callable[[Any], tuple[Any, ...]], event: Event) -> None:
    for value in read(event):
        for number in value if isinstance(value, tuple) else (value,):
            if number is not None and not -(2**63) <= number < 2**63:
                raise OverflowError


def _make_check(kind: type[Any]) -> _Check:
    scalars: list[str] = []
    lists: list[tuple[str, Callable[[Any], Any]]] = []
    optional: list[str] = []
    for name, hint in get_type_hints(kind).items():
        if hint is int:
            scalars.append(name)
        elif hint == tuple[int, ...]:
            lists.append((_code(name), attrgetter(name)))
        elif hint in (int | None, tuple[int | None, ...]):
            optional.append(name)
    columns = _SAME_LENGTH.get(kind)
    return _Check(
        scalar_struct=Struct("=" + "".join(map(_code, scalars))),
        scalars=attrgetter(*scalars),
        lists=tuple(lists),
        optional=_tuple_getter(optional),
        columns=attrgetter(*columns) if columns else None,
    )


def _tuple_getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]] | None:
    if not names:
        return None
    if len(names) == 1:
        read = attrgetter(names[0])
        return lambda event: (read(event),)
    return attrgetter(*names)


def _code(name: str) -> str:
    """The struct and array code of a field: signed and wide, signed, or a count."""
    if name in _WIDE_NAMES or name.endswith(_WIDE_UNITS):
        return "q"
    return "i" if name in _SIGNED_NAMES else "I"


_CHECKS: dict[type[Any], _Check] = {kind: _make_check(kind) for kind in Event.__args__}
