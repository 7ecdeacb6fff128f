"""What encoding and writing every event costs: the same prompts with events written to a file and
with events dropped once said, in turn."""

import tempfile
import time
from collections.abc import Callable
from typing import Any

import msgspec

from engine.assembly import Parts, put_together
from engine.benchmark.summary import paired_ratio
from engine.models.loading import load_pair
from engine.telemetry.emitter import Emitter
from engine.telemetry.spans import SpanRecorder
from engine.wire.benchmark import BenchmarkSettings
from engine.wire.codec import encode
from engine.wire.commands import SubmitPrompt
from engine.wire.events import Event


class SwitchedSink:
    """Encodes and writes each event in the decoding thread itself, or drops it. The worker leaves
    both to another thread, so this is the most it can cost."""

    def __init__(self, file: Any) -> None:
        self.is_on = False
        self.n_bytes = 0
        self.n_events = 0
        self._file = file

    def __call__(self, event: Event) -> None:
        if self.is_on:
            line = encode(event) + b"\n"
            self._file.write(line)
            self.n_bytes += len(line)
            self.n_events += 1


def run(settings: BenchmarkSettings, *, progress: Callable[[str], None]) -> dict[str, Any]:
    """Per prompt and round: on and off, the order alternating."""
    config = msgspec.structs.replace(settings.config, calibrate=False)
    pair = load_pair(config, progress=progress)
    parts = Parts(pair.target, pair.draft, pair.tokenizer, pair.n_tokens)
    with tempfile.TemporaryFile() as file:
        sink = SwitchedSink(file)
        emitter = Emitter(sink)
        engine = put_together(
            config, parts, emitter=emitter, spans=SpanRecorder(emitter), rest=lambda _: None
        )

        def seconds(prompt: str, *, is_on: bool) -> float:
            sink.is_on = is_on
            start = time.perf_counter()
            engine.submit(SubmitPrompt(text=prompt, seed=config.seed))
            while engine.has_work:
                engine.step()
            return time.perf_counter() - start

        seconds(settings.prompts[0], is_on=True)
        times: dict[bool, list[float]] = {True: [], False: []}
        for round_index in range(settings.n_rounds):
            progress(f"round {round_index + 1} of {settings.n_rounds}")
            for index, prompt in enumerate(settings.prompts):
                first = (index + round_index) % 2 == 0
                for is_on in (first, not first):
                    times[is_on].append(seconds(prompt, is_on=is_on))
    ratio = paired_ratio(times[True], times[False])
    return {
        "events_on_vs_off": ratio,
        "total_on_vs_off": sum(times[True]) / sum(times[False]),
        "cost_share": ratio["median"] - 1.0,
        "n_events": sink.n_events,
        "bytes_per_event": sink.n_bytes / max(1, sink.n_events),
        "settings": msgspec.to_builtins(config),
    }
