"""Kinds of text: which sequences carry which label (json, code, prose)."""

from collections.abc import Mapping

import numpy as np

from sessions.metrics.selection import Selection
from sessions.snapshot import Snapshot
from sessions.tables import SequenceChange


def kinds(snapshot: Snapshot) -> Mapping[str, tuple[int, ...]]:
    """The sequences of each label, labels and sequences in the order started; those without a
    label are in none. A sequence that was set back and started again is itself."""
    sequences = snapshot.sequences
    rows = np.flatnonzero(sequences["change"] == SequenceChange.STARTED)
    found: dict[str, dict[int, None]] = {}
    ids = sequences["sequence_id"][rows].tolist()
    for label, sequence_id in zip(sequences.texts("label", rows), ids, strict=True):
        if label:
            found.setdefault(label, {})[sequence_id] = None
    return {label: tuple(members) for label, members in found.items()}


def selections(snapshot: Snapshot) -> Mapping[str, Selection]:
    """Each kind as a part of the session; empty where there are not two to compare."""
    found = kinds(snapshot)
    if len(found) < 2:
        return {}
    return {label: Selection(sequence_ids=members) for label, members in found.items()}
