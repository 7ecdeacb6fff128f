"""The six figures that answer what people come with, each with what it is to be compared with."""

from dataclasses import dataclass

import numpy as np

from sessions.kv_map import contiguous_reservation, kv_map
from sessions.metrics.costs import measured_costs
from sessions.metrics.counts import Counts, count
from sessions.metrics.decoding_costs import decoding_costs
from sessions.metrics.doubt import calibration_doubt
from sessions.metrics.interval import Rate, ratio
from sessions.metrics.over_time import tokens_per_second
from sessions.metrics.selection import EVERYTHING, Selection
from sessions.metrics.speedup import (
    draft_lengths,
    expected_tokens,
    mean_ratio,
    prompt_ratios,
)
from sessions.metrics.time_split import Clock, TimeSplit, time_split
from sessions.snapshot import Snapshot
from sessions.tables import TARGET


@dataclass(frozen=True, slots=True, kw_only=True)
class StepTile:
    """What one engine step takes on average, and the parts of it; the three shares make 1."""

    ns: float
    draft_share: float
    verify_share: float
    other_share: float
    clock: Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class KvTile:
    """The target's cache at the moment, in blocks."""

    n_owned: int
    n_blocks: int
    unfilled: float | None  # share of the owned slots; None where nothing is owned
    n_contiguous: int  # what reserving the worst case of the same sequences would hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Tiles:
    """None stands for what is not known yet, or was not measured."""

    tokens_per_second: float | None
    baseline_tokens_per_second: float | None
    measured_speedup: float | None  # only beside a baseline that decoded the same prompts
    mean_step_speedup: float | None  # an estimate: against a bare target forward
    predicted_speedup: float | None  # an estimate, of the formula
    is_doubtful: bool = False  # whether the timings behind the estimates contradict the decoding
    acceptance: Rate
    expected_acceptance: float | None
    tokens_per_step: float | None
    most_per_step: float | None  # gamma + 1, on average over the steps
    step: StepTile | None
    kv: KvTile | None

    @property
    def is_estimated(self) -> bool:
        """Whether no speed-up was measured against a baseline."""
        return self.measured_speedup is None


def tiles(
    snapshot: Snapshot, baseline: Snapshot | None = None, selection: Selection = EVERYTHING
) -> Tiles:
    """Of the selected part of a session, which may still be empty; the cache is the whole's.

    The speed-ups are those of ``measured_speedup``, of ``waterfall`` without a baseline and of
    ``predicted_speedup``, without intervals.
    """
    counts = count(snapshot, selection)
    gammas = snapshot.steps["gamma"][selection.rows(snapshot.steps)]
    measured = None if baseline is None else _measured(snapshot, baseline, selection)
    split = time_split(snapshot, selection)
    return Tiles(
        tokens_per_second=tokens_per_second(snapshot, selection),
        baseline_tokens_per_second=None if baseline is None else tokens_per_second(baseline),
        measured_speedup=measured,
        mean_step_speedup=_by_mean_steps(snapshot, selection, counts, split),
        predicted_speedup=_predicted(snapshot, selection, counts.acceptance_rate),
        is_doubtful=measured is None and calibration_doubt(snapshot, selection) is not None,
        acceptance=counts.acceptance,
        expected_acceptance=counts.expected_acceptance_rate,
        tokens_per_step=counts.tokens_per_step,
        most_per_step=float(np.mean(gammas)) + 1 if len(gammas) else None,
        step=_step(split),
        kv=_kv(snapshot),
    )


def _measured(snapshot: Snapshot, baseline: Snapshot, selection: Selection) -> float | None:
    prompts = prompt_ratios(snapshot, baseline)
    if not selection.is_everything:
        wanted = set(snapshot.steps["sequence_id"][selection.rows(snapshot.steps)].tolist())
        prompts = tuple(each for each in prompts if each.sequence_id in wanted)
    return mean_ratio(prompts) if prompts else None


def _by_mean_steps(
    snapshot: Snapshot, selection: Selection, counts: Counts, split: TimeSplit | None
) -> float | None:
    """None of sequences decoded together: a bare forward was timed for one alone."""
    tokens = counts.tokens_per_step
    if split is None or not split.whole_ns or tokens is None or not counts.n_drafted:
        return None
    costs = decoding_costs(snapshot, selection, split=split)
    if costs is None or counts.n_steps > counts.n_engine_steps:
        return None
    return tokens * costs.plain_ns * split.n_steps / split.whole_ns


def _predicted(snapshot: Snapshot, selection: Selection, alpha: float | None) -> float | None:
    """As ``predicted_speedup``, with the acceptance rate at hand."""
    costs, lengths = measured_costs(snapshot, selection), draft_lengths(snapshot, selection)
    if alpha is None or costs is None or not lengths:
        return None
    total = sum(n * (length * costs.c + costs.v(length + 1)) for length, n in lengths.items())
    return expected_tokens(alpha, lengths) / (total / sum(lengths.values()))


def _step(split: TimeSplit | None) -> StepTile | None:
    if split is None or not split.whole_ns:
        return None
    draft, verify = split.share(split.draft_ns), split.share(split.verify_ns)
    return StepTile(
        ns=split.whole_ns / split.n_steps,
        draft_share=draft or 0.0,
        verify_share=verify or 0.0,
        other_share=ratio(split.whole_ns - split.draft_ns - split.verify_ns, split.whole_ns) or 0.0,
        clock=split.clock,
    )


def _kv(snapshot: Snapshot) -> KvTile | None:
    kv = kv_map(snapshot, TARGET)
    if kv is None:
        return None
    return KvTile(
        n_owned=kv.n_owned,
        n_blocks=kv.n_blocks,
        unfilled=kv.fragmentation,
        n_contiguous=contiguous_reservation(snapshot, kv).n_blocks,
    )
