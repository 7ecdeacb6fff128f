"""Kinds of text: which sequences carry which label (json, code, prose)."""

from collections.abc import Mapping

import numpy as np

from sessions.columns import Array
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


def spells(snapshot: Snapshot) -> Mapping[str, Array]:
    """When each kind was decoded: [n, 2] ns, from a sequence's start to its finish or set-back,
    or to this moment; ascending, those that overlap made one."""
    sequences = snapshot.sequences
    kind_of = {each: label for label, members in kinds(snapshot).items() for each in members}
    changes = zip(
        sequences["sequence_id"].tolist(), sequences["change"].tolist(),
        sequences["t_ns"].tolist(), strict=True,
    )  # fmt: skip
    found: dict[str, list[list[int]]] = {label: [] for label in kind_of.values()}
    running: dict[str, set[int]] = {label: set() for label in found}
    for sequence_id, change, t_ns in changes:
        label = kind_of.get(sequence_id)
        if label is None:
            continue
        spell, at_work = found[label], running[label]
        if change == SequenceChange.STARTED:
            if not at_work:
                spell.append([t_ns, snapshot.t_ns])
            at_work.add(sequence_id)
        else:
            at_work.discard(sequence_id)
            if not at_work and spell:
                spell[-1][1] = t_ns
    return {label: np.array(each, np.int64).reshape(-1, 2) for label, each in found.items()}
