"""How many tokens were drafted, tested, accepted and committed, and the rates of those counts.

acceptance_rate            accepted / (accepted + rejected): discarded tokens were never tested
expected_acceptance_rate   mean overlap of the tested tokens; agrees with the rate, up to chance
draft_efficiency           accepted / drafted; falls with gamma though the draft is the same
tokens_per_step            committed / steps, steps without a draft included
tokens_per_drafted_step    the same over the steps that had a draft verified
"""

from dataclasses import dataclass

import numpy as np

from engine.wire.events import Origin
from sessions.metrics.interval import Rate, rate, ratio
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.snapshot import Snapshot
from sessions.tables import ACCEPTED, DISCARDED, ORIGIN_CODES, REJECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """A step is one sequence's; ``n_engine_steps`` counts those decoded together once."""

    n_steps: int
    n_engine_steps: int
    n_steps_drafted: int
    n_committed: int
    n_committed_drafted: int  # in the steps that drafted
    n_accepted: int
    n_rejected: int
    n_discarded: int
    n_recovered: int
    n_bonus: int
    n_non_finite_draft: int
    n_zero_residual: int
    overlap_sum: float  # over tested tokens

    @property
    def n_tested(self) -> int:
        return self.n_accepted + self.n_rejected

    @property
    def n_drafted(self) -> int:
        return self.n_tested + self.n_discarded

    @property
    def acceptance(self) -> Rate:
        """The acceptance rate with its interval."""
        return rate(self.n_accepted, self.n_tested)

    @property
    def acceptance_rate(self) -> float | None:
        return ratio(self.n_accepted, self.n_tested)

    @property
    def expected_acceptance_rate(self) -> float | None:
        return ratio(self.overlap_sum, self.n_tested)

    @property
    def draft_efficiency(self) -> float | None:
        return ratio(self.n_accepted, self.n_drafted)

    @property
    def tokens_per_step(self) -> float | None:
        return ratio(self.n_committed, self.n_steps)

    @property
    def tokens_per_drafted_step(self) -> float | None:
        return ratio(self.n_committed_drafted, self.n_steps_drafted)

    @property
    def mean_draft_length(self) -> float | None:
        """Tokens per draft that was verified."""
        return ratio(self.n_drafted, self.n_steps_drafted)


def count(snapshot: Snapshot, selection: Selection = EVERYTHING) -> Counts:
    """Tokens are counted when they are judged, steps and output when they are committed."""
    tokens, steps, verdicts = snapshot.draft_tokens, snapshot.steps, snapshot.verdicts
    token_rows, step_rows = selection.rows(tokens), selection.rows(steps)
    fates = tokens["fate"][token_rows]
    tested = fates != DISCARDED
    committed = steps["n_committed"][step_rows]
    has_draft = steps["n_drafted"][step_rows] > 0
    origins = steps["extra_origin"][step_rows]
    verdict_rows = selection.rows(verdicts)
    return Counts(
        n_steps=len(committed),
        n_engine_steps=int(np.count_nonzero(np.diff(steps["step"][step_rows], prepend=-1))),
        n_steps_drafted=int(has_draft.sum()),
        n_committed=int(committed.sum()),
        n_committed_drafted=int(committed[has_draft].sum()),
        n_accepted=int((fates == ACCEPTED).sum()),
        n_rejected=int((fates == REJECTED).sum()),
        n_discarded=int((~tested).sum()),
        n_recovered=int((origins == ORIGIN_CODES[Origin.RECOVERED]).sum()),
        n_bonus=int((origins == ORIGIN_CODES[Origin.BONUS]).sum()),
        n_non_finite_draft=int(verdicts["n_non_finite_draft"][verdict_rows].sum()),
        n_zero_residual=int(verdicts["n_zero_residual"][verdict_rows].sum()),
        overlap_sum=float(tokens["overlap"][token_rows][tested].sum()),
    )
