"""The figures of a run, folded from its events. Every metric is defined here, once.

| figure | definition |
| --- | --- |
| acceptance_rate | accepted / (accepted + rejected): discarded tokens were never tested |
| expected_acceptance_rate | mean overlap over tested positions; should agree with the rate |
| draft_efficiency | accepted / drafted |
| tokens_per_step | committed / steps |
| tokens_per_drafted_step | the same over the steps that had a draft verified |
| tokens_per_second | committed / time in steps (prefill, calibration and pauses are apart) |
| c | draft forward / target forward, both one token wide, as calibrated |
| verify_width_cost | target forward at the mean verify width / at width 1, as calibrated |
| predicted_speedup | E[N] / (gamma c + v) at the acceptance rate; an estimate |
| overhead_share | share of the steps' time outside the models' forwards |

Rates without a denominator are None.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from engine.theory.speedup import expected_speedup
from engine.wire.events import (
    CalibrationMeasured,
    DraftVerified,
    Event,
    Fate,
    Origin,
    SequenceFinished,
    SequenceStarted,
    SpansMeasured,
    StepCommitted,
)

FORWARD_SPANS = ("draft_forward", "verify")


@dataclass
class Tally:
    """Counts of one sequence, or of several added up."""

    n_steps: int = 0
    n_committed: int = 0
    n_accepted: int = 0
    n_rejected: int = 0
    n_discarded: int = 0
    n_recovered: int = 0
    n_bonus: int = 0
    n_steps_drafted: int = 0
    n_committed_drafted: int = 0  # in those steps
    n_non_finite_draft: int = 0
    n_zero_residual: int = 0
    overlap_sum: float = 0.0
    tested_at: Counter[int] = field(default_factory=Counter)  # draft_index -> tokens tested
    accepted_at: Counter[int] = field(default_factory=Counter)

    def add_verdict(self, event: DraftVerified) -> None:
        fates = Counter(event.fates)
        self.n_accepted += fates[Fate.ACCEPTED]
        self.n_rejected += fates[Fate.REJECTED]
        self.n_discarded += fates[Fate.DISCARDED]
        self.n_non_finite_draft += event.n_non_finite_draft
        self.n_zero_residual += event.n_zero_residual
        for draft_index, (fate, overlap) in enumerate(
            zip(event.fates, event.overlaps, strict=True)
        ):
            if fate is not Fate.DISCARDED:
                self.tested_at[draft_index] += 1
                self.accepted_at[draft_index] += fate is Fate.ACCEPTED
                self.overlap_sum += overlap

    def add_commit(self, event: StepCommitted) -> None:
        self.n_steps += 1
        self.n_committed += len(event.token_ids)
        if event.n_drafted:
            self.n_steps_drafted += 1
            self.n_committed_drafted += len(event.token_ids)
        self.n_recovered += Origin.RECOVERED in event.origins
        self.n_bonus += Origin.BONUS in event.origins

    @property
    def n_drafted(self) -> int:
        return self.n_accepted + self.n_rejected + self.n_discarded

    @property
    def acceptance_rate(self) -> float | None:
        return _ratio(self.n_accepted, self.n_accepted + self.n_rejected)

    @property
    def expected_acceptance_rate(self) -> float | None:
        return _ratio(self.overlap_sum, self.n_accepted + self.n_rejected)

    @property
    def draft_efficiency(self) -> float | None:
        return _ratio(self.n_accepted, self.n_drafted)

    @property
    def tokens_per_step(self) -> float | None:
        return _ratio(self.n_committed, self.n_steps)

    @property
    def tokens_per_drafted_step(self) -> float | None:
        return _ratio(self.n_committed_drafted, self.n_steps_drafted)

    @property
    def acceptance_by_position(self) -> list[dict[str, Any]]:
        """Per draft_index: conditional on being tested there, and out of all steps that drafted."""
        return [
            {
                "draft_index": draft_index,
                "n_tested": self.tested_at[draft_index],
                "n_accepted": self.accepted_at[draft_index],
                "conditional": _ratio(self.accepted_at[draft_index], self.tested_at[draft_index]),
                "unconditional": _ratio(self.accepted_at[draft_index], self.n_steps_drafted),
            }
            for draft_index in sorted(self.tested_at)
        ]

    def as_dict(self) -> dict[str, Any]:
        return {
            "n_steps": self.n_steps,
            "n_drafted": self.n_drafted,
            "n_accepted": self.n_accepted,
            "n_rejected": self.n_rejected,
            "n_discarded": self.n_discarded,
            "n_recovered": self.n_recovered,
            "n_bonus": self.n_bonus,
            "n_steps_drafted": self.n_steps_drafted,
            "n_non_finite_draft": self.n_non_finite_draft,
            "n_zero_residual": self.n_zero_residual,
            "acceptance_rate": self.acceptance_rate,
            "expected_acceptance_rate": self.expected_acceptance_rate,
            "draft_efficiency": self.draft_efficiency,
            "tokens_per_step": self.tokens_per_step,
            "tokens_per_drafted_step": self.tokens_per_drafted_step,
            "acceptance_by_position": self.acceptance_by_position,
        }


@dataclass
class SequenceFigures:
    """One sequence: what was asked, what came, and its counts."""

    started: SequenceStarted
    tally: Tally = field(default_factory=Tally)
    token_ids: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    step_ns: int = 0
    finished: SequenceFinished | None = None

    def as_dict(self) -> dict[str, Any]:
        finished = self.finished
        return {
            "sequence_id": self.started.sequence_id,
            "label": self.started.label,
            "prompt": self.started.prompt_text,
            "n_prompt_tokens": len(self.started.prompt_token_ids),
            "seed": self.started.seed,
            "text": finished.text if finished else "".join(self.texts),
            "token_ids": self.token_ids,
            "n_output_tokens": len(self.token_ids),
            "finish_reason": str(finished.reason) if finished else None,
            "finish_detail": finished.detail if finished else "",
            **self.tally.as_dict(),
            "tokens_per_second": _ratio(len(self.token_ids) * 1e9, self.step_ns),
            "elapsed_s": finished.elapsed_ns / 1e9 if finished else None,
        }


class RunFigures:
    """Consumes events in order; ``as_dict`` may be asked at any time."""

    def __init__(self) -> None:
        self.sequences: dict[int, SequenceFigures] = {}
        self.total = Tally()
        self.calibration: CalibrationMeasured | None = None
        self._step_ns: Counter[int] = Counter()  # per engine step: its longest commit
        self._forward_ns = 0
        self._n_verified_rows = 0
        self._first_start_ns: int | None = None
        self._last_ns = 0

    def consume(self, events: Iterable[Event]) -> None:
        for event in events:
            self._consume(event)

    def _consume(self, event: Event) -> None:
        match event:
            case StepCommitted():
                sequence = self.sequences[event.sequence_id]
                for tally in (sequence.tally, self.total):
                    tally.add_commit(event)
                sequence.token_ids += event.token_ids
                sequence.texts += event.token_texts
                sequence.step_ns += event.step_ns
                self._step_ns[event.step] = max(self._step_ns[event.step], event.step_ns)
                self._last_ns = event.t_ns
            case DraftVerified():
                for tally in (self.sequences[event.sequence_id].tally, self.total):
                    tally.add_verdict(event)
            case SpansMeasured():
                self._forward_ns += sum(
                    host_ns if gpu_ns is None else gpu_ns
                    for name, host_ns, gpu_ns in zip(
                        event.names, event.host_ns, event.gpu_ns, strict=True
                    )
                    if name in FORWARD_SPANS
                )
            case SequenceStarted():
                if event.sequence_id not in self.sequences:
                    self.sequences[event.sequence_id] = SequenceFigures(event)
                if self._first_start_ns is None:
                    self._first_start_ns = event.t_ns
            case SequenceFinished():
                self.sequences[event.sequence_id].finished = event
                self._last_ns = event.t_ns
            case CalibrationMeasured():
                self.calibration = event

    @property
    def decode_s(self) -> float:
        """Time in steps, seconds."""
        return sum(self._step_ns.values()) / 1e9

    @property
    def elapsed_s(self) -> float:
        """From the first sequence's start to the last commit, seconds, all included."""
        start_ns = self._first_start_ns
        return 0.0 if start_ns is None else (self._last_ns - start_ns) / 1e9

    @property
    def tokens_per_second(self) -> float | None:
        return _ratio(self.total.n_committed, self.decode_s)

    @property
    def overhead_share(self) -> float | None:
        share = _ratio(self._forward_ns / 1e9, self.decode_s)
        return None if share is None else max(0.0, 1.0 - share)

    @property
    def mean_gamma(self) -> float | None:
        """Tokens drafted per step that drafted."""
        return _ratio(self.total.n_drafted, self.total.n_steps_drafted)

    @property
    def c(self) -> float | None:
        """0 where proposals cost no forward; None without a calibration."""
        if self.calibration is None:
            return None
        return (self.calibration.draft_forward_ns or 0) / self.calibration.target_forward_ns[0]

    @property
    def verify_width_cost(self) -> float | None:
        """At the mean draft length plus one, between the two nearest widths measured."""
        if self.calibration is None or self.mean_gamma is None:
            return None
        times = self.calibration.target_forward_ns
        width = min(self.mean_gamma + 1.0, float(len(times)))
        below = int(width)
        cost = times[below - 1] / times[0]
        if below < len(times):
            cost += (width - below) * (times[below] - times[below - 1]) / times[0]
        return cost

    @property
    def predicted_speedup(self) -> float | None:
        """E[N] / (gamma c + v) with the mean draft length, rounded, as gamma."""
        alpha, c, v = self.total.acceptance_rate, self.c, self.verify_width_cost
        if alpha is None or c is None or v is None or self.mean_gamma is None:
            return None
        return expected_speedup(alpha, round(self.mean_gamma), c=c, v=v)

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.total.as_dict(),
            "n_output_tokens": self.total.n_committed,
            "tokens_per_second": self.tokens_per_second,
            "elapsed_s": self.elapsed_s,
            "decode_s": self.decode_s,
            "c": self.c,
            "verify_width_cost": self.verify_width_cost,
            "predicted_speedup": self.predicted_speedup,
            "overhead_share": self.overhead_share,
        }


def _ratio(numerator: float, denominator: float) -> float | None:
    return numerator / denominator if denominator else None
