"""Acceptance taken apart: by place in the draft, by how uncertain the target was."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sessions.metrics.interval import Rate, rate, ratio
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.snapshot import Snapshot
from sessions.tables import ACCEPTED, DISCARDED

ENTROPY_EDGES = (0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""Nats; the last bin is open."""


@dataclass(frozen=True, slots=True)
class PositionAcceptance:
    """One place in the draft, 0 being the first token.

    A place that was not reached, or not drafted, is neither accepted nor rejected.
    ``conditional`` is accepted / tested there; ``unconditional`` is accepted there / all steps
    that drafted, so it can only fall along the draft.
    """

    draft_index: int
    n_drafted: int
    conditional: Rate
    unconditional: Rate


def acceptance_by_position(
    snapshot: Snapshot, selection: Selection = EVERYTHING
) -> tuple[PositionAcceptance, ...]:
    """One entry per place that was ever drafted; empty when nothing was."""
    tokens = snapshot.draft_tokens
    rows = selection.rows(tokens)
    indexes, fates = tokens["draft_index"][rows], tokens["fate"][rows]
    n_drafted = np.bincount(indexes)
    n_places = len(n_drafted)
    n_tested = np.bincount(indexes[fates != DISCARDED], minlength=n_places).tolist()
    n_accepted = np.bincount(indexes[fates == ACCEPTED], minlength=n_places).tolist()
    return tuple(
        PositionAcceptance(
            draft_index=index,
            n_drafted=drafted,
            conditional=rate(n_accepted[index], n_tested[index]),
            unconditional=rate(n_accepted[index], n_tested[0]),  # every draft's first is tested
        )
        for index, drafted in enumerate(n_drafted.tolist())
    )


@dataclass(frozen=True, slots=True)
class EntropyBin:
    """Tested tokens whose target entropy lay in [low, high) nats; ``high`` None: no limit."""

    low: float
    high: float | None
    acceptance: Rate
    expected: float | None  # mean overlap
    mean_entropy: float | None


def acceptance_by_entropy(
    snapshot: Snapshot,
    selection: Selection = EVERYTHING,
    *,
    edges: Sequence[float] = ENTROPY_EDGES,
) -> tuple[EntropyBin, ...]:
    """One entry per bin of the target's entropy (temperature 1), also where it is empty.

    ``edges`` ascend; the first bin takes in everything below it, too.
    """
    tokens = snapshot.draft_tokens
    rows = selection.rows(tokens)
    fates = tokens["fate"][rows]
    tested = fates != DISCARDED
    entropies = tokens["target_entropy"][rows][tested]
    bins = np.clip(np.searchsorted(edges, entropies, side="right") - 1, 0, None)
    n_tested = np.bincount(bins, minlength=len(edges)).tolist()
    is_accepted = fates[tested] == ACCEPTED
    n_accepted = np.bincount(bins[is_accepted], minlength=len(edges)).tolist()
    overlaps = np.bincount(bins, weights=tokens["overlap"][rows][tested], minlength=len(edges))
    entropy_sums = np.bincount(bins, weights=entropies, minlength=len(edges))
    return tuple(
        EntropyBin(
            low=low,
            high=edges[index + 1] if index + 1 < len(edges) else None,
            acceptance=rate(n_accepted[index], n_tested[index]),
            expected=ratio(float(overlaps[index]), n_tested[index]),
            mean_entropy=ratio(float(entropy_sums[index]), n_tested[index]),
        )
        for index, low in enumerate(edges)
    )
