"""Whether sessions may be compared at all: what they did not have in common, as sentences."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sessions.missing_events import missing_events_note
from sessions.run_facts import RunFacts, run_facts
from sessions.snapshot import Snapshot

_SETTINGS = {
    "seed": "seed",
    "temperature": "temperature",
    "top_k": "top-k",
    "top_p": "top-p",
    "max_new_tokens": "max new tokens",
    "stop_strings": "stop strings",
    "ignore_eos": "ignore end of text",
    "batch": "batch",
    "chat": "chat template",
    "weights": "weights",
    "packed": "packed layers",
    "graphs": "CUDA graphs",
    "n_threads": "threads",
    "allocation": "cache allocation",
    "kernels_every": "kernels recorded every",
}
"""Settings that change the text or the speed of any session, whatever it drafts with."""


@dataclass(frozen=True, slots=True)
class Difference:
    """``what`` sessions differ in, in a word or two, and the sentence with each one's own."""

    what: str
    sentence: str


def is_sampled(snapshot: Snapshot) -> bool:
    """Whether any of the text may have been drawn at a temperature above 0."""
    temperature = run_facts(snapshot).settings.get("temperature", 0)
    is_warm = isinstance(temperature, int | float) and temperature > 0
    return is_warm or bool((snapshot.settings["temperature"] > 0).any())


def comparison_notes(sessions: Sequence[tuple[str, Snapshot]]) -> tuple[str, ...]:
    """What to bear in mind about sessions, given with their names; empty when they are whole and
    only what they draft with sets them apart."""
    notes = []
    sampled = [name for name, snapshot in sessions if is_sampled(snapshot)]
    if sampled:
        notes.append(
            f"Sampled at a temperature above 0: {', '.join(sampled)}. Two sampled texts differ by "
            "chance, which is no loss, so outputs are not held against each other there."
        )
    told = (missing_events_note(snapshot, of=name) for name, snapshot in sessions)
    notes += filter(None, told)
    return (*notes, *(each.sentence for each in differences(sessions)))


def differences(sessions: Sequence[tuple[str, Snapshot]]) -> tuple[Difference, ...]:
    """What sessions, given with their names, did not have in common besides what they draft
    with."""
    facts = {name: run_facts(snapshot) for name, snapshot in sessions}
    found = []
    prompts = {name: sorted(prompts_begun(snapshot)) for name, snapshot in sessions}
    if len(set(map(tuple, prompts.values()))) > 1:
        shared = set.intersection(*map(set, prompts.values()))
        most = max(len(set(each)) for each in prompts.values())
        found.append(
            Difference(
                "prompts",
                f"The prompts differ: {len(shared)} of up to {most} are in all sessions. Only "
                "speed-ups against the baseline are of the same prompts.",
            )
        )
    rows = [("target", {name: each.target and each.target.name for name, each in facts.items()})]
    for part in ("dtype", "device"):
        rows += [
            (
                f"{role}'s {part}",
                {name: _of_model(each, role, part) for name, each in facts.items()},
            )
            for role in ("target", "draft")
        ]
    rows.append(("machine", {name: each.device_name for name, each in facts.items()}))
    rows.append(("torch", {name: each.torch_version for name, each in facts.items()}))
    rows += [
        (said, {name: each.settings.get(key) for name, each in facts.items()})
        for key, said in _SETTINGS.items()
    ]
    found += [
        Difference(what, _difference(what, values))
        for what, values in rows
        if _differ(values.values())
    ]
    return tuple(found)


def _of_model(facts: RunFacts, role: str, part: str) -> str | None:
    model = facts.target if role == "target" else facts.draft
    return None if model is None else str(getattr(model, part))


def prompts_begun(snapshot: Snapshot) -> list[str]:
    """The texts of the sequences, each sequence's once, in the order they began."""
    sequences = snapshot.sequences
    texts = {
        int(sequence_id): text
        for sequence_id, text, n in zip(
            sequences["sequence_id"],
            sequences.texts("text"),
            sequences["n_prompt_tokens"],
            strict=True,
        )
        if n >= 0  # of a start
    }
    return list(texts.values())


def _differ(values: Iterable[Any]) -> bool:
    """Whether the values that are known are not all the same."""
    return len({json.dumps(value) for value in values if value is not None}) > 1


def _difference(what: str, values: Mapping[str, Any]) -> str:
    told = ", ".join(f"{name} {_word(value)}" for name, value in values.items())
    return f"The sessions differ in {what}: {told}."


def _word(value: Any) -> str:
    if value is None:
        return "unknown"
    return str(value) if isinstance(value, str) else json.dumps(value)
