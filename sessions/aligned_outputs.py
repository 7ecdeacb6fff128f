"""Outputs of the same prompts, laid beside the baseline's token by token, in one pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sessions.columns import Array
from sessions.snapshot import Snapshot
from sessions.tables import SequenceChange

PromptKey = tuple[str, int]
"""A prompt, and which of the sequences that were given it: 0 is the first."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """One prompt's output against the baseline's. ``position`` counts output tokens from 0; None
    while both are the same as far as the shorter goes and equally long."""

    sequence_id: int
    baseline_id: int
    n_tokens: int
    n_baseline_tokens: int
    position: int | None


class Outputs:
    """The output tokens of a session, by sequence."""

    def __init__(self, snapshot: Snapshot) -> None:
        tokens = snapshot.output_tokens
        ids = tokens["sequence_id"]
        self._tokens = tokens
        self._order = np.argsort(ids, kind="stable")
        firsts = np.flatnonzero(np.diff(ids[self._order], prepend=-1))
        bounds = [*firsts.tolist(), len(ids)]
        self._stretches = {
            sequence_id: slice(first, end)
            for sequence_id, (first, end) in zip(
                ids[self._order[firsts]].tolist(), pairwise(bounds), strict=True
            )
        }
        self._token_ids = tokens["token_id"][self._order]
        self.sequences = dict(_sequences(snapshot))
        """The sequence of each prompt."""

    def token_ids(self, sequence_id: int) -> Array:
        """[n] int32, in order."""
        return self._token_ids[self._stretch(sequence_id)]

    def texts(self, sequence_id: int, first: int, last: int) -> list[str]:
        """Of the output tokens from ``first`` up to and without ``last``."""
        rows = self._order[self._stretch(sequence_id)][max(0, first) : max(0, last)]
        return self._tokens.texts("text", rows)

    def _stretch(self, sequence_id: int) -> slice:
        return self._stretches.get(sequence_id, slice(0, 0))


def align(outputs: Outputs, baseline: Outputs) -> dict[PromptKey, Aligned]:
    """Every prompt that both were given, in the order of ``outputs``: the first with the first."""
    found = {}
    for prompt, sequence_id in outputs.sequences.items():
        baseline_id = baseline.sequences.get(prompt)
        if baseline_id is None:
            continue
        one, other = outputs.token_ids(sequence_id), baseline.token_ids(baseline_id)
        found[prompt] = Aligned(
            sequence_id, baseline_id, len(one), len(other), first_difference(one, other)
        )
    return found


def first_difference(one: Array, other: Array) -> int | None:
    """Where two rows of token ids part; the shorter one's end, if it ends before that."""
    n_both = min(len(one), len(other))
    different = one[:n_both] != other[:n_both]
    if different.any():
        return int(different.argmax())
    return None if len(one) == len(other) else n_both


def _sequences(snapshot: Snapshot) -> Iterator[tuple[PromptKey, int]]:
    sequences = snapshot.sequences
    rows = np.flatnonzero(sequences["change"] == SequenceChange.STARTED)
    ids: Sequence[int] = sequences["sequence_id"][rows].tolist()
    n_given: dict[str, int] = {}
    known: set[int] = set()
    for prompt, sequence_id in zip(sequences.texts("text", rows), ids, strict=True):
        if sequence_id in known:  # started again after a set-back
            continue
        known.add(sequence_id)
        nth = n_given.get(prompt, 0)
        n_given[prompt] = nth + 1
        yield (prompt, nth), sequence_id
