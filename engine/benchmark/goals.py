"""All that is to be shown of one pair, in one process with its models loaded once: decoding in all
ways, what an engine's account of itself costs, published claims, and what comes of them."""

import gc
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch
from msgspec.structs import replace

from engine.benchmark import claims, decoding, events
from engine.benchmark.verdicts import check_goals
from engine.models.loading import Shelf
from engine.wire.benchmark import BenchmarkSettings

N_EVENT_ROUNDS = 3
"""At least so many: a cost of two per cent is told by the median of some pairs only."""


def run(settings: BenchmarkSettings, *, progress: Callable[[str], None]) -> dict[str, Any]:
    """The results of the suites by name, and a verdict for each goal of
    ``engine.benchmark.verdicts``.

    Raises: as ``engine.benchmark.decoding.run``.
    """
    shelf: Shelf = {}
    decoded = decoding.run(settings, progress=progress, shelf=shelf)
    _let_go()
    again = replace(settings, n_rounds=max(N_EVENT_ROUNDS, settings.n_rounds))
    observed = events.run(again, progress=progress, shelf=shelf, pairs=("everything",))
    _let_go()
    claimed = claims.run(settings, progress=progress, shelf=shelf)
    return {
        "decoding": decoded,
        "events": observed,
        "claims": claimed,
        "verdicts": [asdict(verdict) for verdict in check_goals(decoded, observed)],
    }


def _let_go() -> None:
    """Of engines that are done with, their graphs and caches: all of them at once, before others
    capture."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
