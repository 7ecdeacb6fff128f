"""What a session ran with: its settings, models and caches."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sessions.columns import TablePrefix
from sessions.snapshot import Snapshot
from sessions.tables import DRAFT, TARGET, KvChange


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """One loaded model."""

    name: str
    n_parameters: int
    vocab_size: int
    context_length: int
    dtype: str
    device: str
    weight_bytes: int
    load_ns: int
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """``settings`` is the RunConfig in force when the session began, {} when it is not readable."""

    settings: Mapping[str, Any]
    device_name: str
    torch_version: str
    target: ModelFacts | None
    draft: ModelFacts | None

    @property
    def drafter(self) -> str:
        """What proposed, in a word or a name."""
        return str(self.settings.get("draft", "")) or "unknown"

    @property
    def gamma(self) -> str:
        return "0" if self.drafter == "none" else str(self.settings.get("gamma", ""))

    @property
    def is_baseline(self) -> bool:
        """Whether nothing was drafted."""
        return self.drafter == "none" or self.gamma == "0"


def run_facts(snapshot: Snapshot) -> RunFacts:
    starts = snapshot.starts
    has_start = len(starts) > 0
    return RunFacts(
        settings=told_settings(starts.text("config_json", 0)) if has_start else {},
        device_name=starts.text("device_name", 0) if has_start else "",
        torch_version=starts.text("torch_version", 0) if has_start else "",
        target=_model(snapshot.models, TARGET),
        draft=_model(snapshot.models, DRAFT),
    )


def peak_kv_bytes(snapshot: Snapshot, role: int) -> int:
    """The most that the cache of ``role`` held at once, in whole blocks. Reads every change of the
    caches."""
    return _peak_blocks(snapshot, role) * _bytes_per_block(snapshot.caches, role)


def told_settings(config_json: str) -> dict[str, Any]:
    """The RunConfig that a session was begun with, as it was told; {} when it is not readable."""
    try:
        settings = json.loads(config_json)
    except (ValueError, RecursionError):
        return {}
    return settings if isinstance(settings, dict) else {}


def with_later(begun: object, later: Iterable[object]) -> str:
    """A setting that was changed by command while the run went on: "4, later 7"."""
    first = "" if begun is None else str(begun)
    changed = [word for word in map(str, later) if word != first]
    if not changed:
        return first
    return ", later ".join(filter(None, (first, ", ".join(changed))))


def _model(models: TablePrefix, role: int) -> ModelFacts | None:
    rows = np.flatnonzero(models["role"] == role)
    if not len(rows):
        return None
    row = int(rows[-1])
    return ModelFacts(
        name=models.text("name", row),
        n_parameters=int(models["n_parameters"][row]),
        vocab_size=int(models["vocab_size"][row]),
        context_length=int(models["context_length"][row]),
        dtype=models.text("dtype", row),
        device=models.text("device", row),
        weight_bytes=int(models["weight_bytes"][row]),
        load_ns=int(models["load_ns"][row]),
        notes=tuple(filter(None, models.text("notes", row).split("\n"))),
    )


def _bytes_per_block(caches: TablePrefix, role: int) -> int:
    rows = np.flatnonzero(caches["role"] == role)
    return int(caches["bytes_per_block"][rows[-1]]) if len(rows) else 0


def _peak_blocks(snapshot: Snapshot, role: int) -> int:
    changes = snapshot.kv_changes
    is_ours = changes["role"] == role
    taken = (changes["change"] == KvChange.ALLOCATED).astype(np.int64)
    given = (changes["change"] == KvChange.FREED).astype(np.int64)
    owned = np.cumsum((taken - given)[is_ours])
    return int(owned.max()) if len(owned) else 0
