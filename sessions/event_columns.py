"""Columns from many events at once: an event's value each, or all their tokens in one array."""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sessions.columns import MISSING_COUNT, MISSING_INT

Columns = dict[str, NDArray[Any]]
_NAN = float("nan")


def stamps(events: Sequence[Any]) -> Columns:
    """The columns ``ordinal`` and ``t_ns``."""
    return {
        "ordinal": np.array([event.ordinal for event in events], np.int64),
        "t_ns": np.array([event.t_ns for event in events], np.int64),
    }


def ints(values: Iterable[int]) -> NDArray[np.int32]:
    return np.array(values if isinstance(values, list) else list(values), np.int32)


def or_nan(value: float | None) -> float:
    return _NAN if value is None else value


def or_missing(value: int | None) -> int:
    return MISSING_INT if value is None else value


def or_missing_count(value: int | None) -> int:
    return MISSING_COUNT if value is None else value


def repeated(heads: Columns, lengths: NDArray[np.int32]) -> Columns:
    """The event's values once for each of its tokens."""
    return {name: np.repeat(values, lengths) for name, values in heads.items()}


def indexes_within(lengths: NDArray[np.int32]) -> NDArray[np.int32]:
    """0, 1, ... within each event: lengths 2 and 3 give 0, 1, 0, 1, 2."""
    firsts = np.cumsum(lengths, dtype=np.int32) - lengths
    return np.arange(int(lengths.sum()), dtype=np.int32) - np.repeat(firsts, lengths)


def flat(rows: Iterable[Sequence[Any]], dtype: type[np.generic], n: int) -> NDArray[Any]:
    return np.fromiter(chain.from_iterable(rows), dtype, n)


def flat_codes(rows: Iterable[Sequence[Any]], code_of: Any, n: int) -> NDArray[np.int32]:
    return np.fromiter(map(code_of, chain.from_iterable(rows)), np.int32, n)


def flat_or_missing(rows: Iterable[Sequence[int | None]], n: int) -> NDArray[np.int64]:
    values = list(chain.from_iterable(rows))
    n_missing = values.count(None)
    if n_missing == n:
        return np.full(n, MISSING_INT)
    return np.array(list(map(or_missing, values)) if n_missing else values, np.int64)
