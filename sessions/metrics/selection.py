"""Which part of a session a metric is about: all, some of its sequences, a window of steps."""

from dataclasses import dataclass

import numpy as np

from sessions.columns import Array, TablePrefix
from sessions.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Selection:
    """``sequence_id`` None is every sequence, or with ``sequence_ids`` each of those; steps from
    ``first_step`` to ``last_step``, both included, None being the newest."""

    sequence_id: int | None = None
    first_step: int = 0
    last_step: int | None = None
    sequence_ids: tuple[int, ...] | None = None

    @property
    def is_everything(self) -> bool:
        return self == EVERYTHING

    def rows(self, table: TablePrefix) -> slice | Array:
        """Which rows of a table with ``step`` and ``sequence_id`` belong to it: a slice of all, or
        a mask [n_rows]."""
        if self.is_everything:
            return slice(None)
        mask = self._steps_mask(table["step"])
        if not self._has_all_sequences:
            mask &= self._sequences_mask(table["sequence_id"])
        return mask

    def span_rows(self, snapshot: Snapshot) -> slice | Array:
        """Which rows of ``spans`` belong to it. A span is of all sequences decoded together: those
        of the steps in which the sequence took part."""
        if self.is_everything:
            return slice(None)
        steps = snapshot.spans["step"]
        mask = self._steps_mask(steps)
        if not self._has_all_sequences:
            drafts = snapshot.drafts
            mask &= np.isin(steps, drafts["step"][self._sequences_mask(drafts["sequence_id"])])
        return mask

    @property
    def _has_all_sequences(self) -> bool:
        return self.sequence_id is None and self.sequence_ids is None

    def _sequences_mask(self, ids: Array) -> Array:
        mask: Array = np.ones(len(ids), np.bool_)
        if self.sequence_id is not None:
            mask &= ids == self.sequence_id
        if self.sequence_ids is not None:
            mask &= np.isin(ids, np.array(self.sequence_ids, np.int64))
        return mask

    def _steps_mask(self, steps: Array) -> Array:
        mask: Array = steps >= self.first_step
        if self.last_step is not None:
            mask &= steps <= self.last_step
        return mask


EVERYTHING = Selection()


def profiled_steps(snapshot: Snapshot) -> Array:
    """The numbers of the steps whose kernels were recorded, or that captured a graph: that slows a
    step down, so figures of time leave them out. By their mark or, of steps that were not
    committed, by what was recorded."""
    steps = snapshot.steps
    marked: Array = steps["step"][steps["is_profiled"] > 0]
    recorded: Array = snapshot.recordings["step"]
    if not len(marked) and not len(recorded):  # as usual
        return recorded
    return np.union1d(marked, recorded)


def without_steps(rows: slice | Array, steps: Array, left_out: Array) -> slice | Array:
    """``rows`` of a table but for those of some steps.

    Args:
        rows: all, or a mask [n_rows].
        steps: the table's column ``step`` [n_rows].
    """
    if not len(left_out):
        return rows
    mask: Array = ~np.isin(steps, left_out)
    return mask if isinstance(rows, slice) else rows & mask
