"""How much faster than ordinary decoding: what the formula says, and what two sessions show."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.theory.speedup import expected_tokens_per_step
from sessions.metrics.costs import MeasuredCosts, measured_costs
from sessions.metrics.counts import count
from sessions.metrics.interval import bootstrap_of_mean
from sessions.metrics.selection import EVERYTHING, Selection, profiled_steps, without_steps
from sessions.snapshot import Snapshot
from sessions.tables import SequenceChange


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedSpeedup:
    """E[N] / (gamma c + v), averaged over the lengths that were drafted: mean tokens / mean
    cost. An estimate: acceptance is taken as the same everywhere, and all else as free."""

    value: float
    acceptance_rate: float
    tokens_per_step: float  # E[N]
    cost: float  # of a step, in plain target forwards
    costs: MeasuredCosts


def predicted_speedup(
    snapshot: Snapshot, selection: Selection = EVERYTHING
) -> PredictedSpeedup | None:
    """None where nothing was tested, or where no cost is known."""
    alpha = count(snapshot, selection).acceptance_rate
    costs = measured_costs(snapshot, selection)
    lengths = draft_lengths(snapshot, selection)
    if alpha is None or costs is None or not lengths:
        return None
    tokens = expected_tokens(alpha, lengths)
    n_drafts = sum(lengths.values())
    total = sum(n * (length * costs.c + costs.v(length + 1)) for length, n in lengths.items())
    cost = total / n_drafts
    return PredictedSpeedup(
        value=tokens / cost, acceptance_rate=alpha, tokens_per_step=tokens, cost=cost, costs=costs
    )


def draft_lengths(snapshot: Snapshot, selection: Selection = EVERYTHING) -> dict[int, int]:
    """How many proposals had how many tokens, those without any included."""
    drafts = snapshot.drafts
    lengths = np.bincount(drafts["n_drafted"][selection.rows(drafts)])
    return {length: n for length, n in enumerate(lengths.tolist()) if n}


def expected_tokens(alpha: float, lengths: dict[int, int]) -> float:
    """E[N] at one acceptance rate, averaged over drafts of several ``lengths`` (at least one)."""
    total = sum(n * expected_tokens_per_step(alpha, length) for length, n in lengths.items())
    return total / sum(lengths.values())


@dataclass(frozen=True, slots=True)
class PromptRatio:
    """One prompt that both sessions decoded."""

    prompt: str
    sequence_id: int
    baseline_id: int
    ratio: float  # baseline ns per token / ns per token


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSpeedup:
    """``value`` is the geometric mean of the prompts' ratios, ``low`` .. ``high`` its 95 %
    bootstrap interval over prompts (None for one prompt); ``total`` compares all their tokens
    and all their time at once. Time in steps alone: prefill is apart."""

    value: float
    low: float | None
    high: float | None
    total: float
    prompts: tuple[PromptRatio, ...]


def measured_speedup(snapshot: Snapshot, baseline: Snapshot) -> MeasuredSpeedup | None:
    """Of all prompts that both decoded; None where none is in both."""
    prompts, total = _compared(snapshot, baseline)
    if not prompts:
        return None
    interval = bootstrap_of_mean([math.log(each.ratio) for each in prompts])
    return MeasuredSpeedup(
        value=mean_ratio(prompts),
        low=math.exp(interval.low) if interval else None,
        high=math.exp(interval.high) if interval else None,
        total=total,
        prompts=prompts,
    )


def prompt_ratios(snapshot: Snapshot, baseline: Snapshot) -> tuple[PromptRatio, ...]:
    """Prompts are paired by their text, the first with the first."""
    return _compared(snapshot, baseline)[0]


def mean_ratio(prompts: Sequence[PromptRatio]) -> float:
    """The geometric mean of at least one."""
    return math.exp(math.fsum(math.log(each.ratio) for each in prompts) / len(prompts))


def _compared(snapshot: Snapshot, baseline: Snapshot) -> tuple[tuple[PromptRatio, ...], float]:
    """Each prompt's ratio, and that of all their time and tokens at once."""
    ours, theirs = _by_prompt(snapshot), _by_prompt(baseline)
    ns, n = _times_and_tokens(snapshot)
    baseline_ns, baseline_n = _times_and_tokens(baseline)
    prompts: list[PromptRatio] = []
    sums = np.zeros(4)
    for prompt, sequence_ids in ours.items():
        for one, other in zip(sequence_ids, theirs.get(prompt, []), strict=False):
            parts = (
                ns.get(one, 0), n.get(one, 0), baseline_ns.get(other, 0), baseline_n.get(other, 0)
            )  # fmt: skip
            if all(parts):
                ratio = (parts[2] / parts[3]) / (parts[0] / parts[1])
                prompts.append(PromptRatio(prompt, one, other, ratio))
                sums += parts
    if not prompts:
        return (), math.nan
    return tuple(prompts), float((sums[2] / sums[3]) / (sums[0] / sums[1]))


def _by_prompt(snapshot: Snapshot) -> dict[str, list[int]]:
    """The sequences of each prompt, in the order started."""
    sequences = snapshot.sequences
    rows = np.flatnonzero(sequences["change"] == SequenceChange.STARTED)
    found: dict[str, list[int]] = defaultdict(list)
    ids = sequences["sequence_id"][rows].tolist()
    for prompt, sequence_id in zip(sequences.texts("text", rows), ids, strict=True):
        if sequence_id not in found[prompt]:  # started again after a set-back
            found[prompt].append(sequence_id)
    return found


def _times_and_tokens(snapshot: Snapshot) -> tuple[dict[int, int], dict[int, int]]:
    """Time in steps, ns, and tokens committed of each sequence by its id; steps whose kernels were
    recorded are left out."""
    steps = snapshot.steps
    rows = without_steps(slice(None), steps["step"], profiled_steps(snapshot))
    ids = steps["sequence_id"][rows]
    # Sums are floats: whole numbers of ns are exact for a hundred days.
    ns = np.bincount(ids, weights=steps["step_ns"][rows])
    n = np.bincount(ids, weights=steps["n_committed"][rows])
    return dict(enumerate(ns.astype(np.int64).tolist())), dict(enumerate(n.astype(int).tolist()))
