"""Sessions side by side: the baseline first, then by tokens per second.

Acceptance is shown and never ranked by: it falls with gamma though the draft is the same. What
ranks is how fast tokens came.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sessions.comparability import is_sampled
from sessions.findings import Finding, find
from sessions.metrics.speedup import MeasuredSpeedup, measured_speedup
from sessions.metrics.summary import Value, summarise
from sessions.outputs import SequenceOutput, sequence_outputs
from sessions.run_facts import RunFacts, peak_kv_bytes, run_facts
from sessions.snapshot import Snapshot
from sessions.tables import DRAFT


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where the output of a prompt leaves the baseline's. ``position`` counts output tokens from 0;
    None where both are the same, as far as both have come."""

    prompt: str
    sequence_id: int
    baseline_id: int
    n_tokens: int
    n_baseline_tokens: int
    position: int | None
    before: str  # the text both share, its end
    text: str  # this session's token there, "" at its end
    baseline_text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One session of a comparison. ``rank`` 1 is the most tokens per second, None without any."""

    name: str
    facts: RunFacts
    is_baseline: bool
    is_sampled: bool  # at a temperature above 0
    rank: int | None
    metrics: Mapping[str, Value]
    draft_kv_bytes: int  # the most the draft's cache held at once, in whole blocks
    speedup: MeasuredSpeedup | None  # against the baseline; None for itself, or without one
    findings: tuple[Finding, ...]
    divergences: tuple[Divergence, ...]
    """One per prompt in common with the baseline; none where this or the baseline was sampled, for
    sampled texts differ by chance."""

    @property
    def draft_weight_bytes(self) -> int:
        return self.facts.draft.weight_bytes if self.facts.draft is not None else 0

    @property
    def draft_bytes(self) -> int:
        """What the draft cost in memory: its weights and its cache."""
        return self.draft_weight_bytes + self.draft_kv_bytes

    @property
    def n_diverging(self) -> int:
        return sum(each.position is not None for each in self.divergences)


def compare(sessions: Sequence[tuple[str, Snapshot]]) -> tuple[Column, ...]:
    """Compare at least one session, given with names. The baseline is the first that drafted
    nothing; it comes first. Without one, nothing is measured against anything."""
    facts = [run_facts(snapshot) for _, snapshot in sessions]
    baseline_index = next((i for i, each in enumerate(facts) if each.is_baseline), None)
    baseline = None if baseline_index is None else sessions[baseline_index][1]
    speeds = [summarise(snapshot)["tokens_per_second"] for _, snapshot in sessions]
    ranked = sorted(
        (i for i, speed in enumerate(speeds) if speed is not None),
        key=lambda i: -(speeds[i] or 0.0),
    )
    columns = []
    for index, (name, snapshot) in enumerate(sessions):
        against = None if index == baseline_index else baseline
        is_warm = is_sampled(snapshot)
        has_texts = against is not None and not is_warm and not is_sampled(against)
        columns.append(
            Column(
                name=name,
                facts=facts[index],
                is_baseline=index == baseline_index,
                is_sampled=is_warm,
                rank=ranked.index(index) + 1 if index in ranked else None,
                metrics=summarise(snapshot, baseline=against),
                draft_kv_bytes=peak_kv_bytes(snapshot, DRAFT),
                speedup=measured_speedup(snapshot, against) if against else None,
                findings=find(snapshot, baseline=against),
                divergences=divergences(snapshot, against) if against and has_texts else (),
            )
        )
    return tuple(sorted(columns, key=lambda column: (not column.is_baseline, column.rank or 99)))


def divergences(snapshot: Snapshot, baseline: Snapshot) -> tuple[Divergence, ...]:
    """Prompts are paired by text, the first with the first."""
    waiting: dict[str, list[SequenceOutput]] = {}
    for output in sequence_outputs(baseline):
        waiting.setdefault(output.prompt, []).append(output)
    found = []
    for output in sequence_outputs(snapshot):
        others = waiting.get(output.prompt)
        if others:
            found.append(_divergence(output, others.pop(0)))
    return tuple(found)


_SHARED_CHARACTERS = 40


def _divergence(one: SequenceOutput, other: SequenceOutput) -> Divergence:
    place = next(
        (i for i, (a, b) in enumerate(zip(one.token_ids, other.token_ids, strict=False)) if a != b),
        min(len(one.token_ids), len(other.token_ids)),
    )
    is_same = place == len(one.token_ids) == len(other.token_ids)
    if None in (one.finish_reason, other.finish_reason):  # one is not as far yet
        is_same = place == min(len(one.token_ids), len(other.token_ids))
    return Divergence(
        prompt=one.prompt,
        sequence_id=one.sequence_id,
        baseline_id=other.sequence_id,
        n_tokens=len(one.token_ids),
        n_baseline_tokens=len(other.token_ids),
        position=None if is_same else place,
        before="".join(one.token_texts[:place])[-_SHARED_CHARACTERS:],
        text=one.token_texts[place] if place < len(one.token_texts) else "",
        baseline_text=other.token_texts[place] if place < len(other.token_texts) else "",
    )
