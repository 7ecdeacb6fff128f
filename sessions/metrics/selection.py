"""Which part of a session a metric is about: all of it, one sequence, a window of steps."""

from dataclasses import dataclass

import numpy as np

from sessions.columns import Array, TablePrefix
from sessions.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Selection:
    """``sequence_id`` None is every sequence; steps from ``first_step`` to ``last_step``, both
    included, None being the newest."""

    sequence_id: int | None = None
    first_step: int = 0
    last_step: int | None = None

    @property
    def is_everything(self) -> bool:
        return self == EVERYTHING

    def rows(self, table: TablePrefix) -> slice | Array:
        """Which rows of a table with ``step`` and ``sequence_id`` belong to it: a slice of all, or
        a mask [n_rows]."""
        if self.is_everything:
            return slice(None)
        mask = self._steps_mask(table["step"])
        if self.sequence_id is not None:
            mask &= table["sequence_id"] == self.sequence_id
        return mask

    def span_rows(self, snapshot: Snapshot) -> slice | Array:
        """Which rows of ``spans`` belong to it. A span is of all sequences decoded together: those
        of the steps in which the sequence took part."""
        if self.is_everything:
            return slice(None)
        steps = snapshot.spans["step"]
        mask = self._steps_mask(steps)
        if self.sequence_id is not None:
            drafts = snapshot.drafts
            mask &= np.isin(steps, drafts["step"][drafts["sequence_id"] == self.sequence_id])
        return mask

    def _steps_mask(self, steps: Array) -> Array:
        mask: Array = steps >= self.first_step
        if self.last_step is not None:
            mask &= steps <= self.last_step
        return mask


EVERYTHING = Selection()
