"""What a person orders: prompts under one or more configurations."""

from dataclasses import dataclass
from pathlib import Path

from engine.wire.config import RunConfig


@dataclass(frozen=True, slots=True)
class OrderedPrompt:
    """``label`` groups prompts of a kind (json, code, prose) in the panels that compare kinds."""

    text: str
    label: str = ""
    max_new_tokens: int | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """The same prompts under each of ``configs``, one after the other in one engine."""

    configs: tuple[RunConfig, ...]
    prompts: tuple[OrderedPrompt, ...]
    is_recorded: bool = True
    name: str = ""
    nsys_report: Path | None = None
    """Where Nsight Systems is to write its report of the only session; None: it is not there."""
