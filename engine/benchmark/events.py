"""What an engine's account of itself costs: the same prompts with and without it, in turn.

Two pairs are compared. ``events``: every event encoded and written, against every event dropped.
``everything``: events encoded and sent, spans with their ranges and times on the device's clock,
and samples, as the worker has them, against events made and dropped and none of the rest.

Making events is in both halves of both pairs. A run is timed to its last token: what the sending
thread still has to send then is not in it, as a worker that decodes on does not wait for it.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from engine.assembly import put_together
from engine.benchmark.loaded import load
from engine.benchmark.reporting import Reporting
from engine.benchmark.summary import paired_ratio
from engine.models.loading import Shelf
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.commands import SubmitPrompt

PAIRS = ("events", "everything")

SETTLE_S = 0.3
"""Before each run of the second pair, so that the samplers have begun; alike with and without."""

Way = Callable[[], AbstractContextManager[None]]


def run(
    settings: BenchmarkSettings,
    *,
    progress: Callable[[str], None],
    shelf: Shelf | None = None,
    pairs: Sequence[str] = PAIRS,
) -> dict[str, Any]:
    """Per prompt and round: on and off, the order alternating."""
    config = msgspec.structs.replace(settings.config, calibrate=False)
    _, parts = load(config, progress=progress, shelf=shelf)
    with tempfile.TemporaryFile() as file:
        reporting = Reporting(file)
        engine = put_together(
            config, parts, emitter=reporting.emitter, spans=reporting.spans, rest=lambda _: None
        )

        def everything() -> AbstractContextManager[None]:
            return reporting.everything(gpu_uuid=engine.gpu_uuid, has_samplers=config.telemetry)

        ways: dict[str, tuple[Way, Way, float]] = {
            "events": (reporting.written, reporting.dropped, 0.0),
            "everything": (everything, reporting.silent, SETTLE_S),
        }

        def seconds(prompt: str, way: Way, settle_s: float) -> float:
            with way():
                time.sleep(settle_s)
                start = time.perf_counter()
                engine.submit(SubmitPrompt(text=prompt, seed=config.seed))
                while engine.has_work:
                    engine.step()
                return time.perf_counter() - start

        def n_tokens(prompt: str) -> int:
            return len(parts.tokenizer.encode(prompt, chat=config.chat))

        progress("warming up")
        # The shortest first: what a longer one needs besides is then captured with it.
        for prompt in sorted(settings.prompts, key=n_tokens):
            seconds(prompt, reporting.written, 0.0)
        reporting.events.n_events = reporting.events.n_bytes = 0
        times: dict[str, dict[bool, list[float]]] = {pair: {True: [], False: []} for pair in pairs}
        for round_index in range(settings.n_rounds):
            progress(f"round {round_index + 1} of {settings.n_rounds}")
            for index, prompt in enumerate(settings.prompts):
                first = (index + round_index) % 2 == 0
                for pair in pairs:
                    on, off, settle_s = ways[pair]
                    for is_on in (first, not first):
                        way = on if is_on else off
                        times[pair][is_on].append(seconds(prompt, way, settle_s))
        events = reporting.events
    result: dict[str, Any] = {
        "n_events": events.n_events,
        "bytes_per_event": events.n_bytes / max(1, events.n_events),
        "settings": msgspec.to_builtins(config),
        "device": str(parts.target.device),
    }
    for pair, measured in times.items():
        ratio = paired_ratio(measured[True], measured[False])
        result[f"{pair}_on_vs_off"] = ratio
        result["cost_share" if pair == "events" else f"{pair}_cost_share"] = ratio["median"] - 1.0
        if pair == "events":
            result["total_on_vs_off"] = sum(measured[True]) / sum(measured[False])
    return result
