"""All that is to be shown of one pair, in one process with its models loaded once: decoding in all
ways, what an engine's account of itself costs, published claims, and what comes of them."""

import traceback
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from msgspec.structs import replace

from engine.assembly import let_go
from engine.benchmark import claims, decoding, device_figures, events
from engine.benchmark.verdicts import check_goals
from engine.models.loading import Shelf
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.config import ConfigError

N_EVENT_ROUNDS = 3
"""At least so many: a cost of two per cent is told by the median of some pairs only."""


def run(settings: BenchmarkSettings, *, progress: Callable[[str], None]) -> dict[str, Any]:
    """The results of the suites by name, and a verdict for each goal of
    ``engine.benchmark.verdicts``. A part that breaks takes no other with it: its result is None,
    and ``failed`` has its traceback.

    Raises: as ``engine.benchmark.decoding.run``.
    """
    shelf: Shelf = {}
    failed: dict[str, str] = {}
    more_rounds = replace(settings, n_rounds=max(N_EVENT_ROUNDS, settings.n_rounds))

    def part(name: str, measure: Callable[[], Any]) -> Any:
        try:
            return measure()
        except ConfigError:
            raise
        except Exception:
            failed[name] = traceback.format_exc()
            return None
        finally:
            let_go()

    decoded = part("decoding", lambda: decoding.decode(settings, progress=progress, shelf=shelf))
    figures = part(
        "device_figures",
        lambda: device_figures.run(settings.config, progress=progress, shelf=shelf),
    )
    if "device_figures" in failed:
        figures = device_figures.none_because(failed["device_figures"])
    observed = part(
        "events",
        lambda: events.run(more_rounds, progress=progress, shelf=shelf, pairs=("everything",)),
    )
    claimed = part("claims", lambda: claims.run(settings, progress=progress, shelf=shelf))
    if decoded is not None:
        decoded["device_figures"] = figures
    verdicts = check_goals(decoded or {}, observed or {})
    return {
        "decoding": decoded,
        "events": observed,
        "claims": claimed,
        "verdicts": [asdict(verdict) for verdict in verdicts],
        "failed": failed,
    }
